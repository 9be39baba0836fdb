"""Read the lags of streams that the runs of jobs reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from headwater.cypher.driver.database import Row
from headwater.health.findings.jobs.history import RUNS_MAX, LagFact, LagStart, RunFact
from headwater.lineage.view import GraphView


def lags_of(rows: Iterable[Row]) -> tuple[LagFact, ...]:
    """Return the reports of a run, each once: a run may have read several versions of a topic."""
    found = {
        LagFact(row["dataset"], instant, lag)
        for row in rows
        for instant, lag in zip(row["times"], row["lags"], strict=True)
    }
    return tuple(sorted(found, key=lambda one: (one.dataset, one.instant, one.lag)))


def read_lagging(
    view: GraphView, runs: Mapping[str, Sequence[RunFact]], limit: int
) -> dict[str, dict[str, LagStart]]:
    """Return by job and topic since when a job lags, if not all of its runs were read."""
    rows = [
        {"urn": urn, "dataset": topic, "before": some[0].started, "limit": limit}
        for urn, some in sorted(runs.items())
        if len(some) >= RUNS_MAX
        for topic in _late_at_first(some, limit)
    ]
    if not rows:
        return {}
    found: dict[str, dict[str, LagStart]] = {}
    for row in view.read("read/findings/lagging_since", rows=rows):
        start = _start(row["runs"], limit)
        if start is not None:
            found.setdefault(row["urn"], {})[row["dataset"]] = start
    return found


def _late_at_first(runs: Sequence[RunFact], limit: int) -> list[str]:
    """Return the topics whose first report is above the limit."""
    first: dict[str, LagFact] = {}
    for run in runs:
        for one in run.lags:
            known = first.get(one.dataset)
            if known is None or (one.instant, one.lag) < (known.instant, known.lag):
                first[one.dataset] = one
    return sorted(topic for topic, one in first.items() if one.lag > limit)


def _start(runs: Iterable[Row], limit: int) -> LagStart | None:
    """Return the first of the reports above the limit at the end of these runs."""
    reports = [
        (instant, lag, row["run"])
        for row in runs
        for instant, lag in zip(row["times"], row["lags"], strict=True)
    ]
    late = list(takewhile(lambda one: one[1] > limit, sorted(reports, reverse=True)))
    return LagStart(late[-1][2], late[-1][0]) if late else None
