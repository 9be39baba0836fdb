"""Events of real Spark, dbt and Airflow, for one night and for a week of such nights.

Each finding of jobs in them is listed here with its reason. Retries, tasks, queries within tasks,
loops, appends and streams raise none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid5

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.jobs.detect import detect_job
from headwater.health.findings.jobs.reader import read_job_histories
from headwater.health.findings.models import Episode
from headwater.ingest.fold import fold
from headwater.ingest.write.transaction import Checkpoint, WriteRequest, read_checkpoint, write
from headwater.lineage.view import GraphView
from headwater.schema.events import parse
from tests.canonical import empty
from tests.run_builders import SPOOL

pytestmark = pytest.mark.neo4j

CAPTURES = sorted((Path(__file__).parents[3] / "captures").glob("*.jsonl"))
PUNCTUALITY = "job:flights:december_refresh.adaptive_spark_plan.marts_airport_punctuality"
# The demo lets the refresh of the airports fail; the ranking reads them.
EXPECTED = {"spark_flights_demo": [("failed-run", PUNCTUALITY)]}
NIGHTS = 7
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?")


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_one_night(path: Path, database: Database, view: GraphView) -> None:
    found = detect(database, view, path, nights=1)
    assert [(one.rule, one.subject) for one in found] == EXPECTED.get(path.stem, [])


@pytest.mark.parametrize("name", ["airflow_shop", "dbt_shop", "spark_appends"])
def test_a_week_of_such_nights(name: str, database: Database, view: GraphView) -> None:
    [path] = [one for one in CAPTURES if one.stem == name]
    found = detect(database, view, path, nights=NIGHTS)
    assert [(one.rule, one.subject) for one in found] == []


def test_an_application_is_missing_the_night_after(database: Database, view: GraphView) -> None:
    """Each of its jobs runs within it, so only the application itself is missing.

    One job has run for a week by then, and Spark's listener named no dataset of it.
    """
    [path] = [one for one in CAPTURES if one.stem == "spark_appends"]
    found = detect(database, view, path, nights=NIGHTS, hours=40)
    assert [(one.rule, one.subject) for one in found] == [
        ("missing-run", "job:shop:shop_appends"),
        ("uninstrumented", "job:shop:shop_appends.execute_save_as_v1_table_command"),
    ]


def detect(
    database: Database, view: GraphView, path: Path, *, nights: int, hours: int = 2
) -> list[Episode]:
    """Return the episodes of all jobs so many hours after the last run."""
    empty(database)
    for night in range(nights):
        events = [parse(line.encode(), received=0) for line in shifted(path, night)]
        before = read_checkpoint(database, SPOOL)
        position = before.position + len(events)
        after = Checkpoint(position, position, 0)
        request = WriteRequest(
            fold(events), spool=SPOOL, before=before, after=after, holder="tests"
        )
        write(database, request)
    rows = database.ask("MATCH (j:Job) RETURN collect(j.urn) AS urns", {})
    histories = read_job_histories(view, rows[0]["urns"])
    newest = max(run.started for one in histories for run in one.runs)
    found: list[Episode] = []
    for one in histories:
        found += detect_job(one, newest + timedelta(hours=hours))
    return found


def shifted(path: Path, night: int) -> Iterator[str]:
    """Yield the events of a capture so many days later, with other run ids."""
    for line in path.read_text().splitlines():
        if night == 0:
            yield line
            continue
        moved = _TIME.sub(lambda match: _later(match[0], night), line)
        yield _UUID.sub(lambda match: str(uuid5(UUID(match[0]), str(night))), moved)


def _later(text: str, night: int) -> str:
    return (datetime.fromisoformat(text) + timedelta(days=night)).isoformat()
