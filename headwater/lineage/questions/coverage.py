"""The share of the estate that lineage covers: figures for a trust dashboard.

Dropped and hidden nodes are not counted. A share of nothing is None. Counts describe the current
lineage graph; runs are those that began in a window of days. The median blast radius and the
certified paths need traversals. They are exact for up to `TRAVERSED_MAX` datasets. For more
datasets, those with the smallest hashes are the sample, so that every call takes the same ones
(`sampled`). The results also name the bound of a traversal.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from statistics import median
from typing import Any

from headwater.cypher.driver.database import Row
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.pagination import last_days
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import DATASETS_DOWN, DATASETS_UP, Layer
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView

DAYS_DEFAULT = 30
TRAVERSED_MAX = 500
HOPS_MAX = 1_000
NODES_MAX = 5_000
EDGES_MAX = 20_000
ROWS_MAX = 500_000
TRAVERSAL_SECONDS_MAX = 8.0
URNS_MAX = 200_000
NAMESPACES_MAX = 5_000
# A dataset with one of these tags is certified for use by others.
CERTIFIED_TAGS = ("certified", "canonical")
_TRUE = ("true", "yes", "1")


def share(part: int, total: int) -> float | None:
    """Return the quotient, between 0 and 1; None for a share of nothing."""
    return part / total if total else None


@dataclass(frozen=True)
class Shares:
    """Shares between 0 and 1; None if there is nothing to take a share of."""

    # Of datasets and jobs, those in lineage, as in the next two shares.
    lineage: float | None
    # Of datasets, those that a job produces or reads; of jobs, those with inputs and outputs.
    datasets: float | None
    jobs: float | None
    # Of produced datasets, those with column lineage.
    column_lineage: float | None
    # Of datasets and jobs, those with an owner; of datasets, those with a description or a schema.
    owned: float | None
    described: float | None
    schema: float | None
    # Of runs, those that ended; of runs with outputs, those that reported the inputs of an output.
    ended: float | None
    reported: float | None


@dataclass(frozen=True)
class Counts:
    """Numbers of nodes of one namespace or of all, and of those with lineage and metadata."""

    # Datasets. Connected ones are produced or read by a job. With column lineage and without
    # readers (unknown downstreams) count among the produced ones.
    datasets: int = 0
    connected: int = 0
    produced: int = 0
    with_column_lineage: int = 0
    unknown_downstreams: int = 0
    owned_datasets: int = 0
    described_datasets: int = 0
    with_schema: int = 0
    # Jobs that contain no others.
    jobs: int = 0
    with_inputs: int = 0
    with_outputs: int = 0
    with_inputs_and_outputs: int = 0
    owned_jobs: int = 0
    # Runs that began in the window. A run ended if its COMPLETE, FAIL or ABORT arrived. `reported`
    # counts the runs with outputs that reported the inputs of an output, by columns or otherwise.
    runs: int = 0
    ended: int = 0
    runs_with_outputs: int = 0
    reported: int = 0

    @property
    def shares(self) -> Shares:
        return Shares(
            lineage=share(self.connected + self.with_inputs_and_outputs, self.datasets + self.jobs),
            datasets=share(self.connected, self.datasets),
            jobs=share(self.with_inputs_and_outputs, self.jobs),
            column_lineage=share(self.with_column_lineage, self.produced),
            owned=share(self.owned_datasets + self.owned_jobs, self.datasets + self.jobs),
            described=share(self.described_datasets, self.datasets),
            schema=share(self.with_schema, self.datasets),
            ended=share(self.ended, self.runs),
            reported=share(self.reported, self.runs_with_outputs),
        )


@dataclass(frozen=True)
class Coverage:
    """The counts in total and by namespace; the namespace "" has the runs of unknown jobs."""

    since: datetime
    until: datetime
    total: Counts
    namespaces: dict[str, Counts]


@dataclass(frozen=True)
class BlastRadius:
    """The median, over datasets, of the number of visible datasets and jobs downstream.

    It is None without datasets. `truncated`: a traversal met a bound, so the median may be larger.
    """

    median: float | None
    largest: int
    largest_dataset: str | None
    datasets: int
    sample_size: int
    truncated: bool

    @property
    def sampled(self) -> bool:
        return self.sample_size < self.datasets


@dataclass(frozen=True)
class BrokenPath:
    """A certified dataset with incomplete lineage, and the nodes where its lineage ends.

    `ends` is empty if the lineage leads to hidden nodes or the traversal met a bound;
    `is_truncated`: it met one.
    """

    dataset: str
    ends: list[str] = field(default_factory=list)
    is_truncated: bool = False


@dataclass(frozen=True)
class CertifiedPaths:
    """The certified datasets and those among them with incomplete upstream lineage.

    Lineage is complete if every path upstream ends at a source, either registered or known to be
    read by a run. A path that ends at a job without inputs, or at a dataset that events only
    declare or mention, is incomplete.
    """

    datasets: int
    sample_size: int
    broken: list[BrokenPath]

    @property
    def integrity(self) -> float | None:
        """Return the share of datasets with complete lineage; None without certified datasets."""
        return share(self.sample_size - len(self.broken), self.sample_size)


def coverage(
    view: GraphView,
    *,
    days: int = DAYS_DEFAULT,
    namespace: str = "",
    now: datetime | None = None,
) -> Coverage:
    """Return the counts of one namespace or (empty) of all.

    Raises QueryError for days outside the bounds.
    """
    since, until = last_days(now, days)
    selection: dict[str, Any] = {
        "namespace": namespace,
        "visible": view.visibility.regexes,
        "limit": NAMESPACES_MAX,
    }
    rows = [
        *view.read("read/estate/dataset_coverage", **selection),
        *view.read("read/estate/job_coverage", **selection),
        *view.read("read/estate/run_coverage", **selection, since=since, until=until),
    ]
    by_namespace: dict[str, Row] = {}
    for row in rows:
        by_namespace.setdefault(row["namespace"] or "", {}).update(row["counts"])
    namespaces = {name: Counts(**counts) for name, counts in sorted(by_namespace.items())}
    return Coverage(since, until, _sum(namespaces.values()), namespaces)


def _sum(counts: Iterable[Counts]) -> Counts:
    total = dict.fromkeys((field.name for field in fields(Counts)), 0)
    for count in counts:
        for name in total:
            total[name] += getattr(count, name)
    return Counts(**total)


def blast_radius(
    view: GraphView, *, namespace: str = "", seconds: float = TRAVERSAL_SECONDS_MAX
) -> BlastRadius:
    """Return how many nodes lie downstream of the datasets, each taken alone."""
    urns = _datasets(view, namespace, tags=None)
    traversals = _traverse_all(view, DATASETS_DOWN, sample(urns, TRAVERSED_MAX), seconds)
    reach = {urn: _visible_nodes(traversal) - 1 for urn, traversal in traversals.items()}
    widest = max(reach, key=lambda urn: (reach[urn], urn), default=None)
    return BlastRadius(
        median=median(reach.values()) if reach else None,
        largest=reach[widest] if widest else 0,
        largest_dataset=widest,
        datasets=len(urns),
        sample_size=len(reach),
        truncated=any(traversal.truncated for traversal in traversals.values()),
    )


def certified_paths(
    view: GraphView, *, namespace: str = "", seconds: float = TRAVERSAL_SECONDS_MAX
) -> CertifiedPaths:
    """Return the certified datasets with incomplete upstream lineage."""
    tags: list[str] = []
    for tag in CERTIFIED_TAGS:
        tags += [tag, *(f"{tag}={value}" for value in _TRUE)]
    urns = _datasets(view, namespace, tags=tags)
    traversals = _traverse_all(view, DATASETS_UP, sample(urns, TRAVERSED_MAX), seconds)
    datasets: set[str] = set()
    for traversal in traversals.values():
        datasets.update(node for node in traversal.nodes if node.startswith("dataset:"))
    sources: dict[str, bool] = {}
    if datasets:
        rows = view.read("read/estate/source_datasets", urns=sorted(datasets))
        sources = {row["urn"]: bool(row["registered"]) for row in rows}
    broken: list[BrokenPath] = []
    for urn, traversal in sorted(traversals.items()):
        ends = broken_ends(traversal, sources)
        if ends or traversal.truncated or _visible_nodes(traversal) < len(traversal.nodes):
            broken.append(BrokenPath(urn, ends, bool(traversal.truncated)))
    return CertifiedPaths(len(urns), len(traversals), broken)


def broken_ends(traversal: Traversal, sources: Mapping[str, bool]) -> list[str]:
    """Return the nodes without upstream that are not sources.

    `sources` maps a source to True if it is registered. The producers of registered sources need
    no known inputs.
    """
    with_upstream = {edge.target for edge in traversal.edges}
    outputs: dict[str, list[str]] = defaultdict(list)
    for edge in traversal.edges:
        outputs[edge.source].append(edge.target)
    return sorted(
        node
        for node in traversal.nodes
        if node not in with_upstream
        and node not in sources
        and not node.startswith(HIDDEN)
        and not _are_registered(outputs.get(node, ()), sources)
    )


def _visible_nodes(traversal: Traversal) -> int:
    return sum(not node.startswith(HIDDEN) for node in traversal.nodes)


def _are_registered(datasets: Sequence[str], sources: Mapping[str, bool]) -> bool:
    return bool(datasets) and all(sources.get(dataset) for dataset in datasets)


def sample(urns: Sequence[str], size: int) -> list[str]:
    """Return all urns, or those with the smallest hashes, so that every call takes the same."""
    if len(urns) <= size:
        return list(urns)
    return sorted(urns, key=lambda urn: hashlib.sha256(urn.encode()).digest())[:size]


def _datasets(view: GraphView, namespace: str, tags: list[str] | None) -> list[str]:
    rows = view.read(
        "read/estate/current_datasets",
        namespace=namespace,
        tags=tags,
        visible=view.visibility.regexes,
        limit=URNS_MAX,
    )
    return [row["urn"] for row in rows]


def _traverse_all(
    view: GraphView, layer: Layer, urns: list[str], seconds: float
) -> dict[str, Traversal]:
    bounds = Bounds.within(seconds, depth=HOPS_MAX, nodes_max=NODES_MAX, edges_max=EDGES_MAX)
    request = TraversalRequest(layer, bounds, shared_rows_max=ROWS_MAX, find_resume_points=False)
    return traverse(view, request, {urn: [urn] for urn in urns})
