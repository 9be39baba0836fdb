"""Every detector of producers, run over one history."""

from __future__ import annotations

from datetime import datetime

from headwater.health.findings.models import Episode
from headwater.health.findings.producers.cardinality import detect_cardinality
from headwater.health.findings.producers.clock_skew import detect_clock_skew
from headwater.health.findings.producers.history import ProducerHistory
from headwater.health.findings.producers.slow_hook import detect_slow_hook
from headwater.health.findings.producers.uncorrelated_ids import detect_uncorrelated_ids


def detect_producer(history: ProducerHistory, instant: datetime) -> list[Episode]:
    """Return the episodes of all rules of producers at an instant, by rule and beginning."""
    found = [
        *detect_clock_skew(history),
        *detect_slow_hook(history),
        *detect_uncorrelated_ids(history),
        *detect_cardinality(history, instant),
    ]
    return sorted(found, key=lambda episode: (episode.rule, episode.first_seen, episode.key))
