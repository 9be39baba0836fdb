"""When new data of a dataset was due, and came late or not at all. Pure.

The data of a dataset is new with each complete version. A dataset without versions, a source, has
new data with each capture, and with each `lastUpdated` that somebody reported.

New data is due by the tag `freshness=24h` (any duration) that long after the newest; there is no
grace. Without the tag it is due by the rhythm of the data so far, as executions of a job are
(`jobs/cadence.py`), with the grace of a rhythm. Ten periods later the dataset counts as stopped.
A dataset that nobody keeps up is never due: one that was dropped, deleted or deprecated, that a
stream writes, whose jobs are all deprecated, or which its job no longer writes. The tag holds even
if the job that wrote it last now writes other datasets: a data owner who no longer keeps the
promise removes it or deprecates the dataset.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from headwater.errors import QueryError
from headwater.health.findings.datasets.history import VERSIONS_MAX, DatasetHistory
from headwater.health.findings.jobs.cadence import GAPS_MAX, Due, due_by_rhythm
from headwater.health.findings.jobs.executions import Execution
from headwater.health.findings.jobs.history import RunFact
from headwater.schema.durations import parse_duration

TAG = "freshness="
# The earlier times that a due time is worked out from.
LOOKBACK = 100
STOPPED = "stopped"


@dataclass(frozen=True)
class NewData:
    """When data became new, and the version or the words that name it."""

    at: datetime
    name: str


@dataclass(frozen=True)
class StaleWindow:
    """A time in which new data was due.

    last: the newest data before. due: when the next was due; source: tag or rhythm.
    ended_at: when new data came, or when the dataset counts as stopped; None while it is due.
    """

    last: NewData
    due: datetime
    period: timedelta
    source: str
    ended_at: datetime | None
    ended_by: str | None


def stale_windows(history: DatasetHistory, instant: datetime) -> list[StaleWindow]:
    """Return when new data was due and late, earliest first."""
    if history.is_gone or history.deprecated_at is not None:
        return []
    is_due = history.is_kept_up if _promised(history.tags) is None else history.is_promised_up
    if history.versions and not is_due:
        return []
    return list(_windows(history, _times(history), instant))


def iso(time: datetime) -> str:
    """Return a time as text, in UTC."""
    return time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _times(history: DatasetHistory) -> list[NewData]:
    if history.versions:
        return [NewData(one.created_at, one.urn) for one in history.complete_versions]
    return [NewData(at, f"captured {iso(at)}") for at in history.updates]


def _windows(
    history: DatasetHistory, times: Sequence[NewData], instant: datetime
) -> Iterator[StaleWindow]:
    promised = _promised(history.tags)
    is_truncated = len(times) >= VERSIONS_MAX
    first = LOOKBACK if is_truncated and promised is None else 0
    for number in range(first, len(times)):
        following = times[number + 1] if number + 1 < len(times) else None
        known = times[max(0, number - LOOKBACK) : number + 1]
        until = following.at if following else instant
        due = _due(known, until, promised, is_truncated=is_truncated)
        if due is None or until <= due.deadline:
            continue
        ended_at, ended_by = (following.at, following.name) if following else (None, None)
        if due.stopped <= until:
            ended_at, ended_by = due.stopped, STOPPED
        yield StaleWindow(known[-1], due.at, due.period, due.source, ended_at, ended_by)


def _due(
    known: Sequence[NewData], until: datetime, promised: timedelta | None, *, is_truncated: bool
) -> Due | None:
    last = known[-1].at
    if promised is not None:
        due = last + promised
        return Due(due, due, datetime.max.replace(tzinfo=UTC), promised, "tag")
    gaps = [later.at - earlier.at for earlier, later in itertools.pairwise(known[-GAPS_MAX - 1 :])]
    if not gaps or until - last <= min(gaps):
        return None
    executions = [Execution((RunFact(one.name, "COMPLETE", one.at),)) for one in known]
    days = {one.at.date() for one in known}
    return due_by_rhythm(executions, days, is_truncated=is_truncated)


def _promised(tags: Sequence[str]) -> timedelta | None:
    """Return the shortest duration that a tag promises; None without such a tag."""
    found = []
    for tag in tags:
        if tag.casefold().startswith(TAG):
            try:
                found.append(parse_duration(tag[len(TAG) :], name="freshness"))
            except QueryError:
                continue
    return min(found, default=None)
