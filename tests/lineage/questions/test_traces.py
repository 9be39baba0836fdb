"""Runs by their trace ids, in both directions, as each caller may see them."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.lineage.questions.search import search
from headwater.lineage.questions.traces import find_trace, newest_traces, trace_link
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import node, run_event, write_in_any_order
from tests.run_builders import Event, run_of, write_events

pytestmark = pytest.mark.neo4j

TRACES = [f"{number:032x}" for number in range(1, 31)]


def traced(run_id: str, minute: int, trace_id: str, namespace: str = "etl") -> Event:
    event = run_event(run_id, "COMPLETE", minute, facets={"trace": {"traceId": trace_id}})
    event["job"]["namespace"] = namespace
    return event


def test_the_traces_of_runs_in_any_order(database: Database, view: GraphView) -> None:
    write_in_any_order(
        database,
        traced("a", 0, TRACES[0]),
        traced("a", 1, TRACES[1]),
        traced("b", 2, TRACES[0], "web"),
        run_event("plain", "COMPLETE", 3),
    )
    a, b = run_of("a"), run_of("b")
    assert node(database, a)["traceIds"] == TRACES[:2]
    assert node(database, a)["traceCount"] == 2
    assert "traceIds" not in node(database, run_of("plain"))
    assert find_trace(view, TRACES[0].upper()).runs == [b, a]
    assert find_trace(view, TRACES[2]).runs == []
    assert [(one.trace_id, one.runs) for one in newest_traces(view, 10)] == [
        (TRACES[0], [b, a]),
        (TRACES[1], [a]),
    ]
    assert [one.trace_id for one in newest_traces(view, 1)] == [TRACES[0]]
    hits = search(view, TRACES[0]).page.entries
    assert {hit.node.urn for hit in hits} == {a, b}
    some = view.visible_to(Visibility(("etl",)))
    assert find_trace(some, TRACES[0]).runs == [a]
    assert [hit.node.urn for hit in search(some, TRACES[0]).page.entries] == [a]
    assert {one.trace_id for one in newest_traces(some, 10)} == set(TRACES[:2])
    other = view.visible_to(Visibility(("web",)))
    assert [one.trace_id for one in newest_traces(other, 10)] == [TRACES[0]]
    assert find_trace(other, TRACES[1]).runs == []


def test_a_run_shows_the_smallest_twenty_and_counts_the_rest(database: Database) -> None:
    empty(database)
    facets = {f"trace{number}": {"traceId": trace} for number, trace in enumerate(TRACES)}
    write_events(database, [run_event("a", facets=facets)])
    found = node(database, run_of("a"))
    assert (found["traceIds"], found["traceCount"]) == (TRACES[:20], 30)


@pytest.mark.parametrize("text", ["", "x", "0" * 32, "traceIds:*", "4bf92f35 OR a", "\x00" * 32])
def test_a_malformed_trace_id_is_an_error(view: GraphView, text: str) -> None:
    with pytest.raises(QueryError, match="traceId"):
        find_trace(view, text)


def test_a_link() -> None:
    assert trace_link("http://t/trace/{traceId}?a={x}", "4b") == "http://t/trace/4b?a={x}"
    assert trace_link("", "4b") is None
