"""The paths between two nodes, worked out by hand, from the cache and from Neo4j."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError, QueryError
from headwater.lineage.cache.cache_refresher import CacheRefresher
from headwater.lineage.questions.lineage import Lineage, lineage
from headwater.lineage.traversal.request import LineageRequest
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.run_builders import ds, job, run, run_of, version, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

ON_PATHS = {ds("a"), job("left"), ds("l"), job("right"), ds("r"), job("join"), ds("end")}


@pytest.fixture
def diamond(database: Database, view: GraphView) -> GraphView:
    """Write raw -> a; a -> l and a -> r; l, r and other -> end -> after; a -> aside."""
    write_events(
        database,
        run("1", "load", ["raw"], ["a"], minute=0),
        run("2", "left", ["a"], ["l"], minute=10),
        run("3", "right", ["a"], ["r"], minute=20),
        run("4", "aside", ["a"], ["beside"], minute=30),
        run("5", "join", ["l", "r", "other"], ["end"], minute=40),
        run("6", "late", ["end"], ["after"], minute=50),
    )
    return view


def between(view: GraphView, start: str, end: str, **options: object) -> Lineage:
    return lineage(view, LineageRequest((start,), to=end, **options))  # type: ignore[arg-type]


def urns(found: Lineage) -> set[str]:
    return {node.urn for node in found.nodes}


@pytest.mark.parametrize("is_cached", [False, True])
def test_all_paths_and_nothing_else(
    diamond: GraphView, database: Database, is_cached: bool
) -> None:
    view = diamond
    if is_cached:
        cache = CacheRefresher(database)
        cache.load()
        view = GraphView(database, cache=cache)
    found = between(view, ds("a"), ds("end"))
    assert urns(found) == ON_PATHS
    assert len(found.edges) == 7
    assert found.distances[ds("end")] == 2
    assert (found.reason, found.omitted_count, found.continuations) == ("", 0, [])
    # The other way round, BOTH finds the same paths.
    assert urns(between(view, ds("end"), ds("a"))) == ON_PATHS


def test_a_direction_without_a_path(diamond: GraphView) -> None:
    found = between(diamond, ds("end"), ds("a"), direction="DOWNSTREAM")
    assert (urns(found), found.edges) == (set(), [])
    assert urns(between(diamond, ds("beside"), ds("end"))) == set()
    assert urns(between(diamond, ds("end"), ds("a"), direction="UPSTREAM")) == ON_PATHS


def test_depth_bounds_the_hops_from_either_end(diamond: GraphView) -> None:
    assert urns(between(diamond, ds("raw"), ds("after"), depth=1)) == set()
    assert between(diamond, ds("raw"), ds("after"), depth=1).reason == "depth"
    whole = urns(between(diamond, ds("raw"), ds("after"), depth=10))
    assert whole == ON_PATHS | {ds("raw"), job("load"), job("late"), ds("after")}


def test_paths_in_the_run_history(diamond: GraphView) -> None:
    found = between(diamond, version("a", "1"), version("end", "5"))
    assert run_of("2") in urns(found)
    assert run_of("4") not in urns(found)


def test_paths_at_an_instant(diamond: GraphView) -> None:
    early = datetime(2026, 1, 1, 0, 35, tzinfo=UTC)
    assert urns(between(diamond, ds("a"), ds("end"), as_of=early)) == set()


def test_a_path_through_hidden_nodes_keeps_its_shape(diamond: GraphView) -> None:
    found = between(diamond.visible_to(Visibility(("db",))), ds("a"), ds("end"))
    shown = urns(found)
    assert {ds("a"), ds("l"), ds("r"), ds("end")} <= shown
    assert ds("beside") not in shown
    assert not any("etl" in urn for urn in shown)


def test_an_unknown_end_and_arguments_that_exclude_it(diamond: GraphView) -> None:
    with pytest.raises(NotFoundError):
        between(diamond, ds("a"), ds("nowhere"))
    instants = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC))
    with pytest.raises(QueryError, match="between"):
        between(diamond, ds("a"), ds("end"), between=instants)
