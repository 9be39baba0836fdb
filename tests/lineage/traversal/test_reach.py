"""Reached nodes and edges of a request: joined directions, omitted neighbours, and
continuations.
"""

from __future__ import annotations

from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.lineage.traversal.reach import ReachResult, nearest_first, reach
from headwater.lineage.view import GraphView
from tests.lineage_requests import request
from tests.run_builders import ds, job, run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


@pytest.fixture
def graph(database: Database, view: GraphView) -> GraphView:
    """A chain of jobs: a -> j1 -> b -> j2 -> c -> j3 -> d."""
    for number, (read, written) in enumerate([("a", "b"), ("b", "c"), ("c", "d")], start=1):
        write_events(database, run(f"r{number}", f"j{number}", [read], [written], minute=number))
    return view


def reached(view: GraphView, urn: str, **options: Any) -> ReachResult:
    traversal_request = request(urn, **options)
    return reach(view, traversal_request, traversal_request.bounds())


def test_both_directions_are_joined(graph: GraphView) -> None:
    found = reached(graph, ds("b"))
    assert found.distances == {
        ds("b"): 0,
        job("j1"): 1,
        ds("a"): 1,
        job("j2"): 1,
        ds("c"): 1,
        job("j3"): 2,
        ds("d"): 2,
    }
    assert (found.reason, found.omitted_count, found.continuations()) == ("", 0, [])
    assert len(found.edges) == 6


def test_continuation_starts_where_the_first_answer_ended(graph: GraphView) -> None:
    first = reached(graph, ds("a"), direction="DOWNSTREAM", depth=1)
    assert (first.reason, first.omitted_count) == ("depth", 1)
    [continuation] = first.continuations()
    assert (continuation.urn, continuation.omitted_count) == (ds("b"), 1)
    next_part = reached(graph, ds("a"), direction="DOWNSTREAM", depth=1, after=continuation.cursor)
    assert next_part.distances == {ds("b"): 1, job("j2"): 2, ds("c"): 2}


def test_invalid_arguments_are_refused(graph: GraphView) -> None:
    with pytest.raises(QueryError, match="direction 'SIDEWAYS' is none of"):
        reached(graph, ds("a"), direction="SIDEWAYS")
    for depth in (0, 51):
        with pytest.raises(QueryError, match=f"depth {depth} is not between 1 and 50"):
            reached(graph, ds("a"), depth=depth)


def test_nearest_come_first_and_then_the_names() -> None:
    assert nearest_first({"z": 0, "c": 2, "b": 1, "a": 2}) == ["z", "b", "a", "c"]
