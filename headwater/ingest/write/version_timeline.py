"""The newest versions of one dataset, and which of them existed at an instant.

A timeline answers the question of `read/versions/versions_at` from cached versions: all versions
made after `floor`, or all versions if `floor` is None. It does not know older ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

# The versions of each kind that are read. Beyond twice as many of both kinds, half are removed.
TIMELINE_MAX = 8
_VERSIONS_MAX = 2 * TIMELINE_MAX
Row = Sequence[Any]


class Version(NamedTuple):
    """A version: its creation, its urn, the urn and start of its run, and if the run succeeded.

    `write_mode` and `inputs_hash` are those of the node. `kept` is the urn of the version whose
    content it kept, "" without one.
    """

    created: datetime
    urn: str
    run: str | None
    started: datetime | None
    complete: bool
    write_mode: str | None = None
    inputs_hash: str | None = None
    kept: str = ""


# By the urn of a run that dropped the dataset: when it ended.
Drops = dict[str, datetime]


def read_timeline(
    complete: Sequence[Row], partial: Sequence[Row], drops: Sequence[Row] = ()
) -> Timeline:
    """Return a timeline of the newest versions of each kind, newest first, as fields of `Version`.

    A kind with `TIMELINE_MAX` rows may have older versions. `drops` are pairs of a run and its end.
    """
    versions: list[Version] = []
    floors = []
    for rows in (complete, partial):
        versions += [Version(*row) for row in rows]
        if len(rows) >= TIMELINE_MAX:
            floors.append(versions[-1].created)
    return Timeline(versions, max(floors, default=None), {row[0]: row[1] for row in drops})


class Timeline:
    """The versions of a dataset that were made after `floor`, and all runs that dropped it."""

    def __init__(
        self, versions: list[Version], floor: datetime | None, drops: Drops | None = None
    ) -> None:
        self.drops: Drops = drops or {}
        self._versions = {
            version.urn: version for version in versions if floor is None or version.created > floor
        }
        self._floor = floor

    def put(self, version: Version) -> None:
        """Add or replace a version. A replaced one still keeps the same content."""
        known = self._versions.get(version.urn)
        if known is not None and known.kept:
            version = version._replace(kept=known.kept)
        if self._floor is not None and version.created <= self._floor:
            self._versions.pop(version.urn, None)
            return
        self._versions[version.urn] = version
        if len(self._versions) > _VERSIONS_MAX:
            newest = sorted(
                self._versions.values(), key=lambda version: version.created, reverse=True
            )
            self._floor = newest[TIMELINE_MAX].created
            self._versions = {
                version.urn: version for version in newest if version.created > self._floor
            }

    def drop(self, urn: str) -> None:
        """Remove a version."""
        self._versions.pop(urn, None)

    def set_kept(self, urn: str, kept: str) -> None:
        """Set the version whose content a version kept."""
        if urn in self._versions:
            self._versions[urn] = self._versions[urn]._replace(kept=kept)

    def around(self, instant: datetime) -> list[Version] | None:
        """Return the versions from the last complete one before an instant to the first one after.

        They are in order. None if only older versions can answer.
        """
        versions = sorted(self._versions.values())
        complete = [version for version in versions if version.complete]
        before = [version for version in complete if version.created < instant]
        if not before and self._floor is not None:
            return None
        after = next((version for version in complete if version.created > instant), None)
        first = before[-1].created if before else datetime.min.replace(tzinfo=UTC)
        last = after.created if after else datetime.max.replace(tzinfo=UTC)
        return [version for version in versions if first <= version.created <= last]

    def at(self, instant: datetime, consumer: str) -> list[str] | None:
        """Return the urns of the versions that a consumer read if it started at an instant.

        These are the newest complete version, and the newest one that a failed or unfinished run
        left after it; without both, the first version that was being written. Empty if there was
        none, None if only older versions can answer.
        """
        complete: Version | None = None
        partial = []
        # Each version is visited once. Versions compare by creation, then by urn.
        for version in self._versions.values():
            created, _, run, _, is_complete, *_ = version
            if created > instant or run == consumer:
                continue
            if not is_complete:
                partial.append(version)
            elif complete is None or version > complete:
                complete = version
        if complete is None and self._floor is not None:
            return None
        later_partial = [
            version for version in partial if complete is None or version.created > complete.created
        ]
        found = [
            version.urn
            for version in (complete, max(later_partial, default=None))
            if version is not None
        ]
        return found or self._being_written(instant, consumer)

    def _being_written(self, instant: datetime, consumer: str) -> list[str]:
        started = [
            version
            for version in self._versions.values()
            if version.started is not None
            and version.started <= instant < version.created
            and version.run != consumer
        ]
        return [min(started).urn] if started else []
