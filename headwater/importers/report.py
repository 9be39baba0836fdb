"""The report of an import: what it read, and what it passed over."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Problem:
    """A part of a source that was passed over: its place, for example `etl/load.sql:12`."""

    place: str
    reason: str


@dataclass
class ImportReport:
    """The counts of what an import read, by noun in the plural, and its problems in order.

    `notes` are sentences about the source as a whole.
    An importer is an iterator, so a report is complete when its iterator is exhausted."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add_problem(self, place: str, reason: str) -> None:
        """Add a part that was passed over."""
        self.problems.append(Problem(place, reason))

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        problems = [{"place": one.place, "reason": one.reason} for one in self.problems]
        return {"read": dict(self.counts), "problems": problems, "notes": self.notes}
