"""Where a traversal that was cut short can resume, and how many known neighbours it omits there."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from headwater.lineage.traversal.request import HIDDEN_ONLY, ResumePoint
from headwater.lineage.traversal.traversal import Progress, Traversal


def look_ahead(traversal: Traversal) -> Traversal:
    """Return a copy about to make one more hop from its resume points, without bounds on nodes and
    edges."""
    points = _resume_points(traversal)
    frontier = [urn for urn, point in points.items() if point[:1] != HIDDEN_ONLY]
    progress = traversal.progress
    ahead = Traversal(
        [],
        traversal.adjacency,
        traversal.bounds._replace(nodes_max=inf, edges_max=inf),
        {**traversal.resume_from, **points},
    )
    ahead.nodes, ahead.edges = dict(traversal.nodes), set(traversal.edges)
    ahead.frontier, ahead.hop = frontier, traversal.hop
    ahead.progress = replace(
        Progress(),
        entered_jobs=set(progress.entered_jobs),
        expanded=progress.expanded - set(frontier),
    )
    return ahead


def set_resume_points(traversal: Traversal, ahead: Traversal) -> None:
    """Set the resume points of a traversal, and the neighbours that it omits, from the hop made
    ahead of it."""
    points = _resume_points(traversal)
    further: dict[str, set[str]] = {}
    for edge in ahead.edges - traversal.edges:
        near, far = traversal.ends_of(edge)
        further.setdefault(near, set()).add(far)
    has_more = {urn for urn in further if urn in points}
    if traversal.truncated in {"", "depth"} and (has_more or traversal.truncated):
        traversal.truncated = "depth"
        points = {
            urn: point
            for urn, point in points.items()
            if urn in has_more or point[:1] == HIDDEN_ONLY
        }
    traversal.resume_points = points if traversal.truncated else {}
    for urn, point in traversal.resume_points.items():
        traversal.omitted_neighbours[urn] = _omitted(traversal, urn, point, further)


def _omitted(
    traversal: Traversal, urn: str, point: ResumePoint, further: dict[str, set[str]]
) -> set[str]:
    """Return the visible nodes next to a resume point that are not shown."""
    from_nodes = {urn, str(point[1])} if point[:1] == (1,) else {urn}
    omitted: set[str] = set()
    for near in from_nodes & traversal.nodes.keys():
        omitted.update(further.get(near, ()))
    return {far for far in omitted if far not in traversal.nodes and not traversal.is_hidden(far)}


def _resume_points(traversal: Traversal) -> dict[str, ResumePoint]:
    """Return the nodes from which a traversal could resume if it were cut short now."""
    waiting = [*traversal.progress.unexpanded, *traversal.pending, *traversal.frontier]
    points = {
        urn: traversal.resume_from.get(urn, ())
        for urn in waiting
        if urn not in traversal.adjacency.hidden
    } | traversal.resume_points
    if not (traversal.hidden_paths.omitted or traversal.adjacency.exhausted):
        return points
    # Any hidden path may lead to an omitted node; naming the path that does would disclose it. So
    # every visible node before a hidden path becomes a resume point.
    outward = _points_into_hidden_paths(traversal)
    # A node with nothing left but hidden paths resumes where these were cut short.
    near_start = {
        urn: point
        for urn, point in points.items()
        if not HIDDEN_ONLY < point < outward.get(urn, ())
    }
    return outward | near_start


def _points_into_hidden_paths(traversal: Traversal) -> dict[str, ResumePoint]:
    points: dict[str, ResumePoint] = {}
    for edge in traversal.edges:
        near, far = traversal.ends_of(edge)
        if traversal.is_hidden(far) and not traversal.is_hidden(near):
            point = _point_into_hidden_paths(traversal, near)
            if point:
                points[near] = point
    return points


def _point_into_hidden_paths(traversal: Traversal, urn: str) -> ResumePoint:
    """Return where the hidden paths from a node resume; the empty point if nothing of them is left.

    They resume at the first omitted end, and not before the point from which this traversal itself
    resumed.
    """
    resumed = traversal.resume_from.get(urn, ())
    first = str(resumed[1]) if resumed[:1] == HIDDEN_ONLY and len(resumed) > 1 else ""
    left = sorted(far for far in traversal.hidden_paths.omitted if far >= first)
    return (3, *left[:1]) if left or traversal.adjacency.exhausted else ()
