"""Messages of Atlas in a stream: expanded, and on a real Kafka, Spark and Neo4j."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from confluent_kafka import Producer

from headwater.cypher.driver.database import Database
from headwater.local.jars import ensure_jars, read_lock
from headwater.local.kafka import LocalKafka
from headwater.pipelines.atlas_source import expand_messages
from headwater.pipelines.stream_chunks import COLUMNS
from headwater.schema.urns import dataset_urn, job_urn
from tests.canonical import edges, empty
from tests.conftest import Neo4jServer, jar_cache
from tests.pipelines.streams import SECONDS_MAX, StreamProcess, held
from tests.sparks import small

ORDERS, CLEAN = (
    dataset_urn("hive://primary:10000", f"shop.{name}") for name in ("orders", "clean")
)
LOAD = job_urn("atlas://primary", "load")


def entity(kind: str, name: str, **attributes: Any) -> dict[str, Any]:
    return {"typeName": kind, "attributes": {"qualifiedName": f"{name}@primary", **attributes}}


def notification(entity: dict[str, Any]) -> bytes:
    message = {
        "type": "ENTITY_NOTIFICATION_V2",
        "operationType": "ENTITY_CREATE",
        "eventTime": 1_767_268_800_000,
        "entity": entity,
    }
    return json.dumps({"msgSplitCount": 1, "message": message}).encode()


def hook(*entities: dict[str, Any]) -> bytes:
    message = {"type": "ENTITY_CREATE_V2", "entities": {"entities": entities}}
    return json.dumps({"msgCreationTime": 1_767_268_800_000, "message": message}).encode()


def table(name: str) -> dict[str, Any]:
    return {"typeName": "hive_table", "uniqueAttributes": {"qualifiedName": f"{name}@primary"}}


def test_a_message_becomes_a_row_for_each_event() -> None:
    bodies = [
        hook(entity("hive_table", "shop.orders"), entity("hive_table", "shop.clean")),
        notification(entity("hive_db", "shop")),
        b"not json",
        None,
    ]
    columns: dict[str, list[Any]] = {
        "topic": ["t"] * 4,
        "partition": [0] * 4,
        "start": [1, 2, 3, 4],
        "received": [5] * 4,
        "key": [b"k", None, None, None],
        "value": bodies,
    }
    [found] = expand_messages([pyarrow.RecordBatch.from_pydict(columns)])
    assert tuple(found.schema.names) == COLUMNS
    assert found.column("start").to_pylist() == [1, 1, 3, 4]
    values = found.column("value").to_pylist()
    assert [json.loads(value)["dataset"]["name"] for value in values[:2]] == [
        "shop.orders",
        "shop.clean",
    ]
    # What cannot be read stays, and becomes a dead letter.
    assert values[2:] == [b"not json", b""]


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[str]:
    ensure_jars(jar_cache(), lock=read_lock("spark-kafka"))
    with small(), LocalKafka(tmp_path / "kafka", cache=jar_cache()) as broker:
        yield broker.bootstrap


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.neo4j
def test_the_topic_atlas_entities(
    kafka: str, neo4j_server: Neo4jServer, database: Database, tmp_path: Path
) -> None:
    empty(database)
    producer = Producer({"bootstrap.servers": kafka, "log_level": "0"})
    for body in (
        notification(entity("hive_table", "shop.orders", owner="ana")),
        hook(
            entity("hive_table", "shop.clean"),
            entity(
                "p_process", "load", inputs=[table("shop.orders")], outputs=[table("shop.clean")]
            ),
        ),
        notification(entity("hive_process", "broken", inputs=[{"guid": "unknown"}])),
    ):
        producer.produce("ATLAS_ENTITIES", body)
    assert producer.flush(SECONDS_MAX) == 0
    stream = StreamProcess(
        tmp_path,
        neo4j_server,
        *("--kafka", kafka, "--topic", "ATLAS_ENTITIES", "--messages", "atlas", "--once"),
    )
    try:
        assert stream.process.wait(4 * SECONDS_MAX) == 0, stream.said()
    finally:
        stream.kill()
    assert edges(database, "FEEDS", "PRODUCED") == {
        (ORDERS, "FEEDS", LOAD),
        (LOAD, "PRODUCED", CLEAN),
    }
    [row] = database.ask("MATCH (d {urn: $urn}) RETURN d.owners AS owners", {"urn": ORDERS})
    assert row["owners"] == ["ana"]
    done = stream.position(database)
    assert (done.folded, done.dead) == (3, 1)
    [(body, headers)] = held(kafka, "ATLAS_ENTITIES-dead")
    assert b"broken" in body
    assert "the referenced DataSet unknown is not found" in headers["headwater.reason"]
