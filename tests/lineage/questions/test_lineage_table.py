"""A lineage as columns, each position worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError
from headwater.lineage.questions.lineage_table import lineage_table
from headwater.lineage.traversal.request import LineageRequest
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.run_builders import ds, job, run, write_events

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    write_events(
        database, run("r1", "load", ["raw"], ["clean"]), run("r2", "sum", ["clean"], ["mart"])
    )
    yield view
    empty(database)


def test_nodes_by_distance_and_edges_by_position(history: GraphView) -> None:
    table = lineage_table(history, LineageRequest((ds("raw"),), direction="DOWNSTREAM"))
    assert table.starts == [ds("raw")]
    # A job and its outputs are one hop away together.
    assert dict(zip(table.nodes.urn, table.nodes.distance, strict=True)) == {
        ds("raw"): 0,
        job("load"): 1,
        ds("clean"): 1,
        job("sum"): 2,
        ds("mart"): 2,
    }
    assert table.nodes.urn == [ds("raw"), ds("clean"), job("load"), ds("mart"), job("sum")]
    assert table.nodes.kind == ["DATASET", "DATASET", "JOB", "DATASET", "JOB"]
    assert table.nodes.name == ["raw", "clean", "load", "mart", "sum"]
    edges = zip(table.edges.source, table.edges.target, table.edges.type, strict=True)
    assert list(edges) == [
        (0, 2, "FEEDS"),  # raw -> load
        (1, 4, "FEEDS"),  # clean -> sum
        (2, 1, "PRODUCED"),  # load -> clean
        (4, 3, "PRODUCED"),  # sum -> mart
    ]
    assert (table.truncated, table.omitted_count, table.continuations.urn) == (None, 0, [])


def test_a_depth_leaves_a_cursor_to_continue(history: GraphView) -> None:
    request = LineageRequest((ds("raw"),), direction="DOWNSTREAM", depth=1)
    table = lineage_table(history, request)
    assert (table.truncated, table.continuations.urn) == ("depth", [ds("clean")])
    [cursor] = table.continuations.cursor
    rest = lineage_table(
        history, LineageRequest((ds("raw"),), direction="DOWNSTREAM", depth=1, after=cursor)
    )
    assert rest.nodes.urn == [ds("clean"), ds("mart"), job("sum")]
    assert (rest.nodes.distance, rest.truncated) == ([1, 2, 2], None)


def test_an_unknown_start_is_not_found(history: GraphView) -> None:
    with pytest.raises(NotFoundError):
        lineage_table(history, LineageRequest((ds("missing"),)))
