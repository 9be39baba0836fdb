"""Failed runs, newest first, and the nodes that each of them affects.

Two effects of a failure are kept apart. *Stale* nodes come from the lineage graph. They are the
datasets and jobs downstream of the outputs that the run should have written, and the answers that
cite versions current at its start or later. *Partial* nodes come from the run history. They are the
versions that the run did write, and all nodes derived from them.

A page of failures takes the same few statements for any number of runs. Runs that begin at the same
datasets share one traversal, and all traversals share the neighbours they read.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.cypher.driver.database import Row
from headwater.errors import TimedOutError
from headwater.lineage.list_pages import EARLIEST, LATEST, read_time_page
from headwater.lineage.node_visibility import find_hidden, select_visible
from headwater.lineage.pagination import FIRST_PAGE, PageRequest
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import CITATIONS_DOWN, DATASETS_DOWN, RUNS_DOWN
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView
from headwater.schema.derived_properties import with_derived_properties

HOPS_MAX = 1_000
NODES_MAX = 5_000
EDGES_MAX = 50_000
# For all runs of a page together, so that a page of failures at one hub stays readable.
PAGE_NODES_MAX = 20_000
PAGE_ROWS_MAX = 100_000
TRAVERSAL_SECONDS_MAX = 5.0
_NODES_MIN = 100
_SECONDS_MIN = 0.05


@dataclass(frozen=True)
class FailedRun:
    """A failed run and the cursor that leads to the runs after it."""

    urn: str
    cursor: str
    properties: Row


@dataclass(frozen=True)
class FailedRunPage:
    """A page of failed runs."""

    runs: list[FailedRun]
    has_next: bool
    has_previous: bool = False


@dataclass(frozen=True)
class AffectedNodes:
    """The urns of the nodes that one failed run affects.

    Datasets, jobs and answers are stale; artifacts and runs derive from its partial outputs.
    """

    datasets: list[str]
    jobs: list[str]
    answers: list[str]
    artifacts: list[str]
    runs: list[str]
    reason: str = ""

    @property
    def truncated(self) -> bool:
        return bool(self.reason)


@dataclass(frozen=True)
class FailureFilter:
    """Conditions on failed runs; an empty one matches everything.

    `since` and `until` (exclusive) bound the failure. `pipeline` and `namespace` are those of the
    run's job.
    """

    since: datetime | None = None
    until: datetime | None = None
    pipeline: str = ""
    namespace: str = ""


def failed_runs(
    view: GraphView, filter: FailureFilter = FailureFilter(), page: PageRequest = FIRST_PAGE
) -> FailedRunPage:
    """Return a page of failed runs, newest failure first. Raises QueryError for a bad cursor."""
    found = read_time_page(view, "read/failures/failed_runs", page, **_parameters(view, filter))
    rows = zip(found.entries, found.cursors, strict=True)
    return FailedRunPage(
        [_failed_run(row, cursor) for row, cursor in rows], found.has_next, found.has_previous
    )


def count_failed_runs(view: GraphView, filter: FailureFilter = FailureFilter()) -> int:
    """Return the number of failed runs on all pages."""
    [row] = view.read("read/failures/failed_runs_count", **_parameters(view, filter))
    return int(row["count"])


def _parameters(view: GraphView, filter: FailureFilter) -> dict[str, Any]:
    return {
        "since": filter.since or EARLIEST,
        "until": filter.until or LATEST,
        "pipeline": filter.pipeline,
        "namespace": filter.namespace,
        "visible": view.visibility.regexes,
    }


def _failed_run(row: Row, cursor: str) -> FailedRun:
    return FailedRun(
        urn=row["urn"],
        cursor=cursor,
        properties=with_derived_properties("PipelineRun", row["properties"]),
    )


def affected_nodes(
    view: GraphView, runs: Sequence[str], *, seconds: float = TRAVERSAL_SECONDS_MAX
) -> dict[str, AffectedNodes]:
    """Return the visible nodes that each failed run affects, by urn of the run."""
    deadline = time.monotonic() + seconds
    rows = view.read("read/failures/failed_run_starts", urns=select_visible(view, runs))
    starts = {row["urn"]: row for row in rows}
    bounds = Bounds(HOPS_MAX, nodes_per_run(len(starts)), EDGES_MAX, deadline)
    stale = _traverse_stale(view, starts, bounds)
    partial = traverse(
        view,
        TraversalRequest(
            RUNS_DOWN, bounds, shared_rows_max=PAGE_ROWS_MAX, find_resume_points=False
        ),
        {urn: [urn] for urn in starts},
    )
    cited, cut = _stale_answers(view, starts, stale, deadline)
    for urn, traversal in partial.items():
        cited[urn].update(nodes_of_kind("answer", traversal))
    citing = traverse(
        view,
        TraversalRequest(
            CITATIONS_DOWN, bounds, shared_rows_max=PAGE_ROWS_MAX, find_resume_points=False
        ),
        cited,
    )
    affected: dict[str, AffectedNodes] = {}
    for urn in starts:
        traversals = (stale[urn], partial[urn], citing[urn])
        affected[urn] = AffectedNodes(
            datasets=nodes_of_kind("dataset", stale[urn]),
            jobs=nodes_of_kind("job", stale[urn]),
            answers=nodes_of_kind("answer", citing[urn]),
            artifacts=nodes_of_kind("artifact", partial[urn]),
            runs=[other for other in nodes_of_kind("run", partial[urn]) if other != urn],
            reason=next(
                (traversal.truncated for traversal in traversals if traversal.truncated), cut
            ),
        )
    return _only_visible(view, affected)


def nodes_per_run(runs: int) -> int:
    """Return how many nodes a traversal from one of `runs` failed runs may reach."""
    return min(NODES_MAX, max(_NODES_MIN, PAGE_NODES_MAX // max(1, runs)))


def _traverse_stale(
    view: GraphView, starts: Mapping[str, Row], bounds: Bounds
) -> dict[str, Traversal]:
    """Walk the lineage graph downstream of each run; runs with the same outputs share a walk."""
    outputs = {urn: tuple(sorted(row["written"] or row["known"])) for urn, row in starts.items()}
    by_outputs = traverse(
        view,
        TraversalRequest(
            DATASETS_DOWN, bounds, shared_rows_max=PAGE_ROWS_MAX, find_resume_points=False
        ),
        {datasets: datasets for datasets in outputs.values()},
    )
    return {urn: by_outputs[datasets] for urn, datasets in outputs.items()}


def _only_visible(
    view: GraphView, affected: Mapping[str, AffectedNodes]
) -> dict[str, AffectedNodes]:
    """Return the same without hidden nodes."""
    urns: set[str] = set()
    for nodes in affected.values():
        urns.update(nodes.datasets, nodes.jobs, nodes.answers, nodes.artifacts, nodes.runs)
    hidden_urns = find_hidden(view, urns)

    def keep(urns: Sequence[str]) -> list[str]:
        return [urn for urn in urns if urn not in hidden_urns]

    return {
        run: AffectedNodes(
            datasets=keep(nodes.datasets),
            jobs=keep(nodes.jobs),
            answers=keep(nodes.answers),
            artifacts=keep(nodes.artifacts),
            runs=keep(nodes.runs),
            reason=nodes.reason,
        )
        for run, nodes in affected.items()
    }


def _stale_answers(
    view: GraphView, starts: Mapping[str, Row], stale: Mapping[str, Traversal], deadline: float
) -> tuple[dict[str, set[str]], str]:
    """Return the answers that cite stale datasets, by run, and the bound that cut them short."""
    answers: dict[str, set[str]] = {urn: set() for urn in starts}
    datasets: set[str] = set()
    for traversal in stale.values():
        datasets.update(nodes_of_kind("dataset", traversal))
    started = [row["startedAt"] for row in starts.values() if row["startedAt"] is not None]
    if not datasets or not started:
        return answers, ""
    try:
        rows = view.read(
            "read/failures/citations_since",
            seconds=max(_SECONDS_MIN, deadline - time.monotonic()) + view.planning_seconds,
            urns=sorted(datasets),
            at=min(started),
            limit=PAGE_ROWS_MAX,
        )
    except TimedOutError:
        return answers, "time"
    citations: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        citations[row["dataset"]].append(row)
    for urn, traversal in stale.items():
        started_at = starts[urn]["startedAt"]
        for dataset in nodes_of_kind("dataset", traversal):
            answers[urn].update(
                row["answer"] for row in citations[dataset] if _was_current(row, started_at)
            )
    return answers, "edges" if len(rows) >= PAGE_ROWS_MAX else ""


def _was_current(citation: Row, instant: datetime | None) -> bool:
    """Return True if the cited version was current at an instant or was written later."""
    return instant is None or citation["superseded"] is None or citation["superseded"] > instant


def nodes_of_kind(kind: str, traversal: Traversal | None) -> list[str]:
    """Return the nodes of one kind that a walk reached, nearest first."""
    nodes = traversal.nodes if traversal else {}
    prefix = f"{kind}:"
    return sorted(
        (urn for urn in nodes if urn.startswith(prefix)), key=lambda urn: (nodes[urn], urn)
    )
