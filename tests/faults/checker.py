"""Comparison of the attempted, acknowledged, stored and folded events of a run.

`FAULT_SEED` sets the seed of every random choice, which each test prints. `FAULT_SCALE`
multiplies the number of faults: `make torture` sets it to 10.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from headwater.cypher.driver.database import Database
from tests.canonical import canonical
from tests.faults.load import Attempt
from tests.faults.oracle import folded_at_once
from tests.faults.processes import Installation
from tests.torture import FAULT_SCALE

FOLDED_SECONDS_MAX = 120.0


def scaled(number: int) -> int:
    """Return a number of faults for CI, multiplied for a longer run."""
    return number * FAULT_SCALE


def seeded(default: int) -> random.Random:
    """Return a random source, and print its seed."""
    seed = int(os.environ.get("FAULT_SEED", default))
    print(f"FAULT_SEED={seed} {FAULT_SCALE=}")
    return random.Random(seed)


@dataclass(frozen=True)
class Verdict:
    """The counts of events of a run.

    `unknown` events are stored although no client got an acknowledgement for one of their
    attempts: the retry stored them again, and they take effect once.
    """

    attempted: int
    acknowledged: int
    stored: int
    lost: tuple[bytes, ...]
    unknown: int

    def __str__(self) -> str:
        return (
            f"{self.attempted} attempted, {self.acknowledged} acknowledged, {self.stored} stored, "
            f"{len(self.lost)} lost, {self.unknown} stored without an acknowledgement"
        )


def compare(attempts: Iterable[Attempt], stored: dict[int, bytes]) -> Verdict:
    """Compare the attempts of clients with the events of the spool, by sequence number."""
    attempts = list(attempts)
    acknowledged = [attempt for attempt in attempts if attempt.acknowledged]
    bodies = set(stored.values())
    sent = chain.from_iterable(attempt.bodies for attempt in acknowledged)
    lost = [body for body in sent if body not in bodies]
    lost += [
        attempt.bodies[0]
        for attempt in acknowledged
        if attempt.sequence and stored.get(attempt.sequence) != attempt.bodies[0]
    ]
    accepted = sum(len(attempt.bodies) for attempt in acknowledged)
    return Verdict(
        sum(len(attempt.bodies) for attempt in attempts),
        accepted,
        len(stored),
        tuple(lost),
        len(stored) - accepted,
    )


def assert_nothing_lost(
    home: Installation, graph: Database, attempts: Iterable[Attempt], *, dead: int = 0
) -> Verdict:
    """Assert that all acknowledged events took effect once, and return the counts.

    It waits until everything is folded, ends the workers, and compares the graph with that of the
    same events without faults. The graph is that one afterwards.
    """
    checkpoint = home.wait_folded(graph, FOLDED_SECONDS_MAX)
    for worker in (home.worker, *home.more_workers):
        worker.kill()
    stored = home.records()
    verdict = compare(attempts, stored)
    print(verdict)
    assert verdict.lost == ()
    assert verdict.unknown >= 0
    counts = (checkpoint.position, checkpoint.folded, checkpoint.dead)
    assert counts == (len(stored), len(stored) - dead, dead)
    assert home.programs_with_tracebacks() == []
    afterwards = canonical(graph)
    expected = folded_at_once(graph, sorted(set(stored.values())))
    for lines, expected_lines in zip(afterwards, expected, strict=True):
        print(*sorted(set(lines) ^ set(expected_lines))[:10], sep="\n")
    assert afterwards == expected
    return verdict
