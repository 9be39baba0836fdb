"""The traversal over the cache equals the step-by-step traversal: the same nodes, edges, resume
points and omitted neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from headwater.cypher.driver.database import Database
from headwater.lineage.cache.cache_refresher import CacheRefresher
from headwater.lineage.cache.lineage_cache import (
    CachedDataset,
    CachedJob,
    CachedOutput,
    CacheEntry,
    LineageCache,
)
from headwater.lineage.node_names import node_names_of
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.cached_bfs import CachedTraversal, run_cached_bfs
from headwater.lineage.traversal.engine import EngineKind, choose_engine
from headwater.lineage.traversal.filters import EVERY_NODE, Filter
from headwater.lineage.traversal.layers import DATASETS_DOWN, DATASETS_UP, Layer
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.lineage_requests import lineage, lineage_table
from tests.run_builders import ds, job

WIDE = 100


class CurrentCache(CacheRefresher):
    """A cache that counts as current without Neo4j."""

    def __init__(self, database: Database, memory: LineageCache) -> None:
        super().__init__(database)
        self.content = memory

    def current(self) -> LineageCache:
        return self.content


@pytest.fixture(scope="module")
def nowhere() -> Iterator[GraphView]:
    """A database without a server."""
    database = Database("bolt://127.0.0.1:1", "", "")
    yield GraphView(database)
    database.close()


def holding(nowhere: GraphView, parts: dict[str, CacheEntry | None]) -> GraphView:
    cache = LineageCache()
    cache.replace_entries(parts)
    return replace(nowhere, cache=CurrentCache(nowhere.database, cache))


def named(urn: str) -> Any:
    (name,) = node_names_of([urn], {})
    return name


def makes(
    name: str, reads: str, *outputs: CachedOutput, feeds: tuple[str, ...] = ()
) -> tuple[str, CacheEntry]:
    return job(name), CachedJob(
        named(job(name)), tuple(map(ds, reads)), outputs, tuple(map(job, feeds))
    )


def within(depth: int, *, nodes: int = WIDE, edges: int = WIDE) -> Bounds:
    return Bounds.within(60, depth=depth, nodes_max=nodes, edges_max=edges)


def quick(
    view: GraphView, layer: Layer, starts: list[str], bounds: Bounds, filter: Filter = EVERY_NODE
) -> Any:
    engine = choose_engine(view, TraversalRequest(layer, bounds, filter=filter), starts)
    if engine.kind is not EngineKind.CACHED_BFS or engine.cache is None:
        return None
    return run_cached_bfs(engine.cache, layer, starts, bounds)


def result_of(traversal: Traversal | CachedTraversal) -> Any:
    return (
        traversal.nodes,
        traversal.edges,
        traversal.truncated,
        traversal.resume_points,
        traversal.omitted_neighbours,
    )


NAMES = st.sampled_from("abcde")
JOBS = st.sampled_from("jklm")
DATASET_URNS = st.lists(NAMES.map(ds), max_size=3, unique=True).map(tuple)
OUTPUTS = st.lists(
    st.builds(CachedOutput, NAMES.map(ds), DATASET_URNS, st.booleans()),
    max_size=3,
    unique_by=lambda out: out.dataset,
)
PARTS = st.dictionaries(
    JOBS.map(job),
    st.tuples(DATASET_URNS, OUTPUTS.map(tuple), st.lists(JOBS.map(job), max_size=1).map(tuple)),
    max_size=4,
).map(lambda jobs: {urn: CachedJob(named(urn), *fields) for urn, fields in jobs.items()})
DATASETS = st.dictionaries(
    NAMES.map(ds), st.lists(NAMES.map(ds), max_size=1).map(tuple), max_size=5
).map(lambda datasets: {urn: CachedDataset(named(urn), feeds) for urn, feeds in datasets.items()})


@given(PARTS, DATASETS, st.integers(1, 4), st.data())
def test_cached_traversal_equals_the_step_by_step_traversal(
    nowhere: GraphView,
    jobs: dict[str, CacheEntry],
    datasets: dict[str, CacheEntry],
    depth: int,
    data: st.DataObject,
) -> None:
    parts = {**jobs, **datasets}
    assume(parts)
    view = holding(nowhere, dict(parts))
    starts = data.draw(st.lists(st.sampled_from(sorted(parts)), min_size=1, max_size=2))
    for layer in (DATASETS_DOWN, DATASETS_UP):
        found = quick(view, layer, starts, within(depth))
        assert result_of(found) == result_of(
            traverse(view, TraversalRequest(layer, within(depth)), {0: starts})[0]
        )
    for direction in ("UPSTREAM", "DOWNSTREAM", "BOTH"):
        table = lineage_table(view, starts, direction=direction, depth=depth)
        # The visibility is not complete, so the traversal goes step by step.
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


def test_an_output_is_reached_from_its_derivations_only(nowhere: GraphView) -> None:
    """Job j reads a and b, makes c from a and d from any input; k reads c."""
    outputs = (CachedOutput(ds("c"), (ds("a"),), False), CachedOutput(ds("d"), (), False))
    view = holding(
        nowhere,
        dict([makes("j", "ab", *outputs), makes("k", "c", CachedOutput(ds("e"), (), False))]),
    )
    memory = view.cache.current() if view.cache else None
    assert memory
    for urn in "abcde":
        memory.replace_entries({ds(urn): CachedDataset(named(ds(urn)))})
    found = quick(view, DATASETS_DOWN, [ds("b")], within(2))
    assert found.nodes == {ds("b"): 0, job("j"): 1, ds("d"): 1}
    assert {tuple(edge) for edge in found.edges} == {
        (ds("b"), job("j"), "FEEDS"),
        (job("j"), ds("d"), "PRODUCED"),
    }
    found = quick(view, DATASETS_UP, [ds("e")], within(2))
    assert found.nodes == {ds("e"): 0, job("k"): 1, ds("c"): 1, job("j"): 2, ds("a"): 2}
    assert (job("j"), ds("c"), "PRODUCED") in found.edges
    cut = quick(view, DATASETS_DOWN, [ds("a")], within(1))
    assert (cut.truncated, cut.resume_points, cut.omitted_neighbours) == (
        "depth",
        {ds("c"): ()},
        {ds("c"): {job("k")}},
    )


@pytest.mark.parametrize(
    ("nodes", "edges", "k_never"),
    [(3, WIDE, True), (2, WIDE, False), (WIDE, 2, True), (WIDE, 1, False)],
)
def test_a_reached_bound_needs_the_step_by_step_traversal(
    nodes: int, edges: int, k_never: bool, nowhere: GraphView
) -> None:
    """a -> j -> b has three nodes and two edges."""
    urn, part = makes("j", "a", CachedOutput(ds("b"), (), False))
    view = holding(
        nowhere,
        {urn: part, ds("a"): CachedDataset(named(ds("a"))), ds("b"): CachedDataset(named(ds("b")))},
    )
    assert (
        quick(view, DATASETS_DOWN, [ds("a")], within(9, nodes=nodes, edges=edges)) is not None
    ) is k_never


def test_restricted_and_filtered_requests_go_step_by_step(nowhere: GraphView) -> None:
    view = holding(nowhere, {ds("a"): CachedDataset(named(ds("a")))})
    assert quick(view, DATASETS_DOWN, [ds("a")], within(1)) is not None
    assert quick(view.visible_to(Visibility(("db",))), DATASETS_DOWN, [ds("a")], within(1)) is None
    assert quick(view, DATASETS_DOWN, [ds("a")], within(1), Filter(namespaces=("db",))) is None
    assert quick(view, DATASETS_DOWN, [ds("unknown")], within(1)) is None
