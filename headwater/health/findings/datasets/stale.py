"""Rules `stale-source` and `stale-dataset`: new data was due and did not come.

`staleness` has when data is due. The finding begins at the due time, once the grace is over, and
ends with the next data, or when the dataset counts as stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from headwater.health.findings.datasets.history import DatasetHistory
from headwater.health.findings.datasets.staleness import iso, stale_windows
from headwater.health.findings.models import Episode

DATASET, SOURCE = "stale-dataset", "stale-source"


def detect_stale(history: DatasetHistory, instant: datetime) -> Iterator[Episode]:
    """Yield the episodes in which new data of the dataset was late."""
    rule = DATASET if history.versions else SOURCE
    for window in stale_windows(history, instant):
        yield Episode(
            rule=rule,
            subject=history.urn,
            key=window.last.name if history.versions else iso(window.last.at),
            first_seen=window.due,
            last_seen=window.due,
            resolved_at=window.ended_at,
            resolved_by=window.ended_by,
            evidence={
                "last": window.last.name,
                "lastAt": iso(window.last.at),
                "due": iso(window.due),
                "periodSeconds": round(window.period.total_seconds()),
                "source": window.source,
            },
        )
