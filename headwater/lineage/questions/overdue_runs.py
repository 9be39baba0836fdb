"""Runs under way for longer than usual, compared with the newest complete runs of their pipeline.

A run is overdue if it has taken longer than each of up to 20 complete runs before it, and over
twice their median. Fewer than three such runs show nothing usual. So a stream, which never
completes, is not overdue.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from datetime import UTC, datetime

from headwater.cypher.driver.database import Row
from headwater.lineage.pagination import PAGE_MAX, PageRequest
from headwater.lineage.questions.runs import RunFilter, runs
from headwater.lineage.view import GraphView

COMPARED_MAX = 20
COMPARED_MIN = 3
MEDIANS = 2.0


@dataclass(frozen=True)
class OverdueRun:
    """The properties of a run under way, its seconds so far, and those of the runs before it."""

    run: Row
    elapsed_seconds: float
    median_seconds: float
    longest_seconds: float
    compared: int


@dataclass(frozen=True)
class OverdueRuns:
    """The overdue runs, the one furthest beyond its median first; `running` counts all examined."""

    runs: list[OverdueRun]
    running: int
    truncated: bool


def overdue_runs(
    view: GraphView, *, namespace: str = "", now: datetime | None = None
) -> OverdueRuns:
    """Return the overdue runs among the 200 that have been under way for the longest time."""
    instant = now or datetime.now(UTC)
    filter = RunFilter(status="RUNNING", namespace=namespace)
    page = runs(view, filter=filter, page=PageRequest(PAGE_MAX), oldest_first=True)
    named = {(run.get("namespace") or "", run.get("pipelineName") or "") for run in page.entries}
    rows = view.read(
        "read/failures/usual_durations",
        pipelines=[{"namespace": space, "name": name} for space, name in sorted(named)],
        limit=COMPARED_MAX,
    )
    durations = {(row["namespace"], row["name"]): row["seconds"] for row in rows}
    found: list[OverdueRun] = []
    for run in page.entries:
        seconds = durations.get((run.get("namespace"), run.get("pipelineName")), [])
        overdue = _compare(run, (instant - run["startedAt"]).total_seconds(), seconds)
        if overdue is not None:
            found.append(overdue)
    found.sort(key=_order)
    return OverdueRuns(found, len(page.entries), page.has_next)


def _order(one: OverdueRun) -> tuple[float, str]:
    return -one.elapsed_seconds / max(one.median_seconds, 1.0), one.run["urn"]


def _compare(run: Row, elapsed: float, seconds: list[float]) -> OverdueRun | None:
    """Return the run if it is overdue."""
    if len(seconds) < COMPARED_MIN:
        return None
    median, longest = statistics.median(seconds), max(seconds)
    if elapsed <= longest or elapsed <= MEDIANS * median:
        return None
    return OverdueRun(run, elapsed, median, longest, len(seconds))
