"""The findings of real streams of Airflow, dbt, Spark, Delta, Iceberg and Kafka: each is explained.

Two hours after its last event a stream has only what went wrong in it. A hundred days later nobody
has used anything, so the datasets that jobs write and nobody reads are unused.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.derive import derive
from headwater.ingest.write.cache import WriteCache
from headwater.lineage.view import GraphView
from headwater.schema.events import parse_instant, to_datetime
from tests.canonical import empty
from tests.event_builders import write_batch

pytestmark = pytest.mark.neo4j

CAPTURES = sorted((Path(__file__).parents[2] / "captures").glob("*.jsonl"))
# What went wrong: two amounts of the refunds are null. The refresh of December fails on a delay
# that is not plausible, and the answer on the airports cites its output.
WRONG = {
    "dbt_shop": {("failed-check", "dataset:duckdb%3A//shop.duckdb:shop.main.refunds")},
    "dbt_shop_structured": {("failed-check", "dataset:duckdb%3A//shop.duckdb:shop.main.refunds")},
    "spark_flights_demo": {
        (
            "failed-run",
            "job:flights:december_refresh.adaptive_spark_plan.marts_airport_punctuality",
        ),
        ("stale-answer", "answer:least-punctual-airport-2013"),
    },
}
SILENT_JOB = "job:shop:shop_appends.execute_save_as_v1_table_command"
LINKS = """
MATCH (d:Dataset {urn: $urn})
RETURN EXISTS { (d)-[:FEEDS {current: true}]->(:Job) } AS read,
  EXISTS { (:Job)-[:PRODUCED {current: true}]->(d) } AS written
"""


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.stem)
def test_every_finding_of_a_capture_is_explained(
    capture: Path, database: Database, view: GraphView
) -> None:
    empty(database)
    events = [json.loads(line) for line in capture.read_text().splitlines()]
    write_batch(database, events, WriteCache())
    last = max(to_datetime(parse_instant(event["eventTime"])) for event in events)
    rows = database.ask("MATCH (n:Dataset|Answer|Job) RETURN n.urn AS urn", {})
    urns = [row["urn"] for row in rows]
    wrong = WRONG.get(capture.stem, set())
    assert _found(view, urns, last + timedelta(hours=2)) == wrong
    late = _found(view, urns, last + timedelta(days=100)) - wrong
    if capture.stem == "spark_appends":
        # It saved a table three times, and Spark's listener named none.
        late.remove(("uninstrumented", SILENT_JOB))
    for rule, urn in late:
        [row] = database.ask(LINKS, {"urn": urn})
        assert (rule, row["read"], row["written"]) == ("unused-dataset", False, True)


def _found(view: GraphView, urns: list[str], instant: datetime) -> set[tuple[str, str]]:
    derived = derive(view, urns, instant.astimezone(UTC))
    assert derived.failed == set()
    return {(one.rule, one.subject) for one in derived.episodes.values()}
