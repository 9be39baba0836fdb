"""The history of an answer, as its detectors read it. Times come from events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater.health.findings.datasets.history import DatasetHistory


@dataclass(frozen=True)
class UsedVersion:
    """The newest version of a dataset on which an answer rests.

    version: the urn of the version or the source.
    made_at: when the version was made; None for a source.
    is_cited: True if the answer cites it; otherwise it lies upstream of a cited version.
    """

    dataset: str
    version: str
    made_at: datetime | None
    is_cited: bool


@dataclass(frozen=True)
class AnswerHistory:
    """An answer, what it rests on, and the histories of those datasets.

    generations: when it was generated, each time, earliest first.
    used: the versions behind its citations that follow the newest data; pinned ones are left out.
    datasets: the histories of the datasets in `used`.
    """

    urn: str
    generated_at: datetime | None = None
    generations: tuple[datetime, ...] = ()
    owners: tuple[str, ...] = ()
    used: tuple[UsedVersion, ...] = ()
    datasets: tuple[DatasetHistory, ...] = ()
