"""The two main questions: the lineage of nodes, and the trace of an answer back to its sources.

`lineage` starts from any nodes and stays in one layer: datasets and jobs, columns, or the run
history. A level moves the starts to another layer (`traversal.starts`) or groups the result by
container (`traversal.grouping`). `trace` goes from an answer back to its sources, with every run
and version between. Both raise NotFoundError for an unknown start and QueryError for an invalid
argument. The result of either names the bound that truncated it. Stubs replace hidden nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.node_names import NodeName
from headwater.lineage.nodes import name_nodes, read_nodes, require_node
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.engine import is_answered_from_cache
from headwater.lineage.traversal.layers import RUNS_UP
from headwater.lineage.traversal.paths import reach_between
from headwater.lineage.traversal.reach import Continuation, ReachResult, nearest_first, reach
from headwater.lineage.traversal.request import (
    EDGES_MAX,
    NODES_MAX,
    TRAVERSAL_SECONDS_MAX,
    Bounds,
    LineageRequest,
    TraversalRequest,
)
from headwater.lineage.view import GraphView
from headwater.schema.urns import answer_urn

TRACE_HOPS_MAX = 200
# A cached search of this size runs on the event loop: a thread would take longer to start it.
ON_LOOP_NODES_MAX = 300


@dataclass(frozen=True)
class Difference:
    """The nodes and edges of the lineage graph that differ between two instants."""

    added_nodes: list[NodeName]
    removed_nodes: list[NodeName]
    added_edges: list[Edge]
    removed_edges: list[Edge]


@dataclass(frozen=True)
class Lineage:
    """The nodes reached, nearest first, and the edges between them.

    `reason` names the bound that cut it short: depth, nodes, edges or time. `start` and `starts`
    are canonical urns, at the level of the request. `distances` are hops from the nearest start.
    `omitted_count` is the number of known neighbours of the shown nodes that are not shown; hidden
    nodes are not counted.
    """

    nodes: list[NodeName]
    edges: list[Edge]
    reason: str = ""
    start: str = ""
    starts: list[str] = field(default_factory=list)
    distances: dict[str, int] = field(default_factory=dict)
    omitted_count: int = 0
    continuations: list[Continuation] = field(default_factory=list)
    difference: Difference | None = None

    @property
    def truncated(self) -> bool:
        """Return True if a bound cut it short."""
        return bool(self.reason)


@dataclass(frozen=True)
class Trace:
    """An answer and all nodes upstream of it, each as its properties, nearest first."""

    answer: Row
    sources: list[Row]
    artifacts: list[Row]
    runs: list[Row]
    answers: list[Row]
    columns: list[Row]
    edges: list[Edge]
    reason: str = ""

    @property
    def truncated(self) -> bool:
        """Return True if a bound cut it short."""
        return bool(self.reason)

    @property
    def rows(self) -> dict[str, Row]:
        """Return the properties of every node by urn; a stub has none."""
        nodes = (
            self.answer,
            *self.sources,
            *self.artifacts,
            *self.runs,
            *self.answers,
            *self.columns,
        )
        return {row["urn"]: row for row in nodes}


def lineage(view: GraphView, request: LineageRequest) -> Lineage:
    """Return the lineage upstream or downstream of nodes, or both."""
    # The two instants of a comparison share the time.
    bounds = request.bounds()
    if request.fresh:
        view = view.up_to_date()
    if request.to:
        return _named(view, reach_between(view, request, bounds))
    if request.between is None:
        return _named(view, reach(view, request, bounds))
    if request.as_of is not None or request.after:
        raise QueryError(
            "`between` cannot be combined with `asOf` or `after`", hint="Ask for one of them."
        )
    before, later = (
        _named(view, reach(view, replace(request, as_of=instant, between=None), bounds))
        for instant in request.between
    )
    return replace(
        later,
        reason=later.reason or before.reason,
        continuations=[],
        difference=_difference(before, later),
    )


def answer_from_cache(view: GraphView, request: LineageRequest) -> Lineage | None:
    """Return a small lineage from the cache alone, or None if only `lineage` can answer.

    It takes so little time that the caller may call it on the event loop. Raises as `lineage` does.
    """
    if not is_answered_from_cache(view, request):
        return None
    result = lineage(view, replace(request, nodes_max=min(request.nodes_max, ON_LOOP_NODES_MAX)))
    return result if result.reason in {"", "depth"} else None


def trace(
    view: GraphView,
    answer_id: str,
    *,
    nodes_max: int = NODES_MAX,
    edges_max: int = EDGES_MAX,
    timeout_seconds: float = TRAVERSAL_SECONDS_MAX,
) -> Trace:
    """Trace an answer through citations, versions and runs back to its sources."""
    urn = answer_urn(answer_id)
    answer = require_node(view, urn)
    bounds = Bounds.within(
        timeout_seconds, depth=TRACE_HOPS_MAX, nodes_max=nodes_max, edges_max=edges_max
    )
    request = TraversalRequest(RUNS_UP, bounds, prefetch=True, find_resume_points=False)
    traversal = traverse(view, request, {urn: [urn]})[urn]
    urns = nearest_first(traversal.nodes)
    rows = read_nodes(view, urns)
    return Trace(
        answer=answer,
        sources=_rows_of_kind("source", urns, rows),
        artifacts=_rows_of_kind("artifact", urns, rows),
        runs=_rows_of_kind("run", urns, rows),
        answers=[row for row in _rows_of_kind("answer", urns, rows) if row["urn"] != urn],
        columns=_rows_of_kind("column", urns, rows),
        edges=sorted(traversal.edges),
        reason=traversal.truncated,
    )


def _named(view: GraphView, reached: ReachResult) -> Lineage:
    """Name the reached nodes."""
    return Lineage(
        nodes=name_nodes(view, nearest_first(reached.distances)),
        edges=sorted(reached.edges),
        reason=reached.reason,
        start=reached.starts[0],
        starts=reached.starts,
        distances=reached.distances,
        omitted_count=reached.omitted_count,
        continuations=reached.continuations(),
    )


def _difference(before: Lineage, after: Lineage) -> Difference:
    return Difference(
        added_nodes=[node for node in after.nodes if node.urn not in before.distances],
        removed_nodes=[node for node in before.nodes if node.urn not in after.distances],
        added_edges=sorted(set(after.edges) - set(before.edges)),
        removed_edges=sorted(set(before.edges) - set(after.edges)),
    )


def _rows_of_kind(kind: str, urns: Iterable[str], rows: dict[str, Row]) -> list[Row]:
    return [rows[urn] for urn in urns if urn.startswith(f"{kind}:") and urn in rows]
