"""The value of each figure in the graph as it is, for one caller: hidden nodes are not counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import product
from typing import Any

from headwater.governance.personal_data.listing import exposed_artifacts
from headwater.health.figures import models
from headwater.health.figures.definitions import FIGURES
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.pagination import PageRequest
from headwater.lineage.questions import coverage as covered
from headwater.lineage.questions.coverage import CERTIFIED_TAGS
from headwater.lineage.questions.failed_checks import FailedCheckFilter, failed_checks
from headwater.lineage.questions.quality import quality
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import DATASETS_DOWN
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView
from headwater.schema.tags import CRITICAL_TAGS

# The nodes that a figure lists.
LISTED_MAX = 200
# The incidents and actions that are counted.
COUNTED_MAX = 5_000
SECONDS_MAX = 30.0
# Traversals from many datasets: the datasets of a sample, the nodes and edges from each, and the
# time for all of them. A request of GraphQL has 10 s.
TRAVERSED_MAX = 100
NODES_MAX, EDGES_MAX = 1_000, 5_000
TRAVERSAL_SECONDS_MAX = 4.0
PERSONAL_TAG = "pii"
_TRUE = ("true", "yes", "1")
CERTIFIED_WORDS = (
    *CERTIFIED_TAGS,
    *(f"{tag}={value}" for tag, value in product(CERTIFIED_TAGS, _TRUE)),
)


@dataclass(frozen=True)
class Measure:
    """The value of a figure, its numerator and denominator, and the urns of the nodes it lists.

    The value is None if there is nothing to measure. `is_sampled`: not everything was measured.
    """

    value: float | None
    numerator: float | None
    denominator: int
    urns: list[str] = field(default_factory=list)
    is_sampled: bool = False

    @classmethod
    def share(cls, part: int, total: int, urns: list[str]) -> Measure:
        return cls(covered.share(part, total), part, total, urns)

    @classmethod
    def count(cls, number: int, total: int, urns: list[str]) -> Measure:
        return cls(number, number, total, urns)


def window(name: str, now: datetime) -> dict[str, datetime]:
    """Return the window of a figure that ends now, as parameters of a query."""
    return {"since": now - timedelta(days=FIGURES[name].window_days), "until": now}


def coverage(view: GraphView, now: datetime) -> Measure:
    counts = covered.coverage(view, days=1, now=now).total
    part = counts.connected + counts.with_inputs_and_outputs
    urns: list[str] = []
    for name in ("datasets_without_lineage", "jobs_without_lineage"):
        urns += _urns(view, name, limit=LISTED_MAX)
    return Measure.share(part, counts.datasets + counts.jobs, urns[:LISTED_MAX])


def unknown_downstreams(view: GraphView, now: datetime) -> Measure:
    counts = covered.coverage(view, days=1, now=now).total
    urns = _urns(view, "datasets_without_readers", limit=LISTED_MAX)
    return Measure.share(counts.unknown_downstreams, counts.datasets, urns)


def median_blast_radius(view: GraphView, now: datetime) -> Measure:
    """Return the median over changes; of many datasets, a sample that is the same at each call."""
    rows = _read(view, "changes", **window("median-blast-radius", now), limit=covered.URNS_MAX)
    changes = {row["dataset"]: row["changes"] for row in rows}
    sampled = covered.sample(list(changes), TRAVERSED_MAX)
    nodes, is_truncated = downstream(view, sampled)
    reach = {urn: len(some) for urn, some in nodes.items()}
    return Measure(
        value=weighted_median({urn: (reach[urn], changes[urn]) for urn in sampled}),
        numerator=None,
        denominator=sum(changes.values()),
        urns=sorted(sampled, key=lambda urn: (-reach[urn], urn))[:LISTED_MAX],
        is_sampled=is_truncated or len(sampled) < len(changes),
    )


def downstream(view: GraphView, urns: list[str]) -> tuple[dict[str, set[str]], bool]:
    """Return the visible datasets and jobs downstream of each dataset, without the dataset; and
    True if a bound of the traversals was met.
    """
    bounds = Bounds.within(
        TRAVERSAL_SECONDS_MAX,
        depth=covered.HOPS_MAX,
        nodes_max=NODES_MAX,
        edges_max=EDGES_MAX,
    )
    request = TraversalRequest(
        DATASETS_DOWN, bounds, shared_rows_max=covered.ROWS_MAX, find_resume_points=False
    )
    traversals = traverse(view, request, {urn: [urn] for urn in urns})
    nodes = {urn: _visible(traversal) - {urn} for urn, traversal in traversals.items()}
    return nodes, any(traversal.truncated for traversal in traversals.values())


def _visible(traversal: Traversal) -> set[str]:
    return {node for node in traversal.nodes if not node.startswith(HIDDEN)}


def weighted_median(weighted: Mapping[str, tuple[float, int]]) -> float | None:
    """Return the median of values that each occur a number of times; None without any."""
    total = sum(times for _, times in weighted.values())
    if not total:
        return None
    middle: list[float] = []
    passed = 0
    for value, times in sorted(weighted.values()):
        # The values before and after the middle; they are one value for an odd number.
        middle += [value] * (passed < (total + 1) // 2 <= passed + times)
        middle += [value] * (passed < total // 2 + 1 <= passed + times)
        passed += times
    return sum(middle) / 2


def certified_path_integrity(view: GraphView, _: datetime) -> Measure:
    """Return the share of the datasets whose traversal met no bound."""
    paths = covered.certified_paths(view, seconds=TRAVERSAL_SECONDS_MAX)
    broken = [path.dataset for path in paths.broken if not path.is_truncated]
    measured = paths.sample_size - len(paths.broken) + len(broken)
    return Measure(
        value=covered.share(measured - len(broken), measured),
        numerator=measured - len(broken),
        denominator=measured,
        urns=broken[:LISTED_MAX],
        is_sampled=measured < paths.datasets,
    )


def model_completeness(view: GraphView, _: datetime) -> Measure:
    versions = models.model_versions(view)
    gaps = dict.fromkeys(one.dataset for one in versions if one.completeness < 1)
    complete = sum(one.completeness == 1 for one in versions)
    return Measure.share(complete, len(versions), list(gaps))


def active_pipelines(view: GraphView, now: datetime) -> Measure:
    [row] = _read(view, "active_jobs", **window("active-pipelines", now), limit=LISTED_MAX)
    return Measure.count(row["active"], row["jobs"], row["urns"])


def critical_consumers(view: GraphView, _: datetime) -> Measure:
    tags = [*CERTIFIED_WORDS, *CRITICAL_TAGS]
    [row] = _read(view, "critical_consumers", tags=tags, limit=LISTED_MAX)
    return Measure.count(row["critical"], row["consumers"], row["urns"])


def compliance_incidents(view: GraphView, now: datetime) -> Measure:
    urns = _incidents(view, now)
    datasets = covered.coverage(view, days=1, now=now).total.datasets
    return Measure.count(len(urns), datasets, urns[:LISTED_MAX])


def exposed(view: GraphView, _: datetime) -> Measure:
    urns = exposed_artifacts(view)
    datasets = covered.coverage(view, days=1).total.datasets
    return Measure.count(len(urns), datasets, urns[:LISTED_MAX])


def correlated_traces(view: GraphView, now: datetime) -> Measure:
    [row] = _read(view, "correlated_traces", **window("correlated-traces", now), limit=LISTED_MAX)
    return Measure.share(row["correlated"], row["traces"], row["urns"])


def open_actions(view: GraphView, now: datetime) -> Measure:
    counts = covered.coverage(view, days=1, now=now).total
    unowned = _urns(view, "unowned_certified", tags=list(CERTIFIED_WORDS), limit=COUNTED_MAX)
    failing = _urns(view, "failing_jobs", limit=COUNTED_MAX)
    urns = list(dict.fromkeys([*failing, *_incidents(view, now), *unowned]))
    return Measure.count(len(urns), counts.datasets + counts.jobs, urns[:LISTED_MAX])


def _incidents(view: GraphView, now: datetime) -> list[str]:
    """Return the datasets with a failed check or undeclared personal data."""
    filter = FailedCheckFilter(since=window("compliance-incidents", now)["since"])
    found = failed_checks(view, filter, PageRequest(COUNTED_MAX))
    checked = dict.fromkeys(one.dataset for one in found.page.entries if one.dataset)
    failing = {urn for urn, one in quality(view, checked).items() if one.failed}
    personal = _urns(view, "undeclared_personal_data", tag=PERSONAL_TAG, limit=COUNTED_MAX)
    return sorted(failing.union(personal))


def failing_runs(view: GraphView, now: datetime) -> Measure:
    [row] = _read(view, "failing_runs", **window("failing-runs", now), limit=LISTED_MAX)
    return Measure.share(row["failed"], row["ended"], row["urns"])


def time_to_impact(view: GraphView, now: datetime) -> Measure:
    [row] = _read(view, "failure_delays", **window("time-to-impact", now), limit=LISTED_MAX)
    return Measure(row["median"], None, row["failures"], row["urns"])


MEASURES: dict[str, Callable[[GraphView, datetime], Measure]] = {
    "coverage": coverage,
    "unknown-downstreams": unknown_downstreams,
    "median-blast-radius": median_blast_radius,
    "certified-path-integrity": certified_path_integrity,
    "model-completeness": model_completeness,
    "active-pipelines": active_pipelines,
    "critical-consumers": critical_consumers,
    "compliance-incidents": compliance_incidents,
    "exposed-artifacts": exposed,
    "correlated-traces": correlated_traces,
    "open-actions": open_actions,
    "failing-runs": failing_runs,
    "time-to-impact": time_to_impact,
}


def _read(view: GraphView, name: str, **parameters: Any) -> list[dict[str, Any]]:
    return view.read(
        f"read/figures/{name}",
        seconds=SECONDS_MAX,
        visible=view.visibility.regexes,
        **parameters,
    )


def _urns(view: GraphView, name: str, **parameters: Any) -> list[str]:
    return [row["urn"] for row in _read(view, name, **parameters)]
