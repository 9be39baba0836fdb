"""Entities of Atlas as events, worked out by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from headwater.importers.atlas import AtlasEntityError, Entity, entity_urn, map_entities
from headwater.schema.events import parse
from headwater.schema.urns import dataset_urn, job_urn

NOON = "2026-01-01T12:00:00Z"
HIVE = "hive://primary:10000"


def entity(type: str, name: Any, **more: Any) -> Entity:
    attributes = {"qualifiedName": name, **more.pop("attributes", {})}
    return msgspec.convert({"typeName": type, "attributes": attributes, **more}, type=Entity)


def events(*entities: Entity, **referred: Entity) -> list[dict[str, Any]]:
    return map_entities(entities, referred, lambda _: None, NOON).events


@pytest.mark.parametrize(
    ("type", "name", "urn"),
    [
        ("hive_table", "shop.orders@primary", dataset_urn(HIVE, "shop.orders")),
        ("kafka_topic", "clicks@broker:9093", dataset_urn("kafka://broker:9093", "clicks")),
        ("aws_s3_object", "s3a://lake/raw/orders@cm", dataset_urn("s3://lake", "raw/orders")),
        ("fs_path", "file:///lake/orders", dataset_urn("file", "/lake/orders")),
        ("DataSet", "orders", dataset_urn("atlas", "orders")),
        ("DataSet", "orders@blue", dataset_urn("atlas://blue", "orders")),
        ("DataSet", "me@work@blue", dataset_urn("atlas://blue", "me@work")),
        ("DataSet", dataset_urn("db", "t"), dataset_urn("db", "t")),
        ("DataSet", "dataset:", dataset_urn("atlas", "dataset:")),
    ],
)
def test_a_qualified_name_is_a_dataset(type: str, name: str, urn: str) -> None:
    assert entity_urn(type, name, is_process=False) == urn


def test_a_process_is_a_job() -> None:
    assert entity_urn("Process", "load@blue", is_process=True) == job_urn("atlas://blue", "load")
    assert entity_urn("Process", job_urn("etl", "j"), is_process=True) == job_urn("etl", "j")


def test_a_table_has_its_columns_owner_description_and_classifications() -> None:
    id = {"name": "id", "type": "bigint", "position": 1}
    mail = {"name": "mail", "data_type": "string", "position": 0}
    [event] = events(
        entity(
            "hive_table",
            "shop.orders@primary",
            attributes={
                "name": "orders",
                "owner": "ana",
                "description": "Orders.",
                "columns": [{"guid": "-2"}, {"guid": "-3"}],
                "retention": 7,
            },
            classifications=[{"typeName": "GDPR"}],
        ),
        **{
            "-2": entity("hive_column", "shop.orders.id@primary", attributes=id),
            "-3": entity(
                "hive_column",
                "shop.orders.mail@primary",
                attributes=mail,
                classifications=[{"typeName": "PII"}],
            ),
        },
    )
    described = event["dataset"]
    assert (described["namespace"], described["name"]) == (HIVE, "shop.orders")
    facets = described["facets"]
    assert facets["datasetType"]["datasetType"] == "TABLE"
    assert facets["datasetType"]["subType"] == "hive_table"
    assert facets["schema"]["fields"] == [
        {"name": "mail", "type": "string"},
        {"name": "id", "type": "bigint"},
    ]
    assert facets["ownership"]["owners"] == [{"name": "ana", "type": "OWNER"}]
    assert facets["documentation"]["description"] == "Orders."
    assert facets["tags"]["tags"] == [
        {"key": "GDPR", "value": "true", "source": "ATLAS"},
        {"key": "PII", "value": "true", "source": "ATLAS", "field": "mail"},
    ]
    sent = facets["headwater_atlas"]
    assert sent["typeName"] == "hive_table"
    assert sent["attributes"] == {
        "qualifiedName": "shop.orders@primary",
        "name": "orders",
        "owner": "ana",
        "description": "Orders.",
        "retention": 7,
    }
    parse(msgspec.json.encode(event), received=0)


def test_a_column_may_name_its_table() -> None:
    [event] = events(
        entity("rdbms_table", "t@db", guid="-1"),
        entity("rdbms_column", "t.a@db", attributes={"name": "a", "table": {"guid": "-1"}}),
    )
    assert event["dataset"]["facets"]["schema"]["fields"] == [{"name": "a"}]
    with pytest.raises(AtlasEntityError, match="no column of a table"):
        events(entity("rdbms_column", "t.a@db", attributes={"name": "a"}))
    with pytest.raises(AtlasEntityError, match="hive_db"):
        events(entity("hive_db", "shop@primary"))


def test_a_process_declares_what_it_reads_and_writes() -> None:
    table = entity("hive_table", "shop.orders@primary", guid="-1")
    process = entity(
        "SparkProcess",
        "clean@blue",
        attributes={
            "inputs": [{"guid": "-1"}, {"guid": "known"}],
            "outputs": [
                {"typeName": "hive_table", "uniqueAttributes": {"qualifiedName": "shop.c@primary"}}
            ],
        },
    )
    urns = {"known": dataset_urn("file", "/raw")}
    mapped = map_entities([process, table], {}, urns.get, NOON)
    job, described = mapped.events
    assert (job["job"]["namespace"], job["job"]["name"]) == ("atlas://blue", "clean")
    assert job["inputs"] == [
        {"namespace": HIVE, "name": "shop.orders"},
        {"namespace": "file", "name": "/raw"},
    ]
    assert job["outputs"] == [{"namespace": HIVE, "name": "shop.c"}]
    assert described["dataset"]["name"] == "shop.orders"
    assert [urn for _, urn in mapped.entities] == [
        job_urn("atlas://blue", "clean"),
        dataset_urn(HIVE, "shop.orders"),
    ]


def test_inputs_may_be_relationships() -> None:
    process = entity(
        "Process",
        "p@c",
        relationshipAttributes={
            "inputs": [{"uniqueAttributes": {"qualifiedName": "a@c"}}],
            "outputs": [],
        },
    )
    [event] = events(process)
    assert event["inputs"] == [{"namespace": "atlas://c", "name": "a"}]


@pytest.mark.parametrize("name", [None, "", " ", 5, ["a"], "x" * 5_000, "x" * 3_999, "@"])
def test_a_name_that_is_none_is_refused_with_its_field(name: Any) -> None:
    if name == "@":
        assert events(entity("DataSet", name))[0]["dataset"]["name"] == "@"
        return
    with pytest.raises(AtlasEntityError) as caught:
        events(entity("DataSet", name))
    assert caught.value.field == "entities[0].attributes.qualifiedName"


@pytest.mark.parametrize("inputs", [5, "x", {"guid": "-1"}, [5], [None], [{"guid": 5}], [{}]])
def test_malformed_inputs_are_refused(inputs: Any) -> None:
    with pytest.raises(AtlasEntityError, match=r"references|not found"):
        events(entity("Process", "p", attributes={"inputs": inputs}))


def test_hostile_values_are_left_out() -> None:
    [event] = events(
        entity(
            "DataSet",
            "t",
            attributes={
                "owner": {"x": 1},
                "description": 5,
                "nested": [[1]],
                "long": "x" * 5_000,
                "none": None,
                "columns": [{"guid": "gone"}],
            },
        )
    )
    facets = event["dataset"]["facets"]
    assert facets.keys() == {"datasetType", "headwater_atlas"}
    assert facets["headwater_atlas"]["attributes"] == {"qualifiedName": "t", "description": 5}
