"""Lineage lifted to a level of containment: the DAG instead of its tasks, the application instead of its queries.

A job or run is shown as what contains it at that level: at `TOP` the outermost one, at any other level the nearest one
of that type (the jobType facet: DAG, TASK, APPLICATION, SQL_JOB, ...), or itself where nothing that contains it is of
that type. Where two contain it equally near, the one with the smaller urn. A container that may not be seen is passed
over: at `TOP` the farthest that may be seen stands for it. What is left with both ends in one place is
dropped: edges within a container, and a container's reading of what it makes itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headwater.cypher.driver.database import Row
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.node_visibility import hidden
from headwater.lineage.view import GraphView

TOP = "TOP"
_URNS_PER_QUERY_MAX = 2_000
_QUERIES = {"job:": "read/nodes/job_containers", "run:": "read/nodes/run_containers"}


def containers(view: GraphView, urns: Iterable[str], level: str) -> dict[str, str]:
    """The urn by which each of these jobs and runs is shown at a level; without an entry: itself."""
    found: dict[str, str] = {}
    wanted = list(urns)
    for prefix, query in _QUERIES.items():
        some = [urn for urn in wanted if urn.startswith(prefix)]
        for start in range(0, len(some), _URNS_PER_QUERY_MAX):
            rows = view.read(query, urns=some[start : start + _URNS_PER_QUERY_MAX])
            for row in _in_sight(view, rows):
                at_level = (
                    row["outermost"] if level == TOP else (row["type"] or "").upper() == level
                )
                # The nearest come first; of the outermost ones the farthest would do as well, if there were two.
                if at_level and row["urn"] not in found:
                    found[row["urn"]] = row["container"]
    return found


def _in_sight(view: GraphView, rows: list[Row]) -> list[Row]:
    """These rows without containers that may not be seen; the farthest of those left is the outermost."""
    if view.visibility.is_unrestricted:
        return rows
    unseen = hidden(view, (row["container"] for row in rows))
    seen = [row for row in rows if row["container"] not in unseen]
    farthest: dict[str, int] = {}
    for row in seen:
        farthest[row["urn"]] = max(row["up"], farthest.get(row["urn"], 0))
    return [{**row, "outermost": row["up"] == farthest[row["urn"]]} for row in seen]


def lift(
    hops: Mapping[str, int], edges: Iterable[Edge], shown_as: Mapping[str, str]
) -> tuple[dict[str, int], set[Edge]]:
    """Nodes with their hops, and edges, at the level at which jobs and runs are shown as their containers."""
    lifted = {
        Edge(shown_as.get(e.source, e.source), shown_as.get(e.target, e.target), e.type)
        for e in edges
    }
    made = {(edge.source, edge.target) for edge in lifted if edge.type == "PRODUCED"}
    kept = {edge for edge in lifted if edge.source != edge.target and not _is_own(edge, made)}
    nodes: dict[str, int] = {}
    for urn, hop in hops.items():
        shown = shown_as.get(urn, urn)
        nodes[shown] = min(hop, nodes.get(shown, hop))
    return nodes, kept


def _is_own(edge: Edge, made: set[tuple[str, str]]) -> bool:
    return edge.type == "FEEDS" and (edge.target, edge.source) in made
