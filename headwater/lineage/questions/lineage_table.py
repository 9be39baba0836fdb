"""A lineage as columns: for graphs of tens of thousands of edges, where an object for each would take longer to write
and to read than the walk takes.

A node is known by its place in the lists of `nodes`, nearest first; an edge names its ends by those places.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import chain

import msgspec

from headwater.lineage.nodes import name_nodes
from headwater.lineage.questions.lineage import (
    DEPTH_DEFAULT,
    WALK_SECONDS_MAX,
    nearest_first,
    reach,
)
from headwater.lineage.traversal.bfs import Bounds, Edge
from headwater.lineage.traversal.cached_bfs import MapWalk
from headwater.lineage.traversal.cursors import Question
from headwater.lineage.traversal.filters import EVERY_NODE, Filter
from headwater.lineage.view import GraphView

NODES_MAX = 100_000
EDGES_MAX = 200_000
CONTINUATIONS_MAX = 100


class NodeColumns(msgspec.Struct, kw_only=True):
    """The nodes, nearest first; `kind` and `name` as a lineage tells them, `distance` in hops from the nearest
    start."""

    urn: list[str]
    kind: list[str]
    namespace: list[str | None]
    name: list[str]
    distance: list[int]


class EdgeColumns(msgspec.Struct, kw_only=True):
    """The edges, by their ends; `source` and `target` are places in the columns of the nodes."""

    source: list[int]
    target: list[int]
    type: list[str]


class ContinuationColumns(msgspec.Struct, kw_only=True):
    """Nodes from which there is more, nearest first and at most a hundred: `cursor` is the `after` of the same
    question."""

    urn: list[str]
    cursor: list[str]
    omitted_count: list[int]


class LineageTable(msgspec.Struct, kw_only=True):
    """A lineage. `truncated` names the bound that cut it short: depth, nodes, edges or time; null when it is whole."""

    starts: list[str]
    nodes: NodeColumns
    edges: EdgeColumns
    truncated: str | None
    omitted_count: int
    continuations: ContinuationColumns


def lineage_table(
    view: GraphView,
    urns: Sequence[str],
    *,
    direction: str = "BOTH",
    depth: int = DEPTH_DEFAULT,
    level: str = "",
    as_of: datetime | None = None,
    where: Filter = EVERY_NODE,
    after: str | None = None,
    fresh: bool = False,
) -> LineageTable:
    """What `lineage` tells of the same question, as columns and with wider bounds. Raises as that does."""
    view = view.up_to_date() if fresh else view
    question = Question(tuple(urns), direction, depth, level.strip().upper(), as_of, where)
    bounds = Bounds.within(WALK_SECONDS_MAX, depth=depth, nodes_max=NODES_MAX, edges_max=EDGES_MAX)
    reached = reach(view, question, bounds, after)
    order = nearest_first(reached.hops)
    continuations = reached.expand(CONTINUATIONS_MAX)
    nodes = _nodes(view, order, reached.hops)
    return LineageTable(
        starts=reached.starts,
        nodes=nodes,
        edges=_edges(nodes, reached.found),
        truncated=reached.reason or None,
        omitted_count=reached.omitted_count,
        continuations=ContinuationColumns(
            urn=[one.urn for one in continuations],
            cursor=[one.cursor for one in continuations],
            omitted_count=[one.omitted_count for one in continuations],
        ),
    )


def _nodes(view: GraphView, order: list[str], hops: Mapping[str, int]) -> NodeColumns:
    names = name_nodes(view, order)
    return NodeColumns(
        urn=order,
        kind=[name.kind for name in names],
        namespace=[name.namespace for name in names],
        name=[name.name for name in names],
        distance=list(map(hops.__getitem__, order)),
    )


def _edges(nodes: NodeColumns, found: set[Edge] | list[MapWalk]) -> EdgeColumns:
    """In the order of their ends."""
    place = dict(zip(nodes.urn, range(len(nodes.urn)), strict=True))
    return (
        _columns_of_edges(place, found)
        if isinstance(found, set)
        else _columns_of_walks(nodes, place, found)
    )


def _columns_of_edges(place: Mapping[str, int], edges: Collection[Edge]) -> EdgeColumns:
    """Each is one number while they are put in order: numbers are compared fastest."""
    types = sorted({edge[2] for edge in edges})
    code = {type: index for index, type in enumerate(types)}
    kinds, nodes = len(types) or 1, len(place) or 1
    keys = sorted(
        (place[source] * nodes + place[target]) * kinds + code[type]
        for source, target, type in edges
    )
    return EdgeColumns(
        source=[key // kinds // nodes for key in keys],
        target=[key // kinds % nodes for key in keys],
        type=[types[key % kinds] for key in keys],
    )


def _columns_of_walks(
    nodes: NodeColumns, place: Mapping[str, int], walks: list[MapWalk]
) -> EdgeColumns:
    """Two nodes of the map have one edge, and their kinds tell its type."""
    count = len(nodes.urn)
    keys: list[int] = []
    for walk in walks:
        ways = [walk.ways.get(urn, ()) for urn in nodes.urn]
        near = (at for at, some in enumerate(ways) for _ in some)
        far = map(place.__getitem__, chain.from_iterable(ways))
        ends = zip(far, near, strict=True) if walk.upstream else zip(near, far, strict=True)
        keys += [source * count + target for source, target in ends]
    keys = sorted(keys if len(walks) == 1 else set(keys))
    source = [key // count for key in keys]
    target = [key % count for key in keys]
    made = [kind == "JOB" for kind in nodes.kind]
    return EdgeColumns(
        source=source,
        target=target,
        type=[
            "PRODUCED" if made[one] > made[other] else "FEEDS"
            for one, other in zip(source, target, strict=True)
        ],
    )
