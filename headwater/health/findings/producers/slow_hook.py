"""The rule `slow-hook`: the events of a producer arrive late.

A day is bad if more than 5 % of the events arrived more than 60 seconds after their time: their
95th percentile is later than that. Seed 2, L254 (M5) sets that limit for ingestion. Only events
that arrived within a day of their time count, and days with at least 20 of them. A day on which the
clock of the producer was behind is left to `clock-skew`.
"""

from __future__ import annotations

from headwater.health.findings.models import Episode
from headwater.health.findings.producers.history import DAYS_MAX, ProducerHistory
from headwater.health.findings.producers.streaks import DayState, find_streaks

RULE = "slow-hook"
EVENTS_MIN = 20
LATE_SHARE_MAX = 0.05


def detect_slow_hook(history: ProducerHistory) -> list[Episode]:
    """Return the days in a row on which a producer delivered its events late."""
    states = []
    for day, counts in history.days:
        if counts.events < EVENTS_MIN or counts.behind > counts.events / 2:
            continue
        share = counts.late / counts.events
        evidence = {"events": counts.events, "late": counts.late, "lateShare": round(share, 3)}
        states.append(DayState(day, share > LATE_SHARE_MAX, evidence))
    cut_at = history.days[0][0] if len(history.days) >= DAYS_MAX else None
    return find_streaks(RULE, history.urn, states, cut_at=cut_at)
