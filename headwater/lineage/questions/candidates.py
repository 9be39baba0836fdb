"""A possible root cause of bad data, and the weight of each kind."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater.lineage.questions.measure_changes import MeasureChange

WEIGHTS = {
    "FAILED": 100,
    "TESTS_FAILED": 90,
    "INPUT_CHANGED": 80,
    "SCHEMA_CHANGED": 70,
    "ROW_COUNT_OUTLIER": 60,
    "COLUMN_MEASURE_CHANGED": 50,
    "CODE_CHANGED": 40,
    "INPUT_LATE": 30,
}


@dataclass(frozen=True)
class Candidate:
    """A possible root cause.

    `urn` is the run, version or source that shows the sign. `run` is the run to examine, "" for a
    source; `occurred_at` is its start. `compared_with` are the urns of the nodes it was compared
    with. `measures` are the column measures that changed, the largest change first.
    """

    kind: str
    reason: str
    urn: str
    run: str
    occurred_at: datetime | None
    distance: int
    before: str | None = None
    after: str | None = None
    compared_with: tuple[str, ...] = ()
    measures: tuple[MeasureChange, ...] = ()

    @property
    def weight(self) -> int:
        """Return the weight of its kind: a heavier candidate is the likelier cause."""
        return WEIGHTS[self.kind]
