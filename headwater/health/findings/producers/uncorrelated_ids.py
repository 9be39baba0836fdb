"""The rule `uncorrelated-ids`: parent runs that the runs of a producer name match no run that sends
events.

A day is bad if, of at least 20 distinct parent runs, fewer than 90 % sent an event of their own.
The runs are those in the namespaces of jobs that the producer's events name. Seed 2 (M8) asks for a
correlation of 90 %; its F5 is a failure of correlation between systems.
"""

from __future__ import annotations

from headwater.health.findings.models import Episode
from headwater.health.findings.producers.history import ProducerHistory
from headwater.health.findings.producers.streaks import DayState, find_streaks

RULE = "uncorrelated-ids"
PARENTS_MIN = 20
SHARE_MIN = 0.9


def detect_uncorrelated_ids(history: ProducerHistory) -> list[Episode]:
    """Return the days in a row on which too many parent runs were unknown."""
    states = []
    for one in history.parents:
        if one.total < PARENTS_MIN:
            continue
        share = one.known / one.total
        evidence = {
            "parentRuns": one.total,
            "known": one.known,
            "share": round(share, 3),
            "unknown": list(one.unknown),
        }
        states.append(DayState(one.day, share < SHARE_MIN, evidence))
    cut_at = history.parents[0].day if history.has_earlier_parents and history.parents else None
    return find_streaks(RULE, history.urn, states, cut_at=cut_at)
