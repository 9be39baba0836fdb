"""The detector as a process: what it waits for, what survives kill -9, and what it leaves alone."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database, Transaction
from headwater.health.findings.changed_nodes import read_graph_state
from headwater.health.findings.detector import Detector, read_state
from headwater.health.findings.sweep import read_passes
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.conftest import Neo4jServer
from tests.properties.test_findings import catch_up, stored_findings, story, write_some

pytestmark = pytest.mark.neo4j
SECONDS_MAX = 240.0


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline, "the condition was never met"
        time.sleep(0.2)


def start(server: Neo4jServer, home: Path) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "HEADWATER_HOME": str(home),
        "HEADWATER_NEO4J_URI": server.uri,
        "HEADWATER_NEO4J_USER": server.user,
        "HEADWATER_NEO4J_PASSWORD": server.password,
    }
    return subprocess.Popen([sys.executable, "-m", "headwater", "detect"], env=environment)


def is_in_step(database: Database) -> bool:
    """Return True if the last pass read the present revision, and a full pass was made."""
    view = GraphView(database)
    state, present = read_state(view), read_graph_state(view)
    return (
        state.cursor.graph == present.graph
        and state.cursor.revision >= present.revision
        and state.full_pass_at is not None
    )


def test_a_killed_detector_loses_nothing(
    database: Database, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    empty(database)
    events = story(random.Random(5))
    first, second = events[: len(events) // 2], events[len(events) // 2 :]
    write_some(database, first)
    process = start(neo4j_server, tmp_path)
    try:
        wait_until(lambda: stored_findings(database))
        process.kill()
        process.wait()
        write_some(database, second)
        process = start(neo4j_server, tmp_path)
        wait_until(lambda: is_in_step(database))
    finally:
        process.terminate()
        assert process.wait(60) == 0
    found = stored_findings(database)
    assert found
    Detector(database).full_pass()
    assert stored_findings(database) == found
    empty(database)


def test_after_an_erasure_it_waits_until_every_event_is_folded(
    database: Database, tmp_path: Path
) -> None:
    empty(database)
    spool = Spool(tmp_path / "spool.db")
    bodies = [json.dumps(event).encode() for event in story(random.Random(2))]
    spool.append(bodies, received=1)
    detector = Detector(database, spool=spool)
    write_some(database, story(random.Random(2))[:4])
    assert detector.step() is None, "nothing of the spool is folded"
    assert read_state(GraphView(database)).full_pass_at is None
    Worker(database, spool).run(until_done=True)
    catch_up(detector)
    assert read_state(GraphView(database)).full_pass_at is not None
    assert stored_findings(database)
    spool.close()
    empty(database)


def test_a_clock_that_was_ahead_delays_no_full_pass(database: Database) -> None:
    empty(database)
    instants = [datetime.now(UTC) + timedelta(days=10)]
    detector = Detector(database, clock=lambda: instants[-1])
    catch_up(detector)
    assert read_state(GraphView(database)).full_pass_at == instants[0]
    instants.append(datetime.now(UTC))
    catch_up(detector)
    assert read_state(GraphView(database)).full_pass_at == instants[1]


def test_a_pass_does_not_move_the_revision_of_the_graph(database: Database) -> None:
    empty(database)
    write_some(database, story(random.Random(5)))
    before = read_graph_state(GraphView(database))
    catch_up(Detector(database))
    assert stored_findings(database)
    assert read_graph_state(GraphView(database)) == before
    empty(database)


def test_pages_of_a_full_pass_do_not_each_enqueue_alerts(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty(database)
    write_some(database, story(random.Random(5)))
    monkeypatch.setattr("headwater.health.findings.sweep.SUBJECTS_PER_CHUNK", 1)
    monkeypatch.setattr("headwater.health.findings.detector.TICK_SECONDS", 3600.0)
    instants: list[datetime] = []

    def enqueue(_: Transaction, instant: datetime) -> datetime:
        instants.append(instant)
        return instant

    detector = Detector(database, enqueue=enqueue)
    view = GraphView(database)
    pages = 0
    while not is_in_step(database):
        pages += detector.step() is not None
    assert pages > 5
    # That of the first page, and that of the end.
    assert len(instants) == 2
    assert read_passes(view) > 0
    empty(database)


def test_an_idle_detector_rests_for_seconds_after_a_slow_step(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    detector = Detector(database)
    began = time.monotonic()
    monkeypatch.setattr(detector, "_worked_since", began - 90)
    monkeypatch.setattr(detector, "step", lambda: None)
    rests: list[float] = []

    def note(seconds: float) -> None:
        rests.append(seconds)
        detector.stop.set()

    monkeypatch.setattr(time, "monotonic", iter([began, began + 90, began + 90]).__next__)
    monkeypatch.setattr(detector.stop, "wait", note)
    detector.run()
    assert rests == [5]
