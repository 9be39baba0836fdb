"""The rule `stream-lag`: a job that reads a stream is far behind its end.

A report is the lag of one topic, summed over its partitions, in one event of a run of the job: the
offset of the end of each partition, minus the next offset that the job reads. A topic lags from
the first report above the limit, until a report at or below it. The limit is the setting
`HEADWATER_STREAM_LAG_LIMIT`. Each topic of a job has findings of its own.

A job whose runs have no reports has no findings: nothing is known of its lag.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from headwater.health.findings.jobs.history import JobHistory, LagStart
from headwater.health.findings.models import Episode

RULE = "stream-lag"


class _Report(NamedTuple):
    """What a run reported of a topic; in the order of time."""

    instant: datetime
    run: str
    lag: int


def detect_stream_lags(history: JobHistory) -> Iterator[Episode]:
    """Yield the episodes of each topic that the job reads."""
    for topic, reports in sorted(_reports(history).items()):
        yield from _episodes(history, topic, sorted(reports))


def _reports(history: JobHistory) -> dict[str, list[_Report]]:
    reports: dict[str, list[_Report]] = defaultdict(list)
    for run in history.runs:
        for one in run.lags:
            reports[one.dataset].append(_Report(one.instant, run.urn, one.lag))
    return reports


def _episodes(history: JobHistory, topic: str, reports: Sequence[_Report]) -> Iterator[Episode]:
    # The beginning must not move with the window of runs that were read.
    earlier = history.lagging_since.get(topic)
    late: list[_Report] = []
    for report in reports:
        if report.lag > history.lag_limit:
            late.append(report)
            continue
        if late:
            yield _episode(history, topic, late, earlier, report)
        late, earlier = [], None
    if late:
        yield _episode(history, topic, late, earlier, None)


def _episode(
    history: JobHistory,
    topic: str,
    late: Sequence[_Report],
    earlier: LagStart | None,
    end: _Report | None,
) -> Episode:
    start = earlier or LagStart(late[0].run, late[0].instant)
    newest = late[-1]
    return Episode(
        rule=RULE,
        subject=history.urn,
        key=f"{start.run}#{_short_hash(topic)}",
        first_seen=start.instant,
        last_seen=newest.instant,
        resolved_at=end.instant if end else None,
        resolved_by=end.run if end else None,
        evidence={
            "dataset": topic,
            "run": newest.run,
            "lag": newest.lag,
            "greatestLag": max(one.lag for one in late),
            "limit": history.lag_limit,
        },
    )


def _short_hash(topic: str) -> str:
    """Return a hash in place of the name of a topic, which not every reader of the id may see."""
    return hashlib.sha256(topic.encode()).hexdigest()[:8]
