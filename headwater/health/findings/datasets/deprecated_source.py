"""Rule `deprecated-source`: a deprecated dataset is still read.

A dataset is deprecated if a person deprecated it, or if it has the tag `deprecated`. The finding
begins with the first run since then of a job that reads it; a tag has no time of its own, so there
every run counts. It ends when no job reads the dataset any longer: with the first run that
succeeded after the last read.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from headwater.health.findings.datasets.history import DatasetHistory, Reader
from headwater.health.findings.models import Episode

RULE = "deprecated-source"
TAGS = frozenset({"deprecated", "status=deprecated", "lifecycle=deprecated"})
LISTED_MAX = 20


class _Use(NamedTuple):
    """The first and the last read since the deprecation, and what ended it."""

    first: datetime
    last: datetime
    ended: tuple[datetime, str] | None


def detect_deprecated_source(history: DatasetHistory, _: datetime) -> Iterator[Episode]:
    """Yield the episode in which the deprecated dataset is read."""
    is_tagged = any(tag.casefold() in TAGS for tag in history.tags)
    since = history.deprecated_at
    if history.is_gone or (since is None and not is_tagged):
        return
    uses = {reader.job: use for reader in history.readers if (use := _use(reader, since))}
    if not uses:
        return
    ends = [use.ended for use in uses.values() if use.ended is not None]
    is_over = len(ends) == len(uses)
    readers = [reader for reader in history.readers if reader.job in uses]
    yield Episode(
        rule=RULE,
        subject=history.urn,
        key=since.isoformat() if since else "tag",
        first_seen=min(use.first for use in uses.values()),
        last_seen=max(use.last for use in uses.values()),
        resolved_at=max(ends)[0] if is_over else None,
        resolved_by=max(ends)[1] if is_over else None,
        evidence={
            "deprecatedAt": since.isoformat() if since else None,
            "reason": history.deprecation or None,
            "readers": [
                {"job": reader.job, "owners": list(reader.owners)}
                for reader in readers[:LISTED_MAX]
            ],
            "count": len(readers),
        },
    )


def _use(reader: Reader, since: datetime | None) -> _Use | None:
    """Return how a job used the dataset since its deprecation; None if it did not."""
    runs = [run for run in reader.runs if since is None or run.started_at >= since]
    if reader.is_current:
        times = [run.started_at for run in runs]
        first = reader.first_seen if since is None else min(times, default=None)
        return _Use(first, max(times), None) if times and first else None
    reads = [run.started_at for run in runs if run.ended_at <= reader.last_seen]
    if not reads:
        return None
    after = [(run.ended_at, run.urn) for run in runs if run.ended_at > reader.last_seen]
    first = reader.first_seen if since is None else min(reads)
    return _Use(first, max(reads), min(after, default=(reader.last_seen, reader.job)))
