"""Answer a lineage request by urns: the nodes and edges reached, and where to continue.

`questions.lineage` turns the result into objects, `questions.lineage_table` into columns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from headwater.errors import QueryError
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.nodes import require_node
from headwater.lineage.pagination import require_between
from headwater.lineage.traversal.bfs import traverse_from
from headwater.lineage.traversal.cached_bfs import CachedTraversal
from headwater.lineage.traversal.cursors import CursorPosition, decode_position, encode_position
from headwater.lineage.traversal.grouping import find_containers, group
from headwater.lineage.traversal.layers import Layer
from headwater.lineage.traversal.request import (
    DEPTH_MAX,
    DIRECTIONS,
    Bounds,
    LineageRequest,
    ResumePoint,
    TraversalRequest,
)
from headwater.lineage.traversal.starts import LAYER_LEVELS, Starts, find_starts
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView


@dataclass(frozen=True)
class Continuation:
    """A node at which the traversal can continue, and the cursor for that.

    `omitted_count` is the number of known nodes next to it that are not shown; 0 if they are
    unknown or hidden.
    """

    urn: str
    cursor: str
    omitted_count: int


@dataclass(frozen=True)
class ReachResult:
    """The nodes that a request reached, each with its distance in hops, in no order.

    `edges_or_traversals` holds the edges, or the cached traversals that build them on demand.
    `positions` holds, nearest first: the urn by which a node is shown, the position of its cursor,
    and the number of its omitted neighbours.
    """

    request: LineageRequest
    starts: list[str]
    distances: dict[str, int]
    edges_or_traversals: set[Edge] | list[CachedTraversal]
    reason: str
    omitted_count: int
    positions: list[tuple[str, CursorPosition, int]]

    @property
    def edges(self) -> set[Edge]:
        """Return the edges as objects."""
        edges = self.edges_or_traversals
        return edges if isinstance(edges, set) else _all_edges(edges)

    def continuations(self, limit: int | None = None) -> list[Continuation]:
        """Return the nodes at which the traversal can continue, nearest first."""
        return [
            Continuation(urn, encode_position(self.request, position), omitted)
            for urn, position, omitted in self.positions[:limit]
        ]


def reach(view: GraphView, request: LineageRequest, bounds: Bounds) -> ReachResult:
    """Traverse from the starts of a request, in each direction that it asks for.

    Raises NotFoundError for an unknown start, QueryError for an invalid argument.
    """
    if request.direction not in DIRECTIONS:
        raise QueryError(f"direction {request.direction!r} is none of {', '.join(DIRECTIONS)}")
    require_between("depth", request.depth, 1, DEPTH_MAX)
    starts = find_starts(view, request)
    layers = _layers_of(starts, request.direction)
    resume_from: dict[str, ResumePoint] = {}
    distance = 0
    if request.after:
        position = decode_position(request, request.after)
        urn = str(require_node(view, position.urn)["urn"])
        starts = starts._replace(urns=[urn], is_cut=False)
        layers = [starts.upward if position.upstream else starts.downward]
        resume_from, distance = {urn: position.point}, position.hops
    traversals = [
        traverse_from(
            view,
            TraversalRequest(
                layer,
                bounds,
                as_of=request.as_of,
                filter=request.filter,
                resume_from=resume_from,
            ),
            starts.urns,
        )
        for layer in layers
    ]
    return _joined(view, request, traversals, starts, distance)


def nearest_first(distances: Mapping[str, int]) -> list[str]:
    """Return the nodes by distance, those at equal distance by urn.

    Sorting several long lists of urns takes a fraction of the time of sorting pairs.
    """
    by_distance: dict[int, list[str]] = defaultdict(list)
    for urn, distance in distances.items():
        by_distance[distance].append(urn)
    return [urn for distance in sorted(by_distance) for urn in sorted(by_distance[distance])]


def _layers_of(starts: Starts, direction: str) -> list[Layer]:
    if direction == "UPSTREAM":
        return [starts.upward]
    if direction == "DOWNSTREAM":
        return [starts.downward]
    return [starts.upward, starts.downward]


def _joined(
    view: GraphView,
    request: LineageRequest,
    traversals: list[Traversal | CachedTraversal],
    starts: Starts,
    distance: int,
) -> ReachResult:
    """Join the traversals of a request. `distance` is the number of hops from the start of the
    request to the start of the traversals, when a cursor resumes."""
    distances = _distances(traversals, distance)
    level = request.canonical_level
    is_grouped = bool(level) and level not in LAYER_LEVELS
    shown_as = find_containers(view, distances, level) if is_grouped else {}
    omitted: set[str] = set()
    for traversal in traversals:
        for neighbours in traversal.omitted_neighbours.values():
            omitted.update(far for far in neighbours if far not in distances)
    positions = _positions(traversals, distances, shown_as)
    reason = next((traversal.truncated for traversal in traversals if traversal.truncated), "")
    edges: set[Edge] | list[CachedTraversal]
    cached = [traversal for traversal in traversals if isinstance(traversal, CachedTraversal)]
    if shown_as:
        distances, edges = group(distances, _all_edges(traversals), shown_as)
    else:
        edges = cached if len(cached) == len(traversals) else _all_edges(traversals)
    return ReachResult(
        request=request,
        starts=list(dict.fromkeys(shown_as.get(urn, urn) for urn in starts.urns)),
        distances=distances,
        edges_or_traversals=edges,
        reason=reason or ("nodes" if starts.is_cut else ""),
        omitted_count=len(omitted),
        positions=positions,
    )


def _all_edges(traversals: Sequence[Traversal | CachedTraversal]) -> set[Edge]:
    if len(traversals) == 1:
        return traversals[0].edges
    return set(chain.from_iterable(traversal.edges for traversal in traversals))


def _distances(traversals: Sequence[Traversal | CachedTraversal], distance: int) -> dict[str, int]:
    if len(traversals) == 1 and not distance:
        return traversals[0].nodes
    distances: dict[str, int] = {}
    for traversal in traversals:
        for node, hops in traversal.nodes.items():
            if distance + hops <= distances.get(node, distance + hops):
                distances[node] = distance + hops
    return distances


def _positions(
    traversals: list[Traversal | CachedTraversal],
    distances: Mapping[str, int],
    shown_as: Mapping[str, str],
) -> list[tuple[str, CursorPosition, int]]:
    positions = []
    for traversal in traversals:
        points = traversal.resume_points
        for urn in nearest_first({urn: distances[urn] for urn in points}):
            position = CursorPosition(urn, traversal.upstream, distances[urn], points[urn])
            neighbours = traversal.omitted_neighbours.get(urn, ())
            omitted = sum(far not in distances for far in neighbours)
            positions.append((shown_as.get(urn, urn), position, omitted))
    return positions
