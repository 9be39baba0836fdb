"""Failed runs, newest first, and what each of them touches.

Two consequences of a failure are kept apart. What is now *stale* is read off the map: every dataset and job
downstream of what the run should have written, and the answers that cite versions which were current when it
started, or later ones. What it *did write* is read off history: its versions, and whatever was made from them.

A page of failures costs the same few statements however many runs are on it: runs that begin at the same datasets
share one walk, and all walks share what each layer teaches.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError, UnavailableError
from headwater.lineage.node_visibility import hidden, visible
from headwater.lineage.pagination import read_moment, write_moment
from headwater.lineage.traversal.bfs import (
    CITING,
    HISTORY_DOWN,
    MAP_DOWN,
    Bounds,
    Walk,
    explore,
    timed_out,
)
from headwater.lineage.view import GraphView
from headwater.schema.derived_properties import with_derived_properties

PAGE_MAX = 200
HOPS_MAX = 1_000
NODES_MAX = 5_000
EDGES_MAX = 50_000
# All the runs of a page together may show this many nodes, so that a page of failures at one hub stays an answer.
PAGE_NODES_MAX = 20_000
PAGE_ROWS_MAX = 100_000
WALK_SECONDS_MAX = 5.0
_KINDS = ("datasets", "jobs", "answers", "artifacts", "runs")
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class FailedRun:
    """A failed run and the cursor that leads to the ones after it."""

    urn: str
    cursor: str
    properties: Row


@dataclass(frozen=True)
class FailedRunPage:
    runs: list[FailedRun]
    has_next: bool


@dataclass(frozen=True)
class AffectedNodes:
    """What one failed run touches, as urns: stale datasets, jobs and answers; versions and runs made from its own."""

    datasets: list[str]
    jobs: list[str]
    answers: list[str]
    artifacts: list[str]
    runs: list[str]
    reason: str = ""

    @property
    def truncated(self) -> bool:
        return bool(self.reason)


def failed_runs(
    view: GraphView,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    pipeline: str | None = None,
    namespace: str | None = None,
    first: int = 20,
    after: str | None = None,
) -> FailedRunPage:
    """Runs that failed at or after `since` and before `until`, newest failure first; `pipeline` and `namespace` are
    those of their job. Raises QueryError for a `first` out of bounds or an `after` that is no cursor."""
    if not 0 <= first <= PAGE_MAX:
        raise QueryError(
            f"first {first} is not between 0 and {PAGE_MAX}", hint="Ask for more of them in pages."
        )
    cursor_at, cursor_urn = read_moment(after) if after else (_LATEST, "")
    rows = view.read(
        "read/failures/failed_runs",
        since=since or _EARLIEST,
        until=until or _LATEST,
        pipeline=pipeline or "",
        namespace=namespace or "",
        cursorAt=cursor_at,
        cursorUrn=cursor_urn,
        sees=view.visibility.regexes,
        limit=first + 1,
    )
    runs = [
        FailedRun(
            row["urn"],
            write_moment(row["failedAt"], row["urn"]),
            with_derived_properties("PipelineRun", row["properties"]),
        )
        for row in rows
    ]
    return FailedRunPage(runs[:first], len(runs) > first)


def affected_nodes(
    view: GraphView, runs: Sequence[str], *, seconds: float = WALK_SECONDS_MAX
) -> dict[str, AffectedNodes]:
    """What each of these failed runs touches, by urn of the run, as far as it may be seen."""
    deadline = time.monotonic() + seconds
    starts = {
        row["urn"]: row
        for row in view.read("read/failures/failed_run_starts", urns=visible(view, runs))
    }
    nodes_max = min(NODES_MAX, max(100, PAGE_NODES_MAX // max(1, len(starts))))
    bounds = Bounds(HOPS_MAX, nodes_max, EDGES_MAX, deadline)
    begins = {urn: tuple(sorted(row["written"] or row["known"])) for urn, row in starts.items()}
    by_start = explore(
        view,
        MAP_DOWN,
        {begin: begin for begin in begins.values()},
        bounds,
        rows_max=PAGE_ROWS_MAX,
        ends=False,
    )
    stale = {urn: by_start[begin] for urn, begin in begins.items()}
    history = explore(
        view,
        HISTORY_DOWN,
        {urn: [urn] for urn in starts},
        bounds,
        rows_max=PAGE_ROWS_MAX,
        ends=False,
    )
    cited, out_of_time = _stale_answers(view, starts, stale, deadline)
    for urn, walk in history.items():
        cited[urn].update(nodes_of_kind("answer", walk))
    citing = explore(view, CITING, cited, bounds, rows_max=PAGE_ROWS_MAX, ends=False)
    touched = {
        urn: AffectedNodes(
            datasets=nodes_of_kind("dataset", stale[urn]),
            jobs=nodes_of_kind("job", stale[urn]),
            answers=nodes_of_kind("answer", citing[urn]),
            artifacts=nodes_of_kind("artifact", history[urn]),
            runs=[other for other in nodes_of_kind("run", history[urn]) if other != urn],
            reason=stale[urn].truncated
            or history[urn].truncated
            or citing[urn].truncated
            or out_of_time,
        )
        for urn in starts
    }
    return _as_seen(view, touched)


def _as_seen(view: GraphView, touched: dict[str, AffectedNodes]) -> dict[str, AffectedNodes]:
    """The same without what may not be seen."""
    unseen = hidden(
        view, (urn for one in touched.values() for kind in _KINDS for urn in getattr(one, kind))
    )
    for one in touched.values():
        for kind in _KINDS:
            getattr(one, kind)[:] = [urn for urn in getattr(one, kind) if urn not in unseen]
    return touched


def _stale_answers(
    view: GraphView, starts: Mapping[str, Row], stale: Mapping[str, Walk], deadline: float
) -> tuple[dict[str, set[str]], str]:
    """For each run the answers that cite what is stale, and "time" when there was none left to look."""
    answers: dict[str, set[str]] = {urn: set() for urn in starts}
    datasets = sorted({urn for walk in stale.values() for urn in nodes_of_kind("dataset", walk)})
    started = [row["startedAt"] for row in starts.values() if row["startedAt"] is not None]
    if not datasets or not started:
        return answers, ""
    citations: dict[str, list[Row]] = defaultdict(list)
    try:
        seconds = max(0.05, deadline - time.monotonic())
        rows = view.read(
            "read/failures/citations_since",
            seconds=seconds,
            urns=datasets,
            at=min(started),
            limit=PAGE_ROWS_MAX,
        )
    except UnavailableError as error:
        if timed_out(error):
            return answers, "time"
        raise
    for row in rows:
        citations[row["dataset"]].append(row)
    for urn, walk in stale.items():
        at = starts[urn]["startedAt"]
        for dataset in nodes_of_kind("dataset", walk):
            answers[urn].update(
                row["answer"] for row in citations[dataset] if _was_current(row, at)
            )
    return answers, "edges" if len(rows) >= PAGE_ROWS_MAX else ""


def _was_current(citation: Row, at: datetime | None) -> bool:
    """Whether the cited version was current at an instant or came later: nothing newer had replaced it by then."""
    return at is None or citation["superseded"] is None or citation["superseded"] > at


def nodes_of_kind(kind: str, walk: Walk | None) -> list[str]:
    """The nodes of one kind that a walk reached, nearest first."""
    nodes = walk.nodes if walk else {}
    return sorted(
        (urn for urn in nodes if urn.startswith(f"{kind}:")), key=lambda urn: (nodes[urn], urn)
    )
