"""The rule `clock-skew`: the times in the events of a producer differ from their receipt.

A day is bad if the median of the delays from event time to receipt is beyond five minutes either
way, or if more than 1 % of the events are dated after their receipt. Only events that arrived
within a day of their time count, and days with at least 20 of them. So an import of a history is no
skew.
"""

from __future__ import annotations

from headwater.health.findings.models import Episode
from headwater.health.findings.producers.history import DAYS_MAX, ProducerHistory
from headwater.health.findings.producers.streaks import DayState, find_streaks

RULE = "clock-skew"
EVENTS_MIN = 20
FUTURE_SHARE_MAX = 0.01


def detect_clock_skew(history: ProducerHistory) -> list[Episode]:
    """Return the days in a row on which the clock of a producer was wrong."""
    states = []
    for day, counts in history.days:
        if counts.events < EVENTS_MIN:
            continue
        ahead, behind, future = (
            number / counts.events for number in (counts.ahead, counts.behind, counts.future)
        )
        # More than half of the delays are beyond the limit if and only if their median is.
        is_bad = max(ahead, behind) > 0.5 or future > FUTURE_SHARE_MAX
        evidence = {
            "events": counts.events,
            "aheadShare": round(ahead, 3),
            "behindShare": round(behind, 3),
            "futureShare": round(future, 3),
        }
        states.append(DayState(day, is_bad, evidence))
    cut_at = history.days[0][0] if len(history.days) >= DAYS_MAX else None
    return find_streaks(RULE, history.urn, states, cut_at=cut_at)
