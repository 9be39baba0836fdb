"""Rule `stale-answer`: an answer that follows the newest data rests on data that should be newer.

A dataset that the answer cites, without naming a version, should be newer in two cases: new data is
late (`datasets/staleness.py`), or a run that should have written it failed and for an hour no
complete version followed. The answer is stale until that version comes.

A dataset upstream of a cited one makes the answer stale while its refresh has failed. If the cited
one was written meanwhile, so from old data, the answer stays stale until the first version of it
that was written after new data had come. Late data upstream counts only in that case, and from the
version that was written from old data: until then the cited one has no use for newer data.

The answer must exist before the end. An answer that is older than all this and cites a version that
was replaced before means that older data. Windows that overlap are one finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from headwater.health.findings.answers.history import AnswerHistory, UsedVersion
from headwater.health.findings.datasets.history import DatasetHistory
from headwater.health.findings.datasets.staleness import iso, stale_windows
from headwater.health.findings.models import Episode

RULE = "stale-answer"
# A retry within this time disturbs nobody.
RETRY_WITHIN = timedelta(hours=1)
LISTED_MAX = 20


@dataclass(frozen=True)
class _Window:
    """A time in which the answer rested on old data because of one dataset."""

    dataset: str
    start: datetime
    end: datetime | None
    ended_by: str | None
    reason: str
    run: str | None = None


def detect_stale_answer(history: AnswerHistory, instant: datetime) -> Iterator[Episode]:
    """Yield the episodes in which the answer was stale."""
    datasets = {one.urn: one for one in history.datasets}
    cited = [datasets[one.dataset] for one in history.used if one.is_cited]
    windows: list[_Window] = []
    for used in history.used:
        for window in _windows(datasets[used.dataset], instant):
            seen = window if used.is_cited else _through(window, cited)
            if seen is not None and _is_held(history, used, seen, datasets):
                windows.append(seen)
    for some in _overlapping(windows):
        yield _episode(history.urn, some)


def _windows(dataset: DatasetHistory, instant: datetime) -> Iterator[_Window]:
    for late in stale_windows(dataset, instant):
        yield _Window(dataset.urn, late.due, late.ended_at, late.ended_by, "late")
    complete = dataset.complete_versions
    for producer in dataset.producers:
        for run in producer.failures:
            if run.status != "FAIL" or not any(one.created_at <= run.at for one in complete):
                continue
            after = [(one.created_at, one.urn) for one in complete if one.created_at > run.at]
            end, ended_by = min(after, default=(None, None))
            if (end or instant) - run.at >= RETRY_WITHIN:
                yield _Window(dataset.urn, run.at, end, ended_by, "failed", run.urn)


def _through(window: _Window, cited: Sequence[DatasetHistory]) -> _Window | None:
    """Return when old data of a dataset upstream was in the cited ones, or was on its way."""
    has_failed = window.run is not None
    found: list[_Window] = []
    for dataset in cited:
        made = [(one.created_at, one.urn) for one in dataset.complete_versions]
        within = [at for at, _ in made if _is_within(at, window)]
        if within:
            after = [one for one in made if window.end is not None and one[0] >= window.end]
            end, ended_by = min(after, default=(None, None))
            start = window.start if has_failed else min(within)
            found.append(replace(window, start=start, end=end, ended_by=ended_by))
    return min(found, key=lambda one: one.start, default=window if has_failed else None)


def _is_within(at: datetime, window: _Window) -> bool:
    return at >= window.start and (window.end is None or at < window.end)


def _is_held(
    history: AnswerHistory,
    used: UsedVersion,
    window: _Window,
    datasets: Mapping[str, DatasetHistory],
) -> bool:
    """Return True if the answer existed, and still meant the newest data, in a window."""
    times = history.generations or ((history.generated_at,) if history.generated_at else ())
    if not times:
        return True
    if window.end is not None and times[0] >= window.end:
        return False
    if window.start <= times[-1] or used.made_at is None:
        return True
    made = [one.created_at for one in datasets[used.dataset].complete_versions]
    return not any(used.made_at < at <= window.start for at in made)


def _overlapping(windows: Sequence[_Window]) -> Iterator[list[_Window]]:
    """Yield the windows that overlap, earliest first."""
    some: list[_Window] = []
    end: datetime | None = None
    for window in sorted(windows, key=lambda one: (one.start, one.dataset, one.reason)):
        if some and (end is None or window.start <= end):
            some.append(window)
            end = None if end is None or window.end is None else max(end, window.end)
        else:
            if some:
                yield some
            some, end = [window], window.end
    if some:
        yield some


def _episode(urn: str, windows: Sequence[_Window]) -> Episode:
    ends = [(one.end, one.ended_by) for one in windows if one.end is not None]
    is_over = len(ends) == len(windows)
    end, ended_by = max(ends, key=lambda one: (one[0], one[1] or "")) if is_over else (None, None)
    return Episode(
        rule=RULE,
        subject=urn,
        # Not the dataset: another may be found late for the same time.
        key=iso(windows[0].start),
        first_seen=windows[0].start,
        last_seen=max(one.start for one in windows),
        resolved_at=end,
        resolved_by=ended_by,
        evidence={
            "causes": [_cause(one) for one in windows[:LISTED_MAX]],
            "count": len(windows),
        },
    )


def _cause(window: _Window) -> dict[str, Any]:
    return {
        "dataset": window.dataset,
        "reason": window.reason,
        "since": iso(window.start),
        "until": iso(window.end) if window.end else None,
        "run": window.run,
    }
