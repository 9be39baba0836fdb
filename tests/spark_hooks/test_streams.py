"""The offsets of a real Structured Streaming query on a real Kafka, up to the finding."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from headwater.cypher.driver.database import Database
from headwater.errors import SettingsError
from headwater.health.findings.jobs.reader import read_job_histories
from headwater.health.findings.jobs.stream_lag import detect_stream_lags
from headwater.lineage.view import GraphView
from headwater.local.jars import ensure_jars, read_lock
from headwater.local.kafka import LocalKafka
from headwater.schema.urns import dataset_urn, job_urn, run_urn
from headwater.spark_hooks.streams import StreamEvents, report_streams
from tests.canonical import empty
from tests.conftest import jar_cache
from tests.faults.processes import wait_for
from tests.run_builders import write_events
from tests.spark_hooks.servers import Recorder, recorder
from tests.sparks import small_spark

SECONDS_MAX = 120
RUN, QUERY = "0198c2f4-7b1c-7d3e-9f00-000000000001", "0198c2f4-7b1c-7d3e-9f00-000000000002"
PROGRESS: dict[str, Any] = {
    "runId": RUN,
    "id": QUERY,
    "name": "clean",
    "timestamp": "2026-01-01T00:00:00.000Z",
    "sources": [
        {
            "description": "KafkaV2[Subscribe[orders]]",
            "startOffset": {"orders": {"0": 0}},
            "endOffset": '{"orders": {"0": 4}}',
            "latestOffset": {"orders": {"0": 10}},
        },
        {"description": "RateStreamV2", "startOffset": 1, "endOffset": 2, "latestOffset": None},
        {"description": "FileStreamSource", "endOffset": {"logOffset": 3}},
    ],
    "sink": {"description": "FileSink[file:/lake/clean]"},
}


def test_a_batch_is_an_event_of_the_run_of_its_query() -> None:
    event = StreamEvents("shop", "etl", "broker:9092,other:9092").progress(PROGRESS)
    assert event is not None
    assert (event["eventType"], event["run"]["runId"]) == ("RUNNING", RUN)
    assert (event["job"]["namespace"], event["job"]["name"]) == ("etl", "shop.clean")
    [topic] = event["inputs"]
    assert (topic["namespace"], topic["name"]) == ("kafka://broker:9092", "orders")
    facet = topic["inputFacets"]["headwater_stream"]
    assert [facet[side]["orders"] for side in ("startOffset", "endOffset", "latestOffset")] == [
        {"0": 0},
        {"0": 4},
        {"0": 10},
    ]
    assert event["outputs"] == [{"namespace": "file", "name": "/lake/clean"}]


def test_a_query_without_kafka_has_no_batches() -> None:
    assert StreamEvents("shop", "etl", "b").progress({**PROGRESS, "sources": None}) is None


def test_an_address_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWATER_URL", raising=False)
    pytest.importorskip("pyspark")
    with pytest.raises(SettingsError, match="HEADWATER_URL is not set"):
        report_streams(None, brokers="b")  # type: ignore[arg-type]


@pytest.fixture
def headwater() -> Iterator[Recorder]:
    with recorder() as server:
        yield server


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.neo4j
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_a_query_that_catches_up_ends_its_finding(
    headwater: Recorder, database: Database, tmp_path: Path
) -> None:
    """Ten records wait, and a batch reads four: the lags are 6, 2 and 0."""
    lock = read_lock("spark-kafka")
    folder = ensure_jars(jar_cache(), lock=lock)
    jars = ",".join(str(folder / jar.file_name) for jar in lock.jars)
    with LocalKafka(tmp_path / "kafka", cache=jar_cache()) as kafka:
        brokers = kafka.bootstrap
        producer = Producer({"bootstrap.servers": brokers})
        for number in range(10):
            # The limit of a batch is shared by the partitions.
            producer.produce("orders", str(number).encode(), partition=0)
        assert producer.flush(SECONDS_MAX) == 0
        with small_spark({"spark.jars": jars}) as spark:
            listener = report_streams(spark, brokers=brokers, namespace="etl", url=headwater.url)
            query = (
                spark.readStream.format("kafka")
                .option("kafka.bootstrap.servers", brokers)
                .option("subscribe", "orders")
                .option("startingOffsets", "earliest")
                .option("maxOffsetsPerTrigger", 4)
                .load()
                .selectExpr("CAST(value AS STRING) AS value")
                .writeStream.queryName("clean")
                .format("parquet")
                .option("checkpointLocation", str(tmp_path / "checkpoint"))
                .trigger(availableNow=True)
                .start(str(tmp_path / "clean"))
            )
            assert query.awaitTermination(SECONDS_MAX)
            wait_for("the end", lambda: "COMPLETE" in types(headwater), SECONDS_MAX)
            spark.streams.removeListener(listener)
            application, run_id = spark.conf.get("spark.app.name"), str(query.runId)
    assert types(headwater) == ["START", "RUNNING", "RUNNING", "RUNNING", "COMPLETE"]
    empty(database)
    write_events(database, headwater.events)
    job, topic = job_urn("etl", f"{application}.clean"), dataset_urn(f"kafka://{brokers}", "orders")
    [history] = read_job_histories(GraphView(database), [job], lag_limit=5)
    assert [(one.dataset, one.lag) for one in history.runs[0].lags] == [
        (topic, 6),
        (topic, 2),
        (topic, 0),
    ]
    assert history.runs[0].writes == (dataset_urn("file", str(tmp_path / "clean")),)
    [episode] = detect_stream_lags(history)
    assert (episode.evidence["lag"], episode.resolved_by) == (6, run_urn(run_id))
    empty(database)


def types(headwater: Recorder) -> list[str]:
    return [event["eventType"] for event in headwater.events]
