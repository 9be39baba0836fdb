"""The catalog in pages: namespaces, datasets, jobs, runs, versions, sources, tags, growth.

Pages are selected by offset. Only visible nodes are listed and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.cypher.driver.database import Row
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import COLUMNS_DOWN, COLUMNS_UP
from headwater.lineage.traversal.request import (
    EDGES_MAX,
    NODES_MAX,
    TRAVERSAL_SECONDS_MAX,
    Bounds,
    TraversalRequest,
)
from headwater.lineage.view import GraphView
from headwater.schema.headwater_facets import TAG_NAMESPACE
from headwater.schema.urns import tag_urn

_QUARTER_SECONDS = 900
_RUN_STATUSES = ("START", "COMPLETE", "FAIL", "ABORT", "ABANDONED")


@dataclass(frozen=True)
class UrnPage:
    """One page of urns, and the number of nodes on all pages."""

    urns: list[str]
    total: int


def namespaces(view: GraphView, *, skip: int, limit: int) -> list[Row]:
    """Return the namespaces by name, each with its first and last observation."""
    return view.read(
        "read/catalog/namespaces", visible=view.visibility.regexes, skip=skip, limit=limit
    )


def namespace(view: GraphView, name: str) -> Row | None:
    """Return one namespace; None if it is hidden or empty."""
    if not view.visibility.includes(name):
        return None
    rows = view.read("read/catalog/namespace", namespace=name)
    return {"namespace": name, **rows[0]} if rows and rows[0]["size"] else None


def datasets_in_namespace(view: GraphView, namespace: str, *, skip: int, limit: int) -> UrnPage:
    """Return a page of the datasets of a namespace, by name."""
    return _read_page(
        view, "read/catalog/datasets_in_namespace", namespace=namespace, skip=skip, limit=limit
    )


def jobs_in_namespace(
    view: GraphView, namespace: str, *, states: Sequence[str] | None, skip: int, limit: int
) -> UrnPage:
    """Return a page of the jobs of a namespace, by name.

    With `states`, only jobs whose newest run has one of these statuses are listed.
    """
    return _read_page(
        view,
        "read/catalog/jobs_in_namespace",
        namespace=namespace,
        visible=view.visibility.regexes,
        states=None if states is None else list(states),
        skip=skip,
        limit=limit,
    )


def jobs_by_last_seen(
    view: GraphView, *, states: Sequence[str] | None, skip: int, limit: int
) -> UrnPage:
    """Return a page of the jobs of all namespaces, the last seen first."""
    return _read_page(
        view,
        "read/catalog/jobs_by_last_seen",
        visible=view.visibility.regexes,
        states=None if states is None else list(states),
        skip=skip,
        limit=limit,
    )


def runs_of_job(view: GraphView, job: str, *, skip: int, limit: int) -> UrnPage:
    """Return a page of the runs of a job, newest first."""
    return _read_page(
        view,
        "read/catalog/runs_of_job",
        urn=job,
        visible=view.visibility.regexes,
        skip=skip,
        limit=limit,
    )


def versions_of_dataset(view: GraphView, dataset: str, *, skip: int, limit: int) -> UrnPage:
    """Return a page of the versions of a dataset, newest first."""
    return _read_page(view, "read/catalog/versions_of_dataset", urn=dataset, skip=skip, limit=limit)


def _read_page(view: GraphView, query: str, **parameters: Any) -> UrnPage:
    rows = view.read(query, **parameters)
    return UrnPage(rows[0]["urns"], rows[0]["total"]) if rows else UrnPage([], 0)


def data_sources(view: GraphView, *, skip: int, limit: int) -> list[Row]:
    """Return the data sources by name."""
    return view.read(
        "read/catalog/data_sources",
        name=None,
        visible=view.visibility.regexes,
        skip=skip,
        limit=limit,
    )


def data_source(view: GraphView, name: str) -> Row | None:
    """Return one data source; None without one of that name."""
    rows = view.read(
        "read/catalog/data_sources", name=name, visible=view.visibility.regexes, skip=0, limit=1
    )
    return rows[0] if rows else None


def tags(view: GraphView, *, skip: int, limit: int) -> list[Row]:
    """Return the tags in use and the defined tags by name, with their descriptions."""
    return view.read(
        "read/catalog/tags",
        visible=view.visibility.regexes,
        defined=view.visibility.includes(TAG_NAMESPACE),
        skip=skip,
        limit=limit,
    )


def defined_tag(view: GraphView, name: str) -> Row | None:
    """Return the definition of a tag; None if it is not defined."""
    rows = view.read("read/catalog/tag", urn=tag_urn(name))
    return rows[0] if rows else None


def node_counts(view: GraphView, kind: str, edges: Sequence[datetime]) -> list[int]:
    """Count the `datasets`, `jobs` or `sources` known at the end of each interval.

    `edges` are the beginnings of the intervals and the end of the last one.
    """
    rows = view.read(
        "read/catalog/first_seen_by_quarter",
        kind=kind,
        since=edges[0],
        visible=view.visibility.regexes,
    )
    known = sum(row["count"] for row in rows if row["quarter"] is None)
    added = _count_by_interval(
        ((row["quarter"], "", row["count"]) for row in rows if row["quarter"] is not None), edges
    )
    counts = []
    for index in range(len(edges) - 1):
        known += added[index, ""]
        counts.append(known)
    return counts


def run_counts(view: GraphView, edges: Sequence[datetime]) -> list[dict[str, int]]:
    """Count the runs that began (START) and that ended with each status in each interval."""
    rows = view.read(
        "read/catalog/runs_by_quarter", since=edges[0], visible=view.visibility.regexes
    )
    counted = _count_by_interval(
        ((row["quarter"], row["status"], row["count"]) for row in rows), edges
    )
    return [_of_interval(counted, index) for index in range(len(edges) - 1)]


def _of_interval(counted: Counter[tuple[int, str]], index: int) -> dict[str, int]:
    return {status: counted[index, status] for status in _RUN_STATUSES}


def _count_by_interval(
    counts: Iterable[tuple[int, str, int]], edges: Sequence[datetime]
) -> Counter[tuple[int, str]]:
    """Add up counts by quarter of an hour and status into counts by interval and status."""
    by_interval: Counter[tuple[int, str]] = Counter()
    for quarter, status, count in counts:
        inside = datetime.fromtimestamp(quarter * _QUARTER_SECONDS, UTC) + timedelta(seconds=1)
        index = sum(1 for edge in edges if edge <= inside) - 1
        if 0 <= index < len(edges) - 1:
            by_interval[index, status] += count
    return by_interval


@dataclass(frozen=True)
class ColumnGraph:
    """Columns and the edges between them."""

    columns: list[str]
    edges: list[Edge]


def column_graph(
    view: GraphView, urns: Sequence[str], *, depth: int, downstream: bool
) -> ColumnGraph:
    """Return the columns upstream of datasets, jobs and columns, and with `downstream` those below.

    A traversal starts at all columns of a dataset or of the outputs of a job.
    """
    starts = [urn for urn in urns if urn.startswith("column:")]
    others = [urn for urn in urns if not urn.startswith("column:")]
    if others:
        rows = view.read("read/nodes/columns", urns=others, limit=NODES_MAX)
        starts += [row["urn"] for row in rows]
    starts = select_visible(view, starts)
    bounds = Bounds.within(
        TRAVERSAL_SECONDS_MAX, depth=depth, nodes_max=NODES_MAX, edges_max=EDGES_MAX
    )
    columns = dict.fromkeys(starts)
    edges: set[Edge] = set()
    for layer in (COLUMNS_UP, COLUMNS_DOWN) if downstream else (COLUMNS_UP,):
        if starts:
            traversal = traverse(view, TraversalRequest(layer, bounds), {"all": starts})["all"]
            columns.update(dict.fromkeys(traversal.nodes))
            edges |= traversal.edges
    return ColumnGraph([urn for urn in columns if urn.startswith("column:")], sorted(edges))
