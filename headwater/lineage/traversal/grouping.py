"""Lineage grouped by containment: the DAG instead of its tasks, the application instead of its
queries.

A job or run is shown as its container at a level. The level `TOP` is the outermost container. Any
other level is the nearest container of that type (the jobType facet: DAG, TASK, APPLICATION,
SQL_JOB, ...). A node without such a container is shown as itself. Of two containers at equal
distance, the one with the smaller urn counts. A container that the caller may not see is passed
over: at `TOP` the farthest visible one replaces it. Edges with both ends in one container are
dropped, and so are edges from a container to itself over its own outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.view import GraphView

TOP = "TOP"
_URNS_PER_QUERY_MAX = 2_000
_QUERIES = {"job:": "read/nodes/job_containers", "run:": "read/nodes/run_containers"}


def find_containers(view: GraphView, urns: Iterable[str], level: str) -> dict[str, str]:
    """Return the container that stands for each of these jobs and runs at a level; none where it is
    itself."""
    containers: dict[str, str] = {}
    jobs_and_runs = list(urns)
    for prefix, query in _QUERIES.items():
        of_kind = [urn for urn in jobs_and_runs if urn.startswith(prefix)]
        for some in chunks(of_kind, _URNS_PER_QUERY_MAX):
            rows = view.read(query, urns=some)
            for row in _visible_rows(view, rows):
                # The nearest containers come first.
                if _is_at_level(row, level):
                    containers.setdefault(row["urn"], row["container"])
    return containers


def _is_at_level(row: Row, level: str) -> bool:
    if level == TOP:
        return bool(row["outermost"])
    return bool((row["type"] or "").upper() == level)


def _visible_rows(view: GraphView, rows: list[Row]) -> list[Row]:
    """Return the rows of visible containers; the farthest of these counts as the outermost."""
    if view.visibility.is_unrestricted:
        return rows
    hidden = find_hidden(view, (row["container"] for row in rows))
    visible = [row for row in rows if row["container"] not in hidden]
    farthest: dict[str, int] = {}
    for row in visible:
        farthest[row["urn"]] = max(row["up"], farthest.get(row["urn"], 0))
    return [{**row, "outermost": row["up"] == farthest[row["urn"]]} for row in visible]


def group(
    distances: Mapping[str, int], edges: Iterable[Edge], shown_as: Mapping[str, str]
) -> tuple[dict[str, int], set[Edge]]:
    """Group nodes with their distances, and edges: each node is shown as its container in
    `shown_as`."""
    grouped = {
        Edge(shown_as.get(e.source, e.source), shown_as.get(e.target, e.target), e.type)
        for e in edges
    }
    produced = {(edge.source, edge.target) for edge in grouped if edge.type == "PRODUCED"}
    outer_edges = {
        e for e in grouped if e.source != e.target and not _reads_own_output(e, produced)
    }
    nodes: dict[str, int] = {}
    for urn, distance in distances.items():
        shown = shown_as.get(urn, urn)
        nodes[shown] = min(distance, nodes.get(shown, distance))
    return nodes, outer_edges


def _reads_own_output(edge: Edge, produced: set[tuple[str, str]]) -> bool:
    return edge.type == "FEEDS" and (edge.target, edge.source) in produced
