"""Rules `orphan-dataset`, `unused-dataset` and `uninstrumented`: datasets that nobody looks after.

All three look at the clock, and none at a young graph:

- `orphan-dataset`: for 7 days nothing wrote the dataset, read it or cited it, and no link to
  another dataset is known. Sources that are still captured are none.
- `unused-dataset`: it has a writer, and for 90 days nothing read it or cited it. Models and exports
  are used elsewhere, so they are none; nor is a dataset from which another comes without a job.
- `uninstrumented`: jobs read it, in three runs at least and after 30 days too. No writer is known,
  and nobody declared it a source: by a capture, or by the tag `source` or `external`. It ends when
  nothing has read it for 30 days.

Dropped, deleted and deprecated datasets are none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from headwater.health.findings.datasets.history import DatasetHistory
from headwater.health.findings.models import Episode

ORPHAN_AFTER = timedelta(days=7)
UNUSED_AFTER = timedelta(days=90)
UNINSTRUMENTED_AFTER = timedelta(days=30)
_USED_ELSEWHERE = frozenset({"model", "report", "dashboard"})
_EXPORT_TAGS = frozenset({"export", "export=true", "external-consumer"})
READS_MIN = 3
LISTED_MAX = 20


def detect_upkeep(history: DatasetHistory, instant: datetime) -> Iterator[Episode]:
    """Yield the episode of a dataset without readers, without writers, or without both."""
    first = history.first_seen
    if first is None or history.is_gone or history.deprecated_at is not None or history.is_linked:
        return
    is_read, is_written = bool(history.current_readers), bool(history.producers)
    if is_read and not is_written and not history.is_source and not history.versions:
        yield from _uninstrumented(history, first, instant)
    if is_read or any(one.generated_at is None for one in history.citations):
        return
    cited = [one.generated_at for one in history.citations if one.generated_at is not None]
    if not is_written and not cited:
        since = max([first, *history.updates[-1:], *_last_uses(history)])
        yield from _overdue(history, "orphan-dataset", since, ORPHAN_AFTER, instant, {})
    elif is_written and not _is_used_elsewhere(history):
        since = max([first, *cited, *(reader.last_seen for reader in history.readers)])
        yield from _overdue(history, "unused-dataset", since, UNUSED_AFTER, instant, _size(history))


def _uninstrumented(
    history: DatasetHistory, first: datetime, instant: datetime
) -> Iterator[Episode]:
    readers = history.current_readers
    last = max(reader.last_seen for reader in readers)
    is_used = sum(len(reader.runs) for reader in readers) >= READS_MIN
    if not is_used or last < first + UNINSTRUMENTED_AFTER:
        return
    until = last + UNINSTRUMENTED_AFTER
    jobs = [reader.job for reader in readers]
    evidence = {"readers": jobs[:LISTED_MAX], "count": len(jobs)}
    for found in _overdue(
        history, "uninstrumented", first, UNINSTRUMENTED_AFTER, instant, evidence
    ):
        is_over = instant >= until
        yield replace(
            found,
            resolved_at=until if is_over else None,
            resolved_by="not read any longer" if is_over else None,
        )


def _last_uses(history: DatasetHistory) -> list[datetime]:
    """Return the last observations of former readers and writers."""
    found = [reader.last_seen for reader in history.readers]
    return [*found, *(version.created_at for version in history.versions[-1:])]


def _overdue(
    history: DatasetHistory,
    rule: str,
    since: datetime,
    after: timedelta,
    instant: datetime,
    evidence: dict[str, Any],
) -> Iterator[Episode]:
    due = since + after
    if instant < due:
        return
    yield Episode(
        rule=rule,
        subject=history.urn,
        key=since.isoformat(),
        first_seen=due,
        last_seen=due,
        evidence={"since": since.isoformat(), "days": after.days, **evidence},
    )


def _is_used_elsewhere(history: DatasetHistory) -> bool:
    is_export = any(tag.casefold() in _EXPORT_TAGS for tag in history.tags)
    return is_export or history.type.casefold() in _USED_ELSEWHERE


def _size(history: DatasetHistory) -> dict[str, Any]:
    newest = history.complete_versions[-1:]
    return {"bytes": newest[0].bytes if newest else None}
