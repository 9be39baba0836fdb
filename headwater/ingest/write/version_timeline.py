"""The newest versions of one dataset, and which of them was there at an instant.

The same question as `read/versions/versions_at` asks of the graph, answered from what is known: all versions made after
`floor` (all there are, when it is None). What lies further back is not known, and must be asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

# So many of each kind are read; of twice as many of both that are kept, half are forgotten.
TIMELINE_MAX = 8
_VERSIONS_MAX = 2 * TIMELINE_MAX
Row = Sequence[Any]


class Version(NamedTuple):
    """A version: when it was and is made, whether its run succeeded, its urn and that of the run."""

    created: datetime
    urn: str
    run: str | None
    started: datetime | None
    complete: bool


def read_timeline(complete: Sequence[Row], partial: Sequence[Row]) -> Timeline:
    """A timeline from the newest versions of each kind, newest first, each the fields of a `Version`. Where there are
    as many as were asked for, there may be others before them."""
    kinds = [[Version(*row) for row in rows] for rows in (complete, partial)]
    floors = [kind[-1].created for kind in kinds if len(kind) >= TIMELINE_MAX]
    return Timeline([version for kind in kinds for version in kind], max(floors, default=None))


class Timeline:
    """The versions of a dataset that were made after `floor`."""

    def __init__(self, versions: list[Version], floor: datetime | None) -> None:
        self._versions = {
            version.urn: version for version in versions if floor is None or version.created > floor
        }
        self._floor = floor

    def put(self, version: Version) -> None:
        """A version is known to be as it is now."""
        if self._floor is not None and version.created <= self._floor:
            self._versions.pop(version.urn, None)
            return
        self._versions[version.urn] = version
        if len(self._versions) > _VERSIONS_MAX:
            newest = sorted(self._versions.values(), key=lambda one: one.created, reverse=True)
            self._floor = newest[TIMELINE_MAX].created
            self._versions = {one.urn: one for one in newest if one.created > self._floor}

    def drop(self, urn: str) -> None:
        self._versions.pop(urn, None)

    def at(self, instant: datetime, reader: str) -> list[str] | None:
        """The urns of the versions that a reader which began then read: the newest complete one and the newest that a
        failed or unfinished run left after it, or else the first that was being made. Empty when there was none; None
        when it is not known."""
        whole: Version | None = None
        parts = []
        # Every reader asks, so this is one look at each; versions compare by when they were made, then by their urns.
        for one in self._versions.values():
            created, _, run, _, complete = one
            if created > instant or run == reader:
                continue
            if not complete:
                parts.append(one)
            elif whole is None or one > whole:
                whole = one
        if whole is None and self._floor is not None:
            return None
        left = [one for one in parts if whole is None or one.created > whole.created]
        found = [one.urn for one in (whole, max(left, default=None)) if one is not None]
        return found or self._begun(instant, reader)

    def _begun(self, instant: datetime, reader: str) -> list[str]:
        being_made = [
            one
            for one in self._versions.values()
            if one.started is not None
            and one.started <= instant < one.created
            and one.run != reader
        ]
        return [min(being_made).urn] if being_made else []
