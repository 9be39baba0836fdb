"""The whole history: regular days, with the problems and the innocent changes."""

from __future__ import annotations

import random
from functools import cache

from tests.health.findings.thirty_days.innocent import CHANGES
from tests.health.findings.thirty_days.plan import Sent
from tests.health.findings.thirty_days.problems import PROBLEMS
from tests.health.findings.thirty_days.shop import regular_days
from tests.run_builders import Event


@cache
def history() -> tuple[Sent, ...]:
    """Return all events in the order in which they arrive."""
    plan = regular_days()
    for edit in (*PROBLEMS, *CHANGES):
        edit(plan)
    return tuple(plan.events())


def shuffled(seed: int) -> list[Event]:
    """Return the events in random order, each third one twice."""
    events = [sent.event for sent in history()]
    events += events[::3]
    random.Random(seed).shuffle(events)
    return events
