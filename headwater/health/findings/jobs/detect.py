"""Every detector of jobs, run over one history."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from headwater.health.findings.jobs.history import JobHistory
from headwater.health.findings.models import Episode

Detector = Callable[[JobHistory, datetime], Iterator[Episode]]

DETECTORS: tuple[Detector, ...] = ()


def detect_job(history: JobHistory, instant: datetime) -> list[Episode]:
    """Return the episodes of all rules of jobs at an instant, by rule and beginning."""
    found = [episode for detector in DETECTORS for episode in detector(history, instant)]
    return sorted(found, key=lambda episode: (episode.rule, episode.first_seen, episode.key))
