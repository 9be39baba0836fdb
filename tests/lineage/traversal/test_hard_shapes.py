"""F27: a supernode, a long chain, cycles, and diamonds with 2^20 paths.

Each question gets its whole answer or a part that names its bound, within its time, and in a memory
that follows from the bounds and not from the graph. Neo4j and the lineage cache answer alike.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.cache.cache_refresher import CacheRefresher
from headwater.lineage.cache.lineage_cache import (
    CachedDataset,
    CachedJob,
    CachedOutput,
    LineageCache,
)
from headwater.lineage.node_names import node_name
from headwater.lineage.questions.lineage import Lineage
from headwater.lineage.traversal.request import (
    DEPTH_MAX,
    EDGES_MAX,
    NODES_MAX,
    TRAVERSAL_SECONDS_MAX,
)
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.faults.checker import scaled
from tests.faults.processes import slack
from tests.lineage.traversal.shapes import JobShape, datasets_of, write_shapes
from tests.lineage_requests import lineage
from tests.run_builders import ds, job

pytestmark = pytest.mark.neo4j

READERS = min(scaled(20_000), 100_000)
LINKS = 10_000
TURNS = 40
PAIRS = 20
# A traversal of the bounds in Python takes about 20 MB; the graph of the supernode would take more.
MEMORY_BYTES_MAX = 64 * 2**20
# A traversal looks at its deadline between two statements.
GRACE_SECONDS = 2.0
PATIENT_SECONDS = 300.0


def shapes() -> list[JobShape]:
    diamonds = [
        JobShape(f"{side}{i}", [f"left{i}", f"right{i}"], [f"{side}{i + 1}"])
        for i in range(PAIRS)
        for side in ("left", "right")
    ]
    return [
        *(JobShape(f"reader{i}", ["hub"], []) for i in range(READERS)),
        *(JobShape(f"link{i}", [f"chain{i}"], [f"chain{i + 1}"]) for i in range(LINKS)),
        # A ring, of which each job also writes what it reads.
        *(
            JobShape(f"turn{i}", [f"ring{i}"], [f"ring{i}", f"ring{(i + 1) % TURNS}"])
            for i in range(TURNS)
        ),
        *diamonds,
    ]


JOBS = shapes()
DATASETS = datasets_of(JOBS)


@pytest.fixture(scope="module")
def graph(database: Database) -> Iterator[Database]:
    empty(database)
    write_shapes(database, JOBS)
    yield database
    empty(database)


class FilledCache(CacheRefresher):
    """A cache that holds the shapes and is current."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._content = LineageCache()
        self._content.replace_entries(
            {ds(name): CachedDataset(node_name(ds(name), {})) for name in DATASETS}
            | {
                job(shape.name): CachedJob(
                    node_name(job(shape.name), {}),
                    tuple(map(ds, shape.inputs)),
                    tuple(CachedOutput(ds(name), (), False) for name in shape.outputs),
                )
                for shape in JOBS
            }
        )

    def current(self) -> LineageCache | None:
        return self._content


@pytest.fixture(scope="module", params=["neo4j", "cache"])
def view(graph: Database, request: pytest.FixtureRequest) -> GraphView:
    return GraphView(graph, cache=FilledCache(graph) if request.param == "cache" else None)


def ask(view: GraphView, name: str, **options: object) -> Lineage:
    """Return the lineage downstream of a dataset; assert that its time and its memory are bounded.

    On a busy machine the first question may be cut by its time. The second one, of which the memory
    is measured, has time enough for every other bound.
    """
    asked = {"direction": "DOWNSTREAM", "depth": DEPTH_MAX, **options}
    began = time.monotonic()
    first = lineage(view, ds(name), **asked)
    seconds = time.monotonic() - began
    tracemalloc.start()
    try:
        found = lineage(view, ds(name), timeout_seconds=PATIENT_SECONDS, **asked)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    print(
        f"{name}: {len(found.nodes)} nodes, {len(found.edges)} edges, cut by "
        f"{found.reason or 'nothing'} (at first by {first.reason or 'nothing'} in {seconds:.2f} s), "
        f"{peak / 2**20:.1f} MB"
    )
    assert first.reason in (found.reason, "time")
    assert seconds < (TRAVERSAL_SECONDS_MAX + GRACE_SECONDS) * slack()
    assert peak < MEMORY_BYTES_MAX
    assert len(found.nodes) <= NODES_MAX
    assert len(found.edges) <= EDGES_MAX
    assert len({node.urn for node in found.nodes}) == len(found.nodes)
    return found


def test_a_supernode_is_cut_at_the_bound_of_nodes(view: GraphView) -> None:
    found = ask(view, "hub")
    assert (found.reason, len(found.nodes)) == ("nodes", NODES_MAX)
    few = ask(view, "hub", nodes_max=10)
    assert (few.reason, len(few.nodes)) == ("nodes", 10)


def test_a_long_chain_is_followed_piece_by_piece(view: GraphView) -> None:
    found = ask(view, "chain0")
    assert (found.reason, max(found.distances.values())) == ("depth", DEPTH_MAX)
    assert len(found.nodes) == 2 * DEPTH_MAX + 1
    (continuation,) = found.continuations
    assert continuation.urn == ds(f"chain{DEPTH_MAX}")
    further = ask(view, f"chain{LINKS - DEPTH_MAX}")
    assert (further.reason, further.distances[ds(f"chain{LINKS}")]) == ("", DEPTH_MAX)


def test_a_cycle_is_walked_once(view: GraphView) -> None:
    found = ask(view, "ring0", direction="BOTH")
    assert (found.reason, len(found.nodes)) == ("", 2 * TURNS)
    assert len(found.edges) == 3 * TURNS


def test_each_node_of_2_to_the_20_paths_is_expanded_once(view: GraphView) -> None:
    found = ask(view, "left0")
    assert (found.reason, len(found.nodes)) == ("", 1 + 2 * 2 * PAIRS)
    between = ask(view, "left0", to=ds(f"right{PAIRS}"))
    assert between.reason == ""
    assert len(between.nodes) == 1 + 2 * 2 * PAIRS - 2
