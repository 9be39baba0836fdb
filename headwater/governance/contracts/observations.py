"""What is known about a dataset, as the clauses of a contract are compared with it.

Times come from events. Sequences are in order of time, earliest first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from headwater.schema.drift import Fields


@dataclass(frozen=True)
class Observation:
    """What one version of a dataset shows, or a schema that was observed without a version.

    fields: the types of its columns; None if no schema was reported with it.
    null_shares, distinct_counts: by column. checks: success by name and column ("" for none).
    """

    urn: str
    at: datetime
    run: str = ""
    job: str = ""
    fields: Fields | None = None
    rows: float | None = None
    null_shares: Mapping[str, float] = field(default_factory=dict)
    distinct_counts: Mapping[str, float] = field(default_factory=dict)
    checks: Mapping[tuple[str, str], bool] = field(default_factory=dict)


@dataclass(frozen=True)
class NewData:
    """When data became new, and the version or the words that name it."""

    at: datetime
    name: str


@dataclass(frozen=True)
class Observed:
    """Everything that is known about one dataset."""

    observations: tuple[Observation, ...] = ()
    updates: tuple[NewData, ...] = ()
