"""F05, F06, F22 and F30: random kills, pauses and restarts of the API and two workers under load.

F17: the clock of the programs goes forward and back, and stands still, while they run.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.spool.spool import Spool
from headwater.ingest.write.transaction import read_checkpoint
from tests.conftest import Neo4jServer
from tests.faults.checker import assert_nothing_lost, scaled, seeded
from tests.faults.history import endless
from tests.faults.load import Load
from tests.faults.processes import Installation, Program, installation, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(1800)]

PROGRESS_SECONDS_MAX = 120.0
FAULTS = 10
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
# Offsets of the clock, in the syntax of faketime; the one with a date stands still.
CLOCKS = ("+1d", "-1d", "+0", "2026-03-01 12:00:00", "-1h", "+1h", "@2026-06-01 00:00:00", "+0")


def has_accepted(load: Load, mark: int) -> bool:
    return load.acknowledged >= mark


def wait_accepted(load: Load, number: int) -> None:
    mark = load.acknowledged + number
    wait_for("more accepted", partial(has_accepted, load, mark), PROGRESS_SECONDS_MAX)


def folded(graph: Database, spool_id: str) -> int:
    return read_checkpoint(graph, spool_id).position


def wait_folded(graph: Database, spool_id: str) -> None:
    before = folded(graph, spool_id)
    wait_for("folding", lambda: folded(graph, spool_id) > before, PROGRESS_SECONDS_MAX)


def inject(home: Installation, program: Program, fault: str, meanwhile: Callable[[], None]) -> None:
    """Inject a fault into one program, wait for `meanwhile`, and repair it."""
    if fault == "pause":
        program.signal(signal.SIGSTOP)
        meanwhile()
        program.signal(signal.SIGCONT)
        return
    if fault == "terminate":
        # uvicorn ends by the signal itself once its requests are answered.
        assert program.end() in (0, -signal.SIGTERM)
    else:
        program.kill()
    meanwhile()
    if program is home.api:
        home.start_api()
    else:
        program.start()


def spool_id_of(home: Installation) -> str:
    spool = Spool(home.spool_path)
    spool.close()
    return spool.id


def test_random_faults_of_the_programs(home: Installation, graph: Database) -> None:
    chance: random.Random = seeded(20261130)
    home.start_api()
    second = home.another_worker()
    workers = [home.worker, second]
    for worker in workers:
        worker.start()
    programs = [home.api, *workers, *workers]
    with Load(home.port, endless(), clients=3, pause=0.3, seconds_max=1_500) as load:
        spool_id = spool_id_of(home)
        wait_folded(graph, spool_id)
        for _ in range(scaled(FAULTS)):
            program = chance.choice(programs)
            fault = chance.choice(["kill", "pause", "terminate"])
            print(f"{fault} {program.log.name} at event {load.acknowledged}")
            if program is home.api:
                # No event is accepted meanwhile, but the accepted ones are folded.
                inject(home, program, fault, lambda: None)
            else:
                inject(home, program, fault, partial(wait_accepted, load, 5))
            wait_accepted(load, 5)
            wait_folded(graph, spool_id)
        load.stop()
    assert_nothing_lost(home, graph, load.attempts)


@pytest.mark.skipif(not FAKETIME.exists(), reason="faketime is not installed")
def test_steps_of_the_clock(graph: Database, neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    clock.write_text("+0\n")
    with installation(tmp_path / "home", neo4j_server, fold_events_max=200) as home:
        for program in (home.api, home.worker):
            program.environment |= {
                "LD_PRELOAD": os.fspath(FAKETIME),
                "FAKETIME_TIMESTAMP_FILE": os.fspath(clock),
                "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }
        home.start_api()
        home.worker.start()
        with Load(home.port, endless(), clients=2, pause=0.3, seconds_max=1_500) as load:
            spool_id = spool_id_of(home)
            wait_folded(graph, spool_id)
            for step in CLOCKS * scaled(1):
                replacement = tmp_path / "next"
                replacement.write_text(f"{step}\n")
                replacement.replace(clock)
                wait_accepted(load, 5)
                wait_folded(graph, spool_id)
                print(f"{step}: accepted {load.acknowledged}, folded {folded(graph, spool_id)}")
            load.stop()
        assert {attempt.status for attempt in load.attempts} == {201}
        assert_nothing_lost(home, graph, load.attempts)
