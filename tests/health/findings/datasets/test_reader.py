"""The histories of datasets as the graph gives them; each value is worked out by hand."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.datasets.history import (
    Check,
    Citation,
    DatasetHistory,
    Described,
    FailedRun,
    Producer,
    ReaderRun,
)
from headwater.health.findings.datasets.reader import read_dataset_histories
from headwater.lineage.view import GraphView
from headwater.schema.headwater_facets import source_event
from tests.canonical import empty
from tests.event_builders import columns, dataset, dataset_event, run_event, schema
from tests.run_builders import Event, answer, at, ds, job, run, run_of, version, write_events

pytestmark = pytest.mark.neo4j


def time(minute: int) -> datetime:
    return datetime.fromisoformat(at(minute))


def read_one(view: GraphView, name: str) -> DatasetHistory:
    [history] = read_dataset_histories(view, [ds(name)], time(600))
    return history


def measured(run_id: str, minute: int, nulls: int, *, ok: bool) -> Event:
    usage: Event = {
        "dataQualityMetrics": {
            "rowCount": 100,
            "columnMetrics": {"mail": {"nullCount": nulls, "quantiles": {"0.5": 7.0}}},
            "lastUpdated": at(minute - 1),
        },
        "dataQualityAssertions": {
            "assertions": [{"assertion": "not_null", "column": "mail", "success": ok}]
        },
    }
    return run_event(
        run_id, minute=minute, job="check", inputs=[dataset("orders", usage=usage, side="input")]
    )


@pytest.fixture
def story(database: Database) -> None:
    empty(database)
    made = dataset("orders", schema(id="int", mail="string"))
    mail = [("orders", "mail")]
    write_events(
        database,
        run("load-1", "load", ["raw"], ["orders"], minute=0, rows=10),
        [run_event("load-2", minute=20, job="load", inputs=["raw"], outputs=[made])],
        run("load-3", "load", ["raw"], ["orders"], minute=40, status="FAIL", error="disk full"),
        [
            measured("check-1", 50, 4, ok=False),
            run_event("mail-1", "START", minute=52, job="mail", inputs=["orders"]),
            run_event(
                "mail-1",
                minute=53,
                job="mail",
                inputs=["orders"],
                outputs=[dataset("letters", columns(to=mail))],
            ),
            dataset_event(
                "orders",
                5,
                {"documentation": {"description": "Orders"}, "tags": {"tags": [{"key": "gold"}]}},
            ),
        ],
        answer("a-1", "orders", minute=55),
    )


@pytest.mark.usefixtures("story")
def test_versions_with_their_runs(view: GraphView) -> None:
    history = read_one(view, "orders")
    found = [(one.urn, one.run, one.job, one.complete) for one in history.versions]
    assert found == [
        (version("orders", "load-1"), run_of("load-1"), job("load"), True),
        (version("orders", "load-2"), run_of("load-2"), job("load"), True),
        (version("orders", "load-3"), run_of("load-3"), job("load"), False),
    ]
    first, second, _ = history.versions
    assert (first.created_at, first.row_count, first.fields) == (time(1), 10, None)
    assert second.fields == {"id": "int", "mail": "string"}


@pytest.mark.usefixtures("story")
def test_producers_readers_and_answers(view: GraphView) -> None:
    history = read_one(view, "orders")
    failed = FailedRun(run_of("load-3"), job("load"), time(41), "FAIL", "disk full")
    assert history.producers == (Producer(job("load"), time(0), failures=(failed,)),)
    check, mail = history.readers
    assert (check.job, check.is_current, check.columns) == (job("check"), True, None)
    assert (mail.job, mail.columns) == (job("mail"), frozenset({"mail"}))
    assert mail.runs == (ReaderRun(run_of("mail-1"), time(52), time(53)),)
    assert history.citations == (Citation("answer:a-1", "", time(55)),)
    assert [one.urn for one in history.upstream] == [ds("raw")]


@pytest.mark.usefixtures("story")
def test_reports_of_runs(view: GraphView) -> None:
    history = read_one(view, "orders")
    [report] = history.reports
    assert (report.run, report.job, report.is_write) == (run_of("check-1"), job("check"), False)
    assert report.version == version("orders", "load-2")
    assert report.checks == (Check("not_null", "mail", False),)
    assert report.measures == {("mail", "null share"): 0.04, ("mail", "quantile 0.5"): 7.0}
    assert report.row_count == 100
    assert history.updates == (time(50) - timedelta(minutes=1),)


@pytest.mark.usefixtures("story")
def test_descriptions_and_schemas(view: GraphView) -> None:
    history = read_one(view, "orders")
    assert history.tags == ("gold",)
    assert history.descriptions == (
        Described("name", "orders"),
        Described("description", "Orders"),
        Described("tags", "gold"),
        Described("columns.id.name", "id"),
        Described("columns.mail.name", "mail"),
    )
    [one] = history.schemas
    assert (one.fields, one.first_seen) == ({"id": "int", "mail": "string"}, time(20))
    raw = read_one(view, "raw")
    assert (raw.versions, raw.producers, raw.is_source) == ((), (), False)
    assert [reader.job for reader in raw.current_readers] == [job("load")]


@pytest.mark.usefixtures("story")
def test_an_unknown_dataset_has_no_history(view: GraphView) -> None:
    assert read_dataset_histories(view, [ds("nothing")], time(600)) == []


def test_every_capture_of_a_source_counts(database: Database, view: GraphView) -> None:
    empty(database)
    captures = [
        source_event("orders", namespace="db", origin="shop", captured_at=at(minute))
        for minute in (90, 10, 50)
    ]
    write_events(database, captures[:2], captures[1:])
    history = read_one(view, "orders")
    assert (history.updates, history.is_source) == ((time(10), time(50), time(90)), True)
