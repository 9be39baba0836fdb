"""A walk that reads off what memory has worked out finds what one that goes step by step finds: the same nodes, edges,
ends and what lies beyond them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from headwater.cypher.driver.database import Database
from headwater.lineage.cache.cache_refresher import CacheRefresher
from headwater.lineage.cache.lineage_cache import DatasetPart, JobPart, LineageCache, Output, Part
from headwater.lineage.node_names import node_names_of
from headwater.lineage.questions.lineage import lineage
from headwater.lineage.questions.lineage_table import lineage_table
from headwater.lineage.traversal.adjacency import Asked
from headwater.lineage.traversal.bfs import MAP_DOWN, MAP_UP, Bounds, Layer, Walk, explore
from headwater.lineage.traversal.cached_bfs import MapWalk, walk_in_memory
from headwater.lineage.traversal.filters import EVERY_NODE, Filter
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.run_builders import ds, job

WIDE = 100


class Held(CacheRefresher):
    """A map that is in step whatever Neo4j says: there is none."""

    def __init__(self, database: Database, memory: LineageCache) -> None:
        super().__init__(database)
        self.held = memory

    def current(self) -> LineageCache:
        return self.held


@pytest.fixture(scope="module")
def nowhere() -> Iterator[GraphView]:
    """Nothing listens there."""
    database = Database("bolt://127.0.0.1:1", "", "")
    yield GraphView(database)
    database.close()


def holding(nowhere: GraphView, parts: dict[str, Part | None]) -> GraphView:
    cache = LineageCache()
    cache.put(parts)
    return replace(nowhere, cache=Held(nowhere.database, cache))


def named(urn: str) -> Any:
    (name,) = node_names_of([urn], {})
    return name


def makes(name: str, reads: str, *outputs: Output, feeds: tuple[str, ...] = ()) -> tuple[str, Part]:
    return job(name), JobPart(
        named(job(name)), tuple(map(ds, reads)), outputs, tuple(map(job, feeds))
    )


def within(depth: int, *, nodes: int = WIDE, edges: int = WIDE) -> Bounds:
    return Bounds.within(60, depth=depth, nodes_max=nodes, edges_max=edges)


def quick(
    view: GraphView, layer: Layer, starts: list[str], bounds: Bounds, where: Filter = EVERY_NODE
) -> Any:
    return walk_in_memory(Asked(view, layer, bounds.deadline, 0, where=where), starts, bounds)


def told(walk: Walk | MapWalk) -> Any:
    return walk.nodes, walk.edges, walk.truncated, walk.unfinished, walk.beyond


NAMES = st.sampled_from("abcde")
JOBS = st.sampled_from("jklm")
PLACES = st.lists(NAMES.map(ds), max_size=3, unique=True).map(tuple)
OUTPUTS = st.lists(
    st.builds(Output, NAMES.map(ds), PLACES, st.booleans()),
    max_size=3,
    unique_by=lambda out: out.place,
)
PARTS = st.dictionaries(
    JOBS.map(job),
    st.tuples(PLACES, OUTPUTS.map(tuple), st.lists(JOBS.map(job), max_size=1).map(tuple)),
    max_size=4,
).map(lambda jobs: {urn: JobPart(named(urn), *said) for urn, said in jobs.items()})
DATASETS = st.dictionaries(
    NAMES.map(ds), st.lists(NAMES.map(ds), max_size=1).map(tuple), max_size=5
).map(lambda datasets: {urn: DatasetPart(named(urn), feeds) for urn, feeds in datasets.items()})


@given(PARTS, DATASETS, st.integers(1, 4), st.data())
def test_it_finds_what_a_walk_step_by_step_finds(
    nowhere: GraphView,
    jobs: dict[str, Part],
    datasets: dict[str, Part],
    depth: int,
    data: st.DataObject,
) -> None:
    parts = {**jobs, **datasets}
    assume(parts)
    view = holding(nowhere, dict(parts))
    starts = data.draw(st.lists(st.sampled_from(sorted(parts)), min_size=1, max_size=2))
    for layer in (MAP_DOWN, MAP_UP):
        found = quick(view, layer, starts, within(depth))
        assert told(found) == told(explore(view, layer, {0: starts}, within(depth))[0])
    for direction in ("UPSTREAM", "DOWNSTREAM", "BOTH"):
        table = lineage_table(view, starts, direction=direction, depth=depth)
        # It cannot see less than everything, so it goes step by step.
        expected = lineage(
            view.visible_to(Visibility(("db*", "etl*"))),
            starts,
            direction=direction,
            depth=depth,
        )
        assert [
            (urn, kind) for urn, kind in zip(table.nodes.urn, table.nodes.kind, strict=True)
        ] == [(node.urn, node.kind) for node in expected.nodes]
        ends = zip(table.edges.source, table.edges.target, table.edges.type, strict=True)
        named_ends = [
            (table.nodes.urn[source], table.nodes.urn[target], type)
            for source, target, type in ends
        ]
        assert sorted(named_ends) == [tuple(edge) for edge in expected.edges]
        assert dict(zip(table.nodes.urn, table.nodes.distance, strict=True)) == expected.distances
        assert (table.truncated or "", table.omitted_count) == (
            expected.reason,
            expected.omitted_count,
        )
        assert table.continuations.cursor == [one.cursor for one in expected.continuations]


def test_a_place_is_reached_from_what_it_came_from_only(nowhere: GraphView) -> None:
    """j reads a and b, makes c from a and d from any; k reads c."""
    outputs = (Output(ds("c"), (ds("a"),), False), Output(ds("d"), (), False))
    view = holding(
        nowhere, dict([makes("j", "ab", *outputs), makes("k", "c", Output(ds("e"), (), False))])
    )
    memory = view.cache.current() if view.cache else None
    assert memory
    for urn in "abcde":
        memory.put({ds(urn): DatasetPart(named(ds(urn)))})
    found = quick(view, MAP_DOWN, [ds("b")], within(2))
    assert found.nodes == {ds("b"): 0, job("j"): 1, ds("d"): 1}
    assert {tuple(edge) for edge in found.edges} == {
        (ds("b"), job("j"), "FEEDS"),
        (job("j"), ds("d"), "PRODUCED"),
    }
    found = quick(view, MAP_UP, [ds("e")], within(2))
    assert found.nodes == {ds("e"): 0, job("k"): 1, ds("c"): 1, job("j"): 2, ds("a"): 2}
    assert (job("j"), ds("c"), "PRODUCED") in found.edges
    cut = quick(view, MAP_DOWN, [ds("a")], within(1))
    assert (cut.truncated, cut.unfinished, cut.beyond) == (
        "depth",
        {ds("c"): ()},
        {ds("c"): {job("k")}},
    )


@pytest.mark.parametrize(
    ("nodes", "edges", "is_told"),
    [(3, WIDE, True), (2, WIDE, False), (WIDE, 2, True), (WIDE, 1, False)],
)
def test_where_a_bound_is_met_it_says_nothing(
    nodes: int, edges: int, is_told: bool, nowhere: GraphView
) -> None:
    """a -> j -> b: three nodes, two edges."""
    urn, part = makes("j", "a", Output(ds("b"), (), False))
    view = holding(
        nowhere,
        {urn: part, ds("a"): DatasetPart(named(ds("a"))), ds("b"): DatasetPart(named(ds("b")))},
    )
    assert (
        quick(view, MAP_DOWN, [ds("a")], within(9, nodes=nodes, edges=edges)) is not None
    ) is is_told


def test_who_may_not_see_all_and_who_filters_go_step_by_step(nowhere: GraphView) -> None:
    view = holding(nowhere, {ds("a"): DatasetPart(named(ds("a")))})
    assert quick(view, MAP_DOWN, [ds("a")], within(1)) is not None
    assert quick(view.visible_to(Visibility(("db",))), MAP_DOWN, [ds("a")], within(1)) is None
    assert quick(view, MAP_DOWN, [ds("a")], within(1), Filter(namespaces=("db",))) is None
    assert quick(view, MAP_DOWN, [ds("unknown")], within(1)) is None
