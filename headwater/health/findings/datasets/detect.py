"""Every detector of datasets, run over one history."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import chain

from headwater.health.findings.datasets.contract_violation import detect_contract_violation
from headwater.health.findings.datasets.deprecated_source import detect_deprecated_source
from headwater.health.findings.datasets.failed_check import detect_failed_check
from headwater.health.findings.datasets.history import DatasetHistory
from headwater.health.findings.datasets.measures import detect_column_measures, detect_row_count
from headwater.health.findings.datasets.personal_data import detect_personal_data
from headwater.health.findings.datasets.schema_drift import detect_schema_drift
from headwater.health.findings.datasets.stale import detect_stale
from headwater.health.findings.datasets.uncertified_input import detect_uncertified_input
from headwater.health.findings.datasets.upkeep import detect_upkeep
from headwater.health.findings.models import Episode

Detector = Callable[[DatasetHistory, datetime], Iterator[Episode]]

DETECTORS: tuple[Detector, ...] = (
    detect_schema_drift,
    detect_row_count,
    detect_column_measures,
    detect_failed_check,
    detect_contract_violation,
    detect_stale,
    detect_deprecated_source,
    detect_uncertified_input,
    detect_upkeep,
    detect_personal_data,
)


def detect_dataset(history: DatasetHistory, instant: datetime) -> list[Episode]:
    """Return the episodes of all rules of datasets at an instant, by rule and beginning."""
    found = chain.from_iterable(detector(history, instant) for detector in DETECTORS)
    return sorted(found, key=lambda episode: (episode.rule, episode.first_seen, episode.key))
