"""How much of the estate lineage covers: the figures to put beside a trust dashboard.

Datasets that were dropped are not counted, nor is anything that whoever asks may not see. A share of nothing is None.
Counts are of the map as it is now; runs are those that began in a window of days. The median blast radius and the
certified paths are walked: exactly for up to `WALKED_MAX` datasets, beyond that for as many of them, those with the
smallest hashes, so that it is the same ones every time (`sampled`); what met a bound of a walk is told too.
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
WALKED_MAX = 500
HOPS_MAX = 1_000
NODES_MAX = 5_000
EDGES_MAX = 20_000
ROWS_MAX = 500_000
WALK_SECONDS_MAX = 8.0
URNS_MAX = 200_000
NAMESPACES_MAX = 5_000
# A dataset with one of these tags is certified: others may build on it.
CERTIFIED_TAGS = ("certified", "canonical")
_TRUE = ("true", "yes", "1")


def share(part: int, whole: int) -> float | None:
    """Between 0 and 1; None of nothing."""
    return part / whole if whole else None


@dataclass(frozen=True)
class Shares:
    """Shares between 0 and 1; None where there is nothing to take a share of."""

    # Lineage coverage: of datasets and jobs together those that are in lineage, as in the next two.
    lineage: float | None
    # Of datasets those that a job makes or reads; of jobs those with both inputs and outputs.
    datasets: float | None
    jobs: float | None
    # Of datasets that are made those with column lineage.
    column_lineage: float | None
    # Of datasets and jobs those with an owner; of datasets those with a description, with a schema.
    owned: float | None
    described: float | None
    schema: float | None
    # Of runs those that ended; of runs that made something those that told what any of it came from.
    ended: float | None
    reported: float | None


@dataclass(frozen=True)
class Counts:
    """What there is, and how much of it is told. Every figure is of one namespace, or of all."""

    # Datasets; of these: connected (a job makes it or reads it), made by something known, and of those the ones whose
    # columns are known to come from columns, and the ones that nothing ever read or cited; with an owner, a
    # description, a schema.
    datasets: int = 0
    connected: int = 0
    produced: int = 0
    with_column_lineage: int = 0
    unknown_downstreams: int = 0
    owned_datasets: int = 0
    described_datasets: int = 0
    with_schema: int = 0
    # Jobs that contain no others; of these: with inputs, with outputs, with both, with an owner.
    jobs: int = 0
    with_inputs: int = 0
    with_outputs: int = 0
    with_inputs_and_outputs: int = 0
    owned_jobs: int = 0
    # Runs that began in the window; of these: ended, that is their COMPLETE, FAIL or ABORT arrived; that made
    # something; and of those the ones that told which inputs any of it came from, by columns or otherwise.
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
    """`namespaces` by name; the empty one is that of runs whose job nobody told."""

    since: datetime
    until: datetime
    total: Counts
    namespaces: dict[str, Counts]


@dataclass(frozen=True)
class BlastRadius:
    """The median, over datasets, of the number of datasets and jobs downstream of each that may be seen. None without
    datasets. `truncated`: some walk met a bound, so that the true median may be larger."""

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
    """A certified dataset whose lineage is not complete, and the nodes where it breaks off; none where it leads out of
    sight or its walk met a bound."""

    dataset: str
    ends: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class CertifiedPaths:
    """Of the certified datasets those whose whole upstream is complete: every way up ends at a source that somebody
    registered or that a run is known to have read. A way that ends at a job which reads nothing, or at a dataset that
    is only declared or mentioned, breaks off. `integrity` is None without certified datasets."""

    datasets: int
    sample_size: int
    broken: list[BrokenPath]

    @property
    def integrity(self) -> float | None:
        return share(self.sample_size - len(self.broken), self.sample_size)


def coverage(
    view: GraphView,
    *,
    days: int = DAYS_DEFAULT,
    namespace: str = "",
    now: datetime | None = None,
) -> Coverage:
    """The counts, of all namespaces or of one. Raises QueryError for days outside the bounds."""
    since, until = last_days(now, days)
    which: dict[str, Any] = {"namespace": namespace, "sees": view.visibility.regexes}
    rows: dict[str, Row] = {}
    asked = (
        view.read("read/estate/dataset_coverage", **which, limit=NAMESPACES_MAX),
        view.read("read/estate/job_coverage", **which, limit=NAMESPACES_MAX),
        view.read(
            "read/estate/run_coverage", **which, since=since, until=until, limit=NAMESPACES_MAX
        ),
    )
    for row in (row for found in asked for row in found):
        rows.setdefault(row["namespace"] or "", {}).update(row["counts"])
    namespaces = {name: Counts(**counts) for name, counts in sorted(rows.items())}
    return Coverage(since, until, _sum(namespaces.values()), namespaces)


def _sum(counts: Iterable[Counts]) -> Counts:
    found = list(counts)
    return Counts(
        **{one.name: sum(getattr(count, one.name) for count in found) for one in fields(Counts)}
    )


def blast_radius(
    view: GraphView, *, namespace: str = "", seconds: float = WALK_SECONDS_MAX
) -> BlastRadius:
    """How far a change reaches that is made to any one dataset."""
    urns = _datasets(view, namespace, tags=None)
    walks = _walks(view, DATASETS_DOWN, sample(urns, WALKED_MAX), seconds)
    reach = {
        urn: sum(not node.startswith(HIDDEN) for node in walk.nodes) - 1
        for urn, walk in walks.items()
    }
    widest = max(reach, key=lambda urn: (reach[urn], urn), default=None)
    return BlastRadius(
        median=median(reach.values()) if reach else None,
        largest=reach[widest] if widest else 0,
        largest_dataset=widest,
        datasets=len(urns),
        sample_size=len(reach),
        truncated=any(walk.truncated for walk in walks.values()),
    )


def certified_paths(
    view: GraphView, *, namespace: str = "", seconds: float = WALK_SECONDS_MAX
) -> CertifiedPaths:
    """Whether what is certified rests on complete lineage."""
    words = [
        word for tag in CERTIFIED_TAGS for word in (tag, *(f"{tag}={value}" for value in _TRUE))
    ]
    urns = _datasets(view, namespace, tags=words)
    walks = _walks(view, DATASETS_UP, sample(urns, WALKED_MAX), seconds)
    nodes = {node for walk in walks.values() for node in walk.nodes}
    datasets = sorted(node for node in nodes if node.startswith("dataset:"))
    rows = view.read("read/estate/source_datasets", urns=datasets) if datasets else []
    known = {row["urn"]: bool(row["registered"]) for row in rows}
    judged = {urn: broken_ends(walk, known) for urn, walk in sorted(walks.items())}
    broken = [
        BrokenPath(urn, ends)
        for urn, ends in judged.items()
        if ends or walks[urn].truncated or _leads_out(walks[urn])
    ]
    return CertifiedPaths(len(urns), len(walks), broken)


def broken_ends(walk: Traversal, sources: Mapping[str, bool]) -> list[str]:
    """Where the lineage above a dataset breaks off: what has nothing above it and is no source. `sources` tells of each
    whether it was registered: then what makes it need not be known to read anything."""
    fed = {edge.target for edge in walk.edges}
    made: dict[str, list[str]] = defaultdict(list)
    for edge in walk.edges:
        made[edge.source].append(edge.target)
    return sorted(
        node
        for node in walk.nodes
        if node not in fed
        and node not in sources
        and not node.startswith(HIDDEN)
        and not _registered(made.get(node, ()), sources)
    )


def _leads_out(walk: Traversal) -> bool:
    return any(node.startswith(HIDDEN) for node in walk.nodes)


def _registered(datasets: Sequence[str], sources: Mapping[str, bool]) -> bool:
    return bool(datasets) and all(sources.get(dataset) for dataset in datasets)


def sample(urns: Sequence[str], count: int) -> list[str]:
    """All of them, or so many by their hashes: the same ones whenever it is asked."""
    if len(urns) <= count:
        return list(urns)
    return sorted(urns, key=lambda urn: hashlib.sha256(urn.encode()).digest())[:count]


def _datasets(view: GraphView, namespace: str, tags: list[str] | None) -> list[str]:
    sees = view.visibility.regexes
    rows = view.read(
        "read/estate/current_datasets", namespace=namespace, tags=tags, sees=sees, limit=URNS_MAX
    )
    return [row["urn"] for row in rows]


def _walks(view: GraphView, layer: Layer, urns: list[str], seconds: float) -> dict[str, Traversal]:
    bounds = Bounds.within(seconds, depth=HOPS_MAX, nodes_max=NODES_MAX, edges_max=EDGES_MAX)
    return traverse(
        view,
        TraversalRequest(layer, bounds, shared_rows_max=ROWS_MAX),
        {urn: [urn] for urn in urns},
    )
