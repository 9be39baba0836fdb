"""Two workers on one spool, one of them paused during its batches.

The graph is the same, and no event is folded twice.
"""

from __future__ import annotations

import random
import signal
import time
from functools import partial

import pytest

from headwater.cypher.driver.database import Database
from tests.canonical import canonical
from tests.faults.history import counted, expected, history
from tests.faults.load import Load
from tests.faults.oracle import folded_at_once
from tests.faults.processes import Installation, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.neo4j]

RUNS = 1_000
PAUSES = 3
PAUSE_SECONDS = 2.0


def folded(home: Installation, mark: int) -> bool:
    return home.metric("headwater_events_folded_total") >= mark


@pytest.mark.parametrize("seed", [20260102])
def test_two_workers(home: Installation, graph: Database, seed: int) -> None:
    print(f"seed {seed}")
    chance = random.Random(seed)
    bodies = history(RUNS)
    home.start_api()
    with Load(home.port, [bodies[i : i + 50] for i in range(0, len(bodies), 50)]):
        pass
    second = home.another_worker()
    home.worker.start()
    second.start()
    for pause in range(PAUSES):
        mark = len(bodies) * (pause + 1) // 10
        wait_for(f"{mark} folded", partial(folded, home, mark), 60)
        victim = chance.choice([home.worker, second])
        time.sleep(chance.uniform(0, 0.2))
        victim.signal(signal.SIGSTOP)
        time.sleep(PAUSE_SECONDS)
        victim.signal(signal.SIGCONT)
    checkpoint = home.wait_folded(graph, 60)
    assert (checkpoint.position, checkpoint.folded, checkpoint.dead) == (
        len(bodies),
        len(bodies),
        0,
    )
    assert home.worker.running
    assert second.running
    assert home.programs_with_tracebacks() == []
    both = home.worker.output() + second.output()
    print(f"another's batch was met {both.count('another worker has folded')} times")
    assert "another worker has folded" in both, "they never met"
    assert counted(graph) == expected(RUNS)
    assert canonical(graph) == folded_at_once(graph, bodies)
    assert home.worker.end() == 0
    assert second.end() == 0
