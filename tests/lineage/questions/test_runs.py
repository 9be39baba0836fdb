"""The list of all runs: order, filters, pages in both directions, counts and visibility."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.lineage.pagination import PageRequest, page_request
from headwater.lineage.questions.runs import RunFilter, count_runs, runs
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import facet
from tests.run_builders import FACET, Event, at, run, write_events

pytestmark = pytest.mark.neo4j


def event(run_id: str, kind: str, minute: int, **job: Any) -> Event:
    """Return one event of a run of `job`, etl:build unless it is given."""
    return {
        "eventType": kind,
        "eventTime": at(minute),
        "producer": FACET["_producer"],
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": run_id, "facets": job.pop("run_facets", {})},
        "job": {"namespace": "etl", "name": "build", "facets": {}, **job},
    }


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    """Write runs of two namespaces; three of them start at minute 30."""
    empty(database)
    owned = {"ownership": facet(owners=[{"name": "ann"}])}
    tagged = {"tags": facet(tags=[{"key": "backfill", "value": "true"}])}
    shared = {"tags": facet(tags=[{"key": "a"}, {"key": "team", "value": "core"}])}
    write_events(
        database,
        run("r0", "build", minute=0),
        run("r1", "build", minute=10, status="FAIL", parent="never-seen"),
        [event("r2", "START", 20)],
        run("r3", "build", minute=30),
        run("r4", "build", minute=30),
        [event("r5", "COMPLETE", 30, namespace="web", name="page", facets=owned)],
        [event("r6", "START", 40, namespace="web", name="page", run_facets=tagged)],
        # r7 is claimed by a job of another namespace too.
        [
            event("r7", "START", 50, run_facets=shared),
            event("r7", "START", 50, namespace="web", name="page"),
        ],
    )
    yield view
    empty(database)


NEWEST_FIRST = ["r7", "r6", "r3", "r4", "r5", "r2", "r1", "r0"]
ETL, WEB = Visibility(("etl",)), Visibility(("w*",))


def listed(view: GraphView, **conditions: Any) -> list[str]:
    """Return the listed run ids; the count must agree."""
    filter = RunFilter(**conditions)
    found = [row["runId"] for row in runs(view, filter=filter).entries]
    assert count_runs(view, filter) == len(found)
    return found


def test_the_newest_start_comes_first(history: GraphView) -> None:
    """The parent of r1 is known only by name: it has no start, and is no running run."""
    assert listed(history) == NEWEST_FIRST


def test_filters(history: GraphView) -> None:
    half_past = datetime(2026, 1, 1, 0, 30, tzinfo=UTC)
    assert listed(history, status="FAIL") == ["r1"]
    assert listed(history, status="RUNNING") == ["r7", "r6", "r2"]
    assert listed(history, status="ABORT") == []
    assert listed(history, since=half_past) == ["r7", "r6", "r3", "r4", "r5"]
    assert listed(history, until=half_past) == ["r2", "r1", "r0"]
    assert listed(history, since=half_past, until=half_past) == []
    assert listed(history, namespace="web", status="COMPLETE") == ["r5"]
    assert listed(history, namespace="nowhere") == []
    assert set(listed(history, owner="ann")) == {"r5", "r6", "r7"}
    assert listed(history, tag="backfill") == listed(history, tag="backfill=true") == ["r6"]
    assert listed(history, tag="back") == []
    assert listed(history, tag="team") == listed(history, tag="team=core") == ["r7"]
    assert listed(history, tag="team", namespace="web") == ["r7"]
    assert listed(history, tag="team", namespace="etl") == []
    assert listed(history, tag="team", status="RUNNING", owner="ann") == ["r7"]
    with pytest.raises(QueryError, match="status 'LATE' is none of RUNNING"):
        RunFilter(status="LATE")


def test_hidden_runs_are_neither_listed_nor_counted(history: GraphView) -> None:
    assert listed(history.visible_to(ETL)) == ["r3", "r4", "r2", "r1", "r0"]
    assert listed(history.visible_to(WEB)) == ["r6", "r5"]
    assert listed(history.visible_to(WEB), namespace="etl") == []
    assert listed(history.visible_to(ETL), status="RUNNING") == ["r2"]
    assert listed(history.visible_to(Visibility(("nowhere",)))) == []
    assert listed(history.visible_to(ETL), tag="team") == []
    assert listed(history.visible_to(WEB), tag="backfill") == ["r6"]
    assert listed(history.visible_to(WEB), owner="ann") == ["r6", "r5"]


@pytest.mark.parametrize("oldest_first", [False, True])
def test_runs_with_a_tag_are_read_page_by_page(history: GraphView, oldest_first: bool) -> None:
    filter, collected, cursor = RunFilter(tag="backfill"), list[str](), None
    for expected in (["r6"], []):
        page = PageRequest(1, cursor)
        found = runs(history, filter=filter, page=page, oldest_first=oldest_first)
        assert [row["runId"] for row in found.entries] == expected
        collected += expected
        cursor = found.cursors[0] if found.cursors else None
    assert len(collected) == count_runs(history, filter)


@pytest.mark.parametrize("size", [1, 2, 3, 8, 9])
@pytest.mark.parametrize("oldest_first", [False, True])
def test_pages_of_both_directions_are_the_list(
    history: GraphView, size: int, oldest_first: bool
) -> None:
    expected = NEWEST_FIRST[::-1] if oldest_first else NEWEST_FIRST
    for is_backward in (False, True):
        collected: list[str] = []
        cursor = None
        while True:
            page = PageRequest(size, cursor, is_backward)
            found = runs(history, page=page, oldest_first=oldest_first)
            ids = [row["runId"] for row in found.entries]
            collected = ids + collected if is_backward else collected + ids
            cursor = found.cursors[0 if is_backward else -1]
            if not (found.has_previous if is_backward else found.has_next):
                break
        assert collected == expected


def test_new_runs_between_pages_neither_repeat_nor_skip_others(
    history: GraphView, database: Database
) -> None:
    first = runs(history, page=page_request(3))
    write_events(database, run("r30", "build", minute=30), run("r90", "build", minute=90))
    second = runs(history, page=page_request(3, first.cursors[-1]))
    back = runs(history, page=page_request(last=2, before=second.cursors[0]))
    assert [row["runId"] for row in first.entries] == ["r7", "r6", "r3"]
    # r30 starts when r3 does; its urn stands between theirs.
    assert [row["runId"] for row in second.entries] == ["r30", "r4", "r5"]
    assert [row["runId"] for row in back.entries] == ["r6", "r3"]
    assert (back.has_next, back.has_previous) == (True, True)


@pytest.mark.parametrize("cursor", ["x", "W10=", "WyJ4IiwgInkiXQ=="])
def test_a_cursor_that_is_none(history: GraphView, cursor: str) -> None:
    with pytest.raises(QueryError, match=r"before .* is not a cursor"):
        runs(history, page=page_request(last=1, before=cursor))
