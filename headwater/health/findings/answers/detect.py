"""Every detector of answers, run over one history."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import chain

from headwater.health.findings.answers.history import AnswerHistory
from headwater.health.findings.answers.stale_answer import detect_stale_answer
from headwater.health.findings.models import Episode

Detector = Callable[[AnswerHistory, datetime], Iterator[Episode]]

DETECTORS: tuple[Detector, ...] = (detect_stale_answer,)


def detect_answer(history: AnswerHistory, instant: datetime) -> list[Episode]:
    """Return the episodes of all rules of answers at an instant, by rule and beginning."""
    found = chain.from_iterable(detector(history, instant) for detector in DETECTORS)
    return sorted(found, key=lambda episode: (episode.rule, episode.first_seen, episode.key))
