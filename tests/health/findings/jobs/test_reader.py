"""The histories of jobs, as the real writer folds their events."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.jobs.failed_run import detect_failed_runs
from headwater.health.findings.jobs.history import OutputFact, ParentFact, RunFact, Schedule
from headwater.health.findings.jobs.reader import read_job_histories
from headwater.lineage.view import GraphView
from headwater.schema.urns import answer_urn
from tests.canonical import empty
from tests.event_builders import dataset, parent, run_event
from tests.run_builders import answer, at, ds, job, run, run_of, write_events

pytestmark = pytest.mark.neo4j

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = 24 * 60
TIMETABLE = {"dag": {"timetable": {"expression": "0 0 * * *", "timezone": "UTC"}}}
CODE = {
    "sql": {"query": "SELECT id FROM raw"},
    "sourceCodeLocation": {"type": "git", "url": "https://git.example/load.sql", "version": "1.4"},
}
# The first 16 digits of the SHA-256 of the query, by sha256sum.
CODE_HASH = "d33542cd1f39bb78"


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    """Write a task `load` of the DAG `dag` on two days: it succeeds, then its query `q` fails."""
    empty(database)
    events = []
    for number, status in enumerate(("COMPLETE", "FAIL")):
        minute = number * DAY
        nominal = {"nominalTime": {"nominalStartTime": at(minute)}}
        events += [
            run_event(f"dag-{number}", "START", minute, job="dag", facets={"airflow": TIMETABLE}),
            run_event(
                f"load-{number}",
                "START",
                minute + 1,
                job="load",
                inputs=["raw"],
                job_facets=CODE,
                facets={**parent(f"dag-{number}", "dag"), **nominal, "airflow": TIMETABLE},
            ),
            run_event(
                f"query-{number}",
                status,
                minute + 2,
                job="load.q",
                inputs=["raw"],
                outputs=["clean"],
                facets=parent(f"load-{number}", "load"),
            ),
            run_event(f"load-{number}", status, minute + 3, job="load", outputs=["clean"]),
            run_event(f"dag-{number}", status, minute + 4, job="dag"),
        ]
    error = {"errorMessage": {"message": "disk full", "programmingLanguage": "SQL"}}
    events += [run_event("load-1", "OTHER", DAY + 3, job="load", facets=error)]
    tagged = {"tags": {"tags": [{"key": "tier", "value": "1", "source": "test"}]}}
    write_events(
        database,
        events,
        [run_event("m", job="publish", inputs=["clean"], outputs=[dataset("mart", tagged)])],
        answer("report", "clean", minute=5),
    )
    yield view
    empty(database)


def moment(minute: int) -> datetime:
    return START + timedelta(minutes=minute)


def test_the_history_of_a_task(history: GraphView) -> None:
    [found] = read_job_histories(history, [job("load"), job("no such job")])
    assert found.runs == (
        RunFact(
            urn=run_of("load-0"),
            status="COMPLETE",
            started=moment(1),
            ended=moment(3),
            nominal_start=moment(0),
            slot=f"{job('load')}@{round(moment(0).timestamp() * 1e6)}",
            attempt=1,
            execution=run_of("dag-0"),
            code_version="1.4",
            code_hash=CODE_HASH,
            reads=(ds("raw"),),
            writes=(ds("clean"),),
            parent=ParentFact("COMPLETE"),
        ),
        RunFact(
            urn=run_of("load-1"),
            status="FAIL",
            started=moment(DAY + 1),
            ended=moment(DAY + 3),
            nominal_start=moment(DAY),
            slot=f"{job('load')}@{round(moment(DAY).timestamp() * 1e6)}",
            attempt=1,
            execution=run_of("dag-1"),
            error="disk full",
            code_version="1.4",
            code_hash=CODE_HASH,
            reads=(ds("raw"),),
            writes=(ds("clean"),),
            parent=ParentFact("FAIL"),
        ),
    )
    assert found.inputs == (ds("raw"),)
    assert found.outputs == (
        OutputFact(ds("clean"), readers=(job("publish"),), answers=(answer_urn("report"),)),
    )
    assert (found.containers, found.is_contained) == ((job("dag"),), True)
    assert found.schedule == Schedule(crons=("0 0 * * *",))
    assert (found.is_streaming, found.is_truncated, found.since) == (False, False, None)


def test_a_container_has_no_datasets_of_its_own(history: GraphView) -> None:
    [query] = read_job_histories(history, [job("load.q")])
    assert [one.parent for one in query.runs] == [
        ParentFact(status, CODE_HASH, (ds("raw"),), (ds("clean"),))
        for status in ("COMPLETE", "FAIL")
    ]
    dag, publish = read_job_histories(history, [job("publish"), job("dag")])
    assert [one.status for one in dag.runs] == ["COMPLETE", "FAIL"]
    assert (dag.outputs, dag.containers, dag.is_contained) == ((), (), False)
    assert publish.outputs == (OutputFact(ds("mart"), tags=("tier=1",)),)


def test_a_container_that_reports_nothing_contains_nothing(database: Database) -> None:
    empty(database)
    events = run("a", "task", [], ["t"], parent="never-reported")
    write_events(database, events)
    [found] = read_job_histories(GraphView(database), [job("task")])
    assert (found.containers, found.is_contained) == ((job("dag"),), False)


def test_the_newest_runs_are_read(database: Database, view: GraphView) -> None:
    empty(database)
    events = [run_event(f"r{number:03}", "START", number, job="often") for number in range(201)]
    write_events(database, events)
    [found] = read_job_histories(view, [job("often")])
    assert [found.runs[0].urn, found.runs[-1].urn] == [run_of("r001"), run_of("r200")]
    assert (found.is_truncated, found.since) == (True, moment(1))
    assert found.runs[-1].ended is None


def test_a_long_failure_keeps_its_beginning(database: Database, view: GraphView) -> None:
    """The job succeeded once, and failed 250 times since: the first failure is long ago."""
    empty(database)
    events = [run_event("ok", "COMPLETE", 0, job="often", outputs=["t"])]
    events += [
        run_event(f"r{number:03}", "FAIL", number, job="often", outputs=["t"])
        for number in range(1, 251)
    ]
    events += [run_event("reader", "COMPLETE", 0, job="reader", inputs=["t"])]
    write_events(database, events)
    [found] = read_job_histories(view, [job("often")])
    assert (found.failing_run, found.failing_since) == (run_of("r001"), moment(1))
    [episode] = detect_failed_runs(found)
    assert (episode.key, episode.first_seen) == (run_of("r001"), moment(1))
    assert (episode.last_seen, episode.resolved_at) == (moment(250), None)
