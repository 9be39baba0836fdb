"""The evidence of write modes, from the events of producers as they were recorded."""

from __future__ import annotations

import json

import pytest

from headwater.ingest.fold import fold
from headwater.ingest.fold.write_evidence import PARTIAL, evidence_for, sql_evidence
from headwater.schema.events import parse
from headwater.schema.write_modes import APPEND, KEEPS, OVERWRITE, REPLACES, write_mode
from tests.event_builders import dataset, run_event
from tests.run_builders import Event

SPARK = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
DBT = "https://github.com/OpenLineage/OpenLineage/tree/1.54.0/integration/dbt"


def mode(
    *outputs: Event, producer: str = "https://example.com/p", sql: str = "", job: str = "j"
) -> str | None:
    """Return the write mode of an output that several events of one run name."""
    events = []
    for minute, output in enumerate(outputs):
        event = run_event(
            "r",
            "COMPLETE" if minute else "START",
            minute,
            job=job,
            outputs=[output],
            job_facets={"sql": {"query": sql}} if sql else None,
        )
        events.append(parse(json.dumps({**event, "producer": producer}).encode(), received=0))
    (run,) = fold(events).runs.values()
    (usage,) = run.outputs.values()
    return write_mode(usage.write_evidence)


def lifecycle(kind: str) -> Event:
    return {"lifecycleStateChange": {"lifecycleStateChange": kind}}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("OVERWRITE", OVERWRITE),
        ("TRUNCATE", OVERWRITE),
        ("RENAME", OVERWRITE),
        ("ALTER", APPEND),
        ("CREATE", None),
    ],
)
def test_the_lifecycle_decides_for_every_producer(kind: str, expected: str | None) -> None:
    assert mode(dataset("t", lifecycle(kind))) == expected


def test_the_silence_of_spark_is_an_append_and_that_of_others_is_unknown() -> None:
    assert mode(dataset("t"), producer=SPARK) == APPEND
    assert mode(dataset("t")) is None
    # A report of any event of the run is stronger than the silence of another.
    assert mode(dataset("t"), dataset("t", lifecycle("OVERWRITE")), producer=SPARK) == OVERWRITE


def test_an_overwritten_part_keeps_the_rest() -> None:
    part = {**dataset("/lake/t/day=2026-01-01", lifecycle("OVERWRITE")), "namespace": "file"}
    assert mode(part, producer=SPARK) == APPEND
    dynamic = "etl.overwrite_partitions_dynamic.t"
    assert mode(dataset("t", lifecycle("OVERWRITE")), producer=SPARK, job=dynamic) == APPEND
    sql = "INSERT OVERWRITE lake.t PARTITION (day) SELECT * FROM s"
    assert mode(dataset("lake.t", lifecycle("OVERWRITE")), producer=SPARK, sql=sql) == APPEND
    metrics = {"addedRecords": 2.0, "totalRecords": 5.0}
    report = {"icebergCommitReport": {"commitMetrics": metrics}}
    assert mode(dataset("t", lifecycle("OVERWRITE"), usage=report), producer=SPARK) == APPEND
    whole = {"icebergCommitReport": {"commitMetrics": {**metrics, "totalRecords": 2.0}}}
    assert mode(dataset("t", lifecycle("OVERWRITE"), usage=whole), producer=SPARK) == OVERWRITE


def test_the_sql_facet_of_spark_replaces_nothing() -> None:
    # It may be an older statement of the session.
    assert mode(dataset("t"), producer=SPARK, sql="TRUNCATE TABLE t") == APPEND


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"materialized": "incremental"}, APPEND),
        ({"materialized": "incremental", "full_refresh": True}, OVERWRITE),
        ({"materialized": "snapshot"}, APPEND),
        ({"materialized": "table"}, OVERWRITE),
        ({"materialized": "view"}, OVERWRITE),
        ({"materialized": "my_own"}, None),
        ({}, None),
    ],
)
def test_the_materialisation_of_a_dbt_model_decides(config: Event, expected: str | None) -> None:
    assert mode(dataset("t", {"dbt_model": {"config": config}}), producer=DBT) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("INSERT INTO sales.t SELECT 1", KEEPS),
        ("with x as (select 1) insert into t select * from x", KEEPS),
        ("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = 1", KEEPS),
        ("UPDATE t SET a = 1", KEEPS),
        ("DELETE FROM t WHERE day = '2026-01-01'; INSERT INTO t SELECT 1", KEEPS),
        ("DELETE FROM t; INSERT INTO t SELECT 1", REPLACES),
        ("TRUNCATE TABLE t;\nINSERT INTO t SELECT 1", REPLACES),
        ("INSERT OVERWRITE TABLE t SELECT 1", REPLACES),
        ("INSERT OVERWRITE t PARTITION (day = 1) SELECT 1", PARTIAL),
        ("CREATE OR REPLACE TABLE `sales`.`t` AS SELECT 1", REPLACES),
        ("CREATE TABLE t AS SELECT 1", REPLACES),
        ("CREATE TABLE IF NOT EXISTS t AS SELECT 1", ""),
        ("DROP TABLE IF EXISTS t; CREATE TABLE t AS SELECT 1", REPLACES),
        ("-- TRUNCATE TABLE t\nINSERT INTO t SELECT 'DROP TABLE t;' /* DROP TABLE t */", KEEPS),
        ("TRUNCATE TABLE stage.t; INSERT INTO sales.t SELECT 1", KEEPS),
        ("TRUNCATE TABLE other; INSERT INTO s SELECT 1", ""),
        ("SELECT update_time FROM t", ""),
        ("INSERT INTO t SELECT 'open", KEEPS),
        ("", ""),
    ],
)
def test_sql_is_read_for_the_table_that_is_written(query: str, expected: str) -> None:
    assert evidence_for(sql_evidence(query), "shop.sales.t") == expected


def test_hostile_sql_is_read_in_linear_time() -> None:
    for text in ("/*" * 40_000, "'" * 65_535, "create " * 9_000, "insert" + " " * 60_000):
        assert sql_evidence(text) == {}
