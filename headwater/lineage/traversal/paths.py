"""The nodes and edges on the paths between two nodes: what one reaches, cut with what leads to the
other."""

from __future__ import annotations

from dataclasses import replace

from headwater.errors import QueryError
from headwater.lineage.traversal.reach import ReachResult, reach
from headwater.lineage.traversal.request import Bounds, LineageRequest
from headwater.lineage.view import GraphView


def reach_between(view: GraphView, request: LineageRequest, bounds: Bounds) -> ReachResult:
    """Return what lies on the paths between the starts of a request and its `to`.

    Paths follow the direction of the request. BOTH takes the paths downstream, or else upstream.
    `depth` bounds the hops from either end. Without a path the result has no nodes.
    Raises NotFoundError for an unknown end, QueryError for an argument that excludes `to`.
    """
    if request.between is not None or request.after:
        raise QueryError(
            "`to` cannot be combined with `between` or `after`", hint="Ask for one of them."
        )
    if request.direction == "UPSTREAM":
        return _reach_one_way(view, request, bounds, "UPSTREAM", "DOWNSTREAM")
    found = _reach_one_way(view, request, bounds, "DOWNSTREAM", "UPSTREAM")
    if found.distances or request.direction == "DOWNSTREAM":
        return found
    upstream = _reach_one_way(view, request, bounds, "UPSTREAM", "DOWNSTREAM")
    return upstream if upstream.distances else found


def _reach_one_way(
    view: GraphView, request: LineageRequest, bounds: Bounds, forward: str, backward: str
) -> ReachResult:
    """Return what the starts reach in one direction and the end reaches in the other."""
    own = replace(request, to="")
    from_starts = reach(view, replace(own, direction=forward), bounds)
    from_end = reach(view, replace(own, urns=(request.to,), direction=backward), bounds)
    distances = {
        urn: hops for urn, hops in from_starts.distances.items() if urn in from_end.distances
    }
    # Beyond the other end a bound cuts nothing off that belongs to a path.
    reasons = (from_starts.reason, from_end.reason)
    reason = next((one for one in reasons if one and one != "depth"), "")
    if not distances and not reason:
        reason = reasons[0] and reasons[1]
    return replace(
        from_starts,
        distances=distances,
        edges_or_traversals=from_starts.edges & from_end.edges,
        reason=reason,
        omitted_count=0,
        positions=[],
    )
