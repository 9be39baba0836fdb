"""What there is, in pages: namespaces, datasets and jobs, runs and versions, sources, tags, and how they grew.

For those who turn pages by offset. Only what may be seen is listed and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.cypher.driver.database import Row
from headwater.lineage.node_visibility import visible
from headwater.lineage.questions.lineage import EDGES_MAX, NODES_MAX, WALK_SECONDS_MAX
from headwater.lineage.traversal.bfs import COLUMNS_DOWN, COLUMNS_UP, Bounds, Edge, explore
from headwater.lineage.view import GraphView

_QUARTER_SECONDS = 900


@dataclass(frozen=True)
class UrnPage:
    """One page, as urns, and how many there are in all."""

    urns: list[str]
    total: int


def namespaces(view: GraphView, *, skip: int, limit: int) -> list[Row]:
    """Namespaces by name, each with the first and last time that anything in it was seen."""
    return view.read(
        "read/catalog/namespaces", sees=view.visibility.regexes, skip=skip, limit=limit
    )


def namespace(view: GraphView, name: str) -> Row | None:
    """One namespace; None when it may not be seen or holds nothing."""
    rows = (
        view.read("read/catalog/namespace", namespace=name)
        if view.visibility.includes(name)
        else []
    )
    return {"namespace": name, **rows[0]} if rows and rows[0]["size"] else None


def datasets_in_namespace(view: GraphView, namespace: str, *, skip: int, limit: int) -> UrnPage:
    """The datasets of a namespace by name."""
    return _listed(
        view, "read/catalog/datasets_in_namespace", namespace=namespace, skip=skip, limit=limit
    )


def jobs_in_namespace(
    view: GraphView, namespace: str, *, states: Sequence[str] | None, skip: int, limit: int
) -> UrnPage:
    """The jobs of a namespace by name; with `states` those whose newest run has one of these statuses."""
    states = None if states is None else list(states)
    return _listed(
        view,
        "read/catalog/jobs_in_namespace",
        namespace=namespace,
        states=states,
        skip=skip,
        limit=limit,
    )


def jobs_by_last_seen(
    view: GraphView, *, states: Sequence[str] | None, skip: int, limit: int
) -> UrnPage:
    """The jobs of all namespaces, those last seen first."""
    states = None if states is None else list(states)
    return _listed(
        view,
        "read/catalog/jobs_by_last_seen",
        sees=view.visibility.regexes,
        states=states,
        skip=skip,
        limit=limit,
    )


def runs_of_job(view: GraphView, job: str, *, skip: int, limit: int) -> UrnPage:
    """The runs of a job, newest first."""
    return _listed(
        view,
        "read/catalog/runs_of_job",
        urn=job,
        sees=view.visibility.regexes,
        skip=skip,
        limit=limit,
    )


def versions_of_dataset(view: GraphView, dataset: str, *, skip: int, limit: int) -> UrnPage:
    """The versions of a dataset, newest first."""
    return _listed(view, "read/catalog/versions_of_dataset", urn=dataset, skip=skip, limit=limit)


def _listed(view: GraphView, query: str, **parameters: Any) -> UrnPage:
    rows = view.read(query, **parameters)
    return UrnPage(rows[0]["urns"], rows[0]["total"]) if rows else UrnPage([], 0)


def data_sources(view: GraphView, *, skip: int, limit: int) -> list[Row]:
    """The places where datasets are, by name."""
    return view.read(
        "read/catalog/data_sources",
        name=None,
        sees=view.visibility.regexes,
        skip=skip,
        limit=limit,
    )


def data_source(view: GraphView, name: str) -> Row | None:
    """One of them; None when there is none."""
    rows = view.read(
        "read/catalog/data_sources", name=name, sees=view.visibility.regexes, skip=0, limit=1
    )
    return rows[0] if rows else None


def tags(view: GraphView, *, skip: int, limit: int) -> list[str]:
    """The tags in use, by name."""
    rows = view.read("read/catalog/tags", sees=view.visibility.regexes, skip=skip, limit=limit)
    return [row["tag"] for row in rows]


def node_counts(view: GraphView, kind: str, edges: Sequence[datetime]) -> list[int]:
    """How many `datasets`, `jobs` or `sources` there were at the end of each interval. `edges` are where the intervals
    begin, and where the last ends."""
    rows = view.read(
        "read/catalog/first_seen_by_quarter",
        kind=kind,
        since=edges[0],
        sees=view.visibility.regexes,
    )
    before = sum(row["count"] for row in rows if row["quarter"] is None)
    grown = _by_interval(
        ((row["quarter"], "", row["count"]) for row in rows if row["quarter"] is not None), edges
    )
    counts = []
    for index in range(len(edges) - 1):
        before += grown[index, ""]
        counts.append(before)
    return counts


def run_counts(view: GraphView, edges: Sequence[datetime]) -> list[dict[str, int]]:
    """How many runs began (START) and ended (COMPLETE, FAIL, ABORT, ABANDONED) in each interval."""
    rows = view.read("read/catalog/runs_by_quarter", since=edges[0], sees=view.visibility.regexes)
    counted = _by_interval(((row["quarter"], row["status"], row["count"]) for row in rows), edges)
    statuses = ("START", "COMPLETE", "FAIL", "ABORT", "ABANDONED")
    return [
        {status: counted[index, status] for status in statuses} for index in range(len(edges) - 1)
    ]


def _by_interval(
    counts: Iterable[tuple[int, str, int]], edges: Sequence[datetime]
) -> Counter[tuple[int, str]]:
    found: Counter[tuple[int, str]] = Counter()
    for quarter, status, count in counts:
        at = datetime.fromtimestamp(quarter * _QUARTER_SECONDS, UTC) + timedelta(seconds=1)
        index = sum(1 for edge in edges if edge <= at) - 1
        if 0 <= index < len(edges) - 1:
            found[index, status] += count
    return found


@dataclass(frozen=True)
class ColumnGraph:
    """Columns and what flows between them."""

    columns: list[str]
    edges: list[Edge]


def column_graph(
    view: GraphView, urns: Sequence[str], *, depth: int, downstream: bool
) -> ColumnGraph:
    """The columns from which those of some datasets and jobs come, and with `downstream` those that they go into. A urn
    of a column stands for itself."""
    own = [urn for urn in urns if urn.startswith("column:")]
    others = [urn for urn in urns if not urn.startswith("column:")]
    rows = view.read("read/nodes/columns", urns=others, limit=NODES_MAX) if others else []
    starts = visible(view, [*own, *(row["urn"] for row in rows)])
    bounds = Bounds.within(WALK_SECONDS_MAX, depth=depth, nodes_max=NODES_MAX, edges_max=EDGES_MAX)
    layers = (COLUMNS_UP, COLUMNS_DOWN) if downstream else (COLUMNS_UP,)
    walks = (
        [explore(view, layer, {"all": starts}, bounds)["all"] for layer in layers] if starts else []
    )
    columns = dict.fromkeys([*starts, *(urn for walk in walks for urn in walk.nodes)])
    edges = {edge for walk in walks for edge in walk.edges}
    return ColumnGraph([urn for urn in columns if urn.startswith("column:")], sorted(edges))
