"""kill -9 of the API and the worker at random instants of 2,000 events.

No event is lost, and none is folded twice.
"""

from __future__ import annotations

import random
import time
from functools import partial

import pytest

from headwater.cypher.driver.database import Database
from tests.canonical import canonical
from tests.faults.history import counted, expected, history
from tests.faults.load import Load
from tests.faults.oracle import folded_at_once, replayed
from tests.faults.processes import Installation, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.neo4j]

RUNS = 1_000
KILLS = ["api", "api", "api", "api", "worker", "worker", "worker", "worker", "both"]


def groups(bodies: list[bytes], chance: random.Random) -> list[list[bytes]]:
    """Return the events as single events and small batches, in random order."""
    chance.shuffle(bodies)
    cut: list[list[bytes]] = []
    while bodies:
        size = 1 if chance.random() < 0.8 else chance.randint(2, 10)
        cut.append([bodies.pop() for _ in range(min(size, len(bodies)))])
    return cut


def inject(home: Installation, victim: str) -> None:
    for program in (home.api, home.worker):
        if victim in ("both", {"serve": "api"}.get(program.name, program.name)):
            program.kill()
    if not home.api.running:
        home.start_api()
    if not home.worker.running:
        home.worker.start()


def reached(load: Load, mark: int) -> bool:
    return load.acknowledged >= mark


@pytest.mark.parametrize("seed", [20260101])
def test_no_event_is_lost_or_folded_twice(home: Installation, graph: Database, seed: int) -> None:
    print(f"seed {seed}")
    chance = random.Random(seed)
    bodies = history(RUNS)
    work = groups(list(bodies), chance)
    kills = chance.sample(KILLS, k=len(KILLS))
    # Each kill is at a random instant within its share of the load.
    marks = [int(len(bodies) * (k + chance.random()) / len(kills)) for k in range(len(kills))]
    home.start_api()
    home.worker.start()
    with Load(home.port, work, clients=4, pause=0.005) as load:
        for victim, mark in zip(kills, marks, strict=True):
            wait_for(f"{mark} acknowledged", partial(reached, load, mark), 60)
            time.sleep(chance.uniform(0, 0.02))
            inject(home, victim)
            print(f"killed {victim} after {mark} of {len(bodies)}")
    checkpoint = home.wait_folded(graph, 60)

    stored = home.records()
    lost = [
        attempt.sequence
        for attempt in load.acked()
        if attempt.sequence and stored.get(attempt.sequence) != attempt.bodies[0]
    ]
    assert lost == []
    assert set(stored.values()) == set(bodies)
    assert (checkpoint.position, checkpoint.folded, checkpoint.dead) == (
        len(stored),
        len(stored),
        0,
    )
    failures = sum(not attempt.acknowledged for attempt in load.attempts)
    print(
        f"{len(load.attempts)} attempts, {failures} not answered, {len(stored)} accepted, "
        f"of {len(bodies)} events"
    )
    assert failures > 0, "the kills hit nobody"
    assert home.programs_with_tracebacks() == []

    assert counted(graph) == expected(RUNS)
    afterwards = canonical(graph)
    expected_graph = replayed(graph, home)
    for lines, expected_lines in zip(afterwards, expected_graph, strict=True):
        print(*sorted(set(lines) ^ set(expected_lines))[:10], sep="\n")
    assert afterwards == expected_graph
    assert afterwards == folded_at_once(graph, chance.sample(bodies, k=len(bodies)))
