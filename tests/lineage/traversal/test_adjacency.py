"""The six maps of an adjacency, and the checks of the nodes that it meets."""

from __future__ import annotations

import time
from typing import cast

from headwater.cypher.driver.database import Database
from headwater.lineage.traversal.filters import EVERY_NODE, Filter
from headwater.lineage.traversal.layers import DATASETS_DOWN, DATASETS_UP, Layer
from headwater.lineage.traversal.neo4j_adjacency import Neo4jAdjacency
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.view import GraphView
from tests.graph_model import LineageModel, ds, job


def bounds_of(seconds: float = 60.0) -> Bounds:
    """Return bounds whose time ends so many seconds from now."""
    return Bounds.within(seconds, depth=9, nodes_max=99, edges_max=99)


def graph() -> LineageModel:
    """Job j1 reads a and writes b, which derives from a, and c; j1 feeds j2."""
    sample = LineageModel().add("j1", ["a"], ["b", "c"], derived={"b": ["a"]})
    sample.feeds.add((job("j1"), job("j2")))
    return sample


def loaded(
    sample: LineageModel,
    layer: Layer,
    *urns: str,
    bounds: Bounds | None = None,
    rows_max: int = 0,
    filter: Filter = EVERY_NODE,
) -> Neo4jAdjacency:
    view = GraphView(cast(Database, sample), sample.visibility)
    request = TraversalRequest(
        layer, bounds or bounds_of(), shared_rows_max=rows_max, filter=filter
    )
    adjacency = Neo4jAdjacency(view, request)
    adjacency.admit_starts(urns)
    adjacency.load(urns)
    return adjacency


def test_maps_downstream() -> None:
    down = loaded(graph(), DATASETS_DOWN, ds("a"))
    assert down.producers_or_consumers == {ds("a"): [job("j1")]}
    assert sorted(down.inputs_or_outputs[job("j1")]) == [ds("b"), ds("c")]
    assert down.reached_from_any == {job("j1"): [ds("c")]}
    assert down.reached_from == {(ds("a"), job("j1")): [ds("b")]}
    assert down.closed_entries == set()
    assert down.direct_neighbours == {job("j1"): [job("j2")]}


def test_maps_upstream() -> None:
    up = loaded(graph(), DATASETS_UP, ds("b"), ds("c"))
    assert up.producers_or_consumers == {ds("b"): [job("j1")], ds("c"): [job("j1")]}
    assert up.inputs_or_outputs == up.reached_from_any == {job("j1"): [ds("a")]}
    assert up.closed_entries == {(ds("b"), job("j1"))}
    assert up.reached_from == {(ds("b"), job("j1")): [ds("a")]}


def test_filter_never_checks_hidden_nodes() -> None:
    sample = LineageModel().add("h1", ["a"], ["b"]).restricted()
    filtered = loaded(sample, DATASETS_DOWN, ds("a"), filter=Filter(job_types=("OTHER",)))
    assert (filtered.hidden, filtered.rejected) == ({job("h1")}, set())
    plain = LineageModel().add("j1", ["a"], ["b"])
    filtered = loaded(plain, DATASETS_DOWN, ds("a"), filter=Filter(job_types=("OTHER",)))
    assert (filtered.hidden, filtered.rejected) == (set(), {job("j1")})


def test_exhausted_names_the_bound() -> None:
    late = bounds_of()._replace(deadline=time.monotonic() - 1)
    assert loaded(graph(), DATASETS_DOWN, ds("a"), bounds=late).exhausted == "time"
    assert loaded(graph(), DATASETS_DOWN, ds("a"), rows_max=1).exhausted == "edges"
    assert loaded(graph(), DATASETS_DOWN, ds("a")).exhausted == ""
