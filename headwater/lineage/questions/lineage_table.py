"""A lineage as columns, for tens of thousands of edges.

An object for each edge would take longer to write and read than the traversal takes. A node is
known by its position in the lists of `nodes`, nearest first. An edge names its ends by positions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import chain

import msgspec

from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.nodes import name_nodes
from headwater.lineage.traversal.cached_bfs import CachedTraversal, edge_type
from headwater.lineage.traversal.reach import nearest_first, reach
from headwater.lineage.traversal.request import LineageRequest
from headwater.lineage.view import GraphView

NODES_MAX = 100_000
EDGES_MAX = 200_000
CONTINUATIONS_MAX = 100


class NodeColumns(msgspec.Struct, kw_only=True):
    """The nodes, nearest first. `distance` is in hops from the nearest start."""

    urn: list[str]
    kind: list[str]
    namespace: list[str | None]
    name: list[str]
    distance: list[int]


class EdgeColumns(msgspec.Struct, kw_only=True):
    """The edges, in the order of their ends, which are positions in the columns of the nodes."""

    source: list[int]
    target: list[int]
    type: list[str]


class ContinuationColumns(msgspec.Struct, kw_only=True):
    """At most a hundred nodes from which there is more, nearest first.

    `cursor` is the `after` of the same request.
    """

    urn: list[str]
    cursor: list[str]
    omitted_count: list[int]


class LineageTable(msgspec.Struct, kw_only=True):
    """A lineage as columns.

    `truncated` names the bound that cut it short: depth, nodes, edges or time; null without one.
    """

    starts: list[str]
    nodes: NodeColumns
    edges: EdgeColumns
    truncated: str | None
    omitted_count: int
    continuations: ContinuationColumns


def lineage_table(view: GraphView, request: LineageRequest) -> LineageTable:
    """Return a lineage as columns, with wider bounds than `lineage`. Raises as that does."""
    if request.fresh:
        view = view.up_to_date()
    request = replace(request, nodes_max=NODES_MAX, edges_max=EDGES_MAX)
    reached = reach(view, request, request.bounds())
    continuations = reached.continuations(CONTINUATIONS_MAX)
    nodes = _node_columns(view, reached.distances)
    return LineageTable(
        starts=reached.starts,
        nodes=nodes,
        edges=_edge_columns(nodes, reached.edges_or_traversals),
        truncated=reached.reason or None,
        omitted_count=reached.omitted_count,
        continuations=ContinuationColumns(
            urn=[continuation.urn for continuation in continuations],
            cursor=[continuation.cursor for continuation in continuations],
            omitted_count=[continuation.omitted_count for continuation in continuations],
        ),
    )


def _node_columns(view: GraphView, distances: Mapping[str, int]) -> NodeColumns:
    urns = nearest_first(distances)
    names = name_nodes(view, urns)
    return NodeColumns(
        urn=urns,
        kind=[name.kind for name in names],
        namespace=[name.namespace for name in names],
        name=[name.name for name in names],
        distance=list(map(distances.__getitem__, urns)),
    )


def _edge_columns(nodes: NodeColumns, edges: set[Edge] | list[CachedTraversal]) -> EdgeColumns:
    positions = dict(zip(nodes.urn, range(len(nodes.urn)), strict=True))
    if isinstance(edges, set):
        return _columns_of_edges(positions, edges)
    return _columns_of_traversals(nodes, positions, edges)


def _columns_of_edges(positions: Mapping[str, int], edges: Collection[Edge]) -> EdgeColumns:
    """Return edges as columns; each is one number while sorting, since numbers compare fastest."""
    types = sorted({edge[2] for edge in edges})
    code = {type: index for index, type in enumerate(types)}
    type_count, node_count = len(types) or 1, len(positions) or 1
    keys = sorted(
        (positions[source] * node_count + positions[target]) * type_count + code[type]
        for source, target, type in edges
    )
    return EdgeColumns(
        source=[key // type_count // node_count for key in keys],
        target=[key // type_count % node_count for key in keys],
        type=[types[key % type_count] for key in keys],
    )


def _columns_of_traversals(
    nodes: NodeColumns, positions: Mapping[str, int], traversals: list[CachedTraversal]
) -> EdgeColumns:
    """Return the edges of cached traversals as columns.

    Two nodes of the lineage graph have at most one edge, and the kinds of its ends give its type.
    """
    count = len(nodes.urn)
    keys: list[int] = []
    for traversal in traversals:
        next_nodes = [traversal.next_nodes.get(urn, ()) for urn in nodes.urn]
        near = (position for position, some in enumerate(next_nodes) for _ in some)
        far = map(positions.__getitem__, chain.from_iterable(next_nodes))
        ends = zip(far, near, strict=True) if traversal.upstream else zip(near, far, strict=True)
        keys += [source * count + target for source, target in ends]
    keys = sorted(keys if len(traversals) == 1 else set(keys))
    source = [key // count for key in keys]
    target = [key % count for key in keys]
    is_job = [kind == "JOB" for kind in nodes.kind]
    types = [edge_type(is_job[near], is_job[far]) for near, far in zip(source, target, strict=True)]
    return EdgeColumns(source=source, target=target, type=types)
