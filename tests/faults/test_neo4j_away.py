"""F04, F05, F07 and F08: Neo4j is absent at start or for an hour, killed under load, or paused.

The API continues to accept events, and the worker folds all of them later. These tests end and
pause a Neo4j that no other test uses.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.chunks import chunks
from headwater.cypher.driver.database import Database
from headwater.errors import UnavailableError
from tests.canonical import canonical
from tests.faults.checker import scaled
from tests.faults.history import counted, endless, expected, history
from tests.faults.load import Load, figures
from tests.faults.oracle import folded_at_once, replayed
from tests.faults.own_neo4j import OwnNeo4j
from tests.faults.processes import Installation, installation, slack, wait_for
from tests.torture import in_torture_only

pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(1800)]

POST_SECONDS_MAX = 2.0
ANSWER_SECONDS_MAX = 12.0
# Limits until the worker folds again (5 s at most on an idle machine) and until no event waits.
BACK_SECONDS_MAX = 60.0
CAUGHT_UP_SECONDS_MAX = 120.0
# The load continues until the API has accepted this many further events without Neo4j.
ACCEPTED_AWAY = 200
# An hour of ten events a second is ten times these runs, of two events each.
HOUR_RUNS = 1_800
POSTED_AT_ONCE = 100
ARRIVING_PER_SECOND, DRAIN_FACTOR = 10, 5
DRAINED_SECONDS_MAX = 120.0
ACCEPTED_SECONDS_MAX = 60.0
QUERY = '{ search(text: "mart") { __typename } }'


@pytest.fixture
def here(own: OwnNeo4j, tmp_path: Path) -> Iterator[Installation]:
    with installation(tmp_path / "home", own.server, fold_events_max=100) as installed:
        yield installed


@pytest.fixture
def running(own: OwnNeo4j, graph_of_own: Database) -> OwnNeo4j:
    """Return the running Neo4j, migrated and empty."""
    assert graph_of_own.uri == own.server.uri
    return own


def assert_reports_absence(here: Installation) -> None:
    """Assert that readyz and GraphQL report the absence within seconds."""
    ready = here.ask("/readyz")
    assert ready.status == 503
    assert ready.seconds < ANSWER_SECONDS_MAX
    checks = ready.json["checks"]
    assert checks["neo4j"]["ok"] is False
    assert checks["neo4j"]["reason"]
    assert checks["spool"] == {"ok": True}
    answer = here.graphql(QUERY)
    print(
        f"readyz {ready.seconds:.1f} s, GraphQL {answer.seconds:.1f} s: "
        f"{answer.json['errors'][0]['message'][:80]}"
    )
    assert answer.seconds < ANSWER_SECONDS_MAX
    assert "Neo4j" in answer.json["errors"][0]["message"]
    metrics = here.ask("/metrics")
    assert metrics.status == 200
    assert metrics.seconds < ANSWER_SECONDS_MAX
    assert b"headwater_neo4j_up 0.0" in metrics.body


def folded(here: Installation) -> float:
    return here.metric("headwater_events_folded_total")


def wait_caught_up(here: Installation, before: float) -> str:
    """Wait until the worker folds again and has caught up; return the durations as text."""
    mark = here.metric("headwater_events_received_total")
    back = wait_for("folding again", lambda: folded(here) > before, BACK_SECONDS_MAX)
    rest = wait_for("caught up", lambda: folded(here) >= mark, CAUGHT_UP_SECONDS_MAX)
    return f"folding again after {back:.1f} s, caught up {rest:.1f} s later"


def assert_graph_of_spool(here: Installation, own: OwnNeo4j) -> None:
    """Assert that every event of the spool is folded, and that the graph is theirs."""
    with own.database() as database:
        checkpoint = here.wait_folded(database, 60)
        stored = here.records()
        assert (checkpoint.folded, checkpoint.dead) == (len(stored), 0)
        assert canonical(database) == folded_at_once(database, set(stored.values()))
    assert here.worker.running
    assert "Traceback" not in here.worker.output()
    assert "Traceback" not in here.api.output()


@in_torture_only
def test_absent_at_start(own: OwnNeo4j, here: Installation) -> None:
    if own.runs:
        own.kill()
    here.start_api()
    here.worker.start()
    with Load(here.port, [[body] for body in history(300)], clients=4) as load:
        assert_reports_absence(here)
    seconds = load.slowest()
    print("absent:", figures(seconds))
    assert seconds[-1] < POST_SECONDS_MAX
    assert {attempt.status for attempt in load.attempts} == {201}
    started = own.start()
    print(f"Neo4j started in {started:.1f} s; {wait_caught_up(here, 0)}")
    with own.database() as database:
        assert counted(database) == expected(300)
    assert here.ask("/readyz").status == 200
    assert_graph_of_spool(here, own)


@in_torture_only
def test_down_for_an_hour(running: OwnNeo4j, tmp_path: Path) -> None:
    """The events of the hour come at once; the worker folds them faster than they would arrive."""
    running.kill()
    runs = HOUR_RUNS * scaled(1)
    bodies = history(runs)
    with installation(tmp_path / "home", running.server) as here:
        here.start_api()
        here.worker.start()
        with Load(here.port, chunks(bodies, POSTED_AT_ONCE), clients=2) as load:
            pass
        print("down:", figures(load.slowest()))
        assert {attempt.status for attempt in load.attempts} == {200}
        wait_for("it waits", lambda: "waiting_to_retry" in here.worker.output(), BACK_SECONDS_MAX)
        running.start()
        with running.database() as database:
            wait_for("folding", lambda: folded(here) > 0, DRAINED_SECONDS_MAX)
            began, before = time.monotonic(), folded(here)
            checkpoint = here.wait_folded(database, DRAINED_SECONDS_MAX * scaled(1))
            rate = (checkpoint.folded - before) / (time.monotonic() - began)
            print(f"{checkpoint.folded} events folded, {rate:.0f} a second")
            assert rate * slack() > DRAIN_FACTOR * ARRIVING_PER_SECOND
            assert (checkpoint.folded, checkpoint.dead) == (len(bodies), 0)
            assert counted(database) == expected(runs)
            assert canonical(database) == replayed(database, here)
        assert here.programs_with_tracebacks() == []


def test_killed_under_load(running: OwnNeo4j, here: Installation) -> None:
    here.start_api()
    here.worker.start()
    with running.database() as database, Load(here.port, endless(), clients=4, pause=0.02) as load:
        wait_for("some were folded", lambda: counted(database)["runs"] > 20, 60)
        running.kill()
        before = folded(here)
        down, mark = time.monotonic(), load.acknowledged + ACCEPTED_AWAY
        assert_reports_absence(here)
        wait_for("more was accepted", lambda: load.acknowledged >= mark, ACCEPTED_SECONDS_MAX)
        started = running.start()
        up = time.monotonic()
        load.stop()
        print(f"Neo4j back in {started:.1f} s; {wait_caught_up(here, before)}")
    seconds = load.slowest(down, up)
    print("killed:", figures(seconds))
    assert seconds[-1] < POST_SECONDS_MAX
    assert {attempt.status for attempt in load.attempts} == {201}
    assert_graph_of_spool(here, running)


@in_torture_only
def test_paused_under_load(running: OwnNeo4j, here: Installation) -> None:
    here.start_api()
    here.worker.start()
    with running.database() as database, Load(here.port, endless(), clients=4, pause=0.05) as load:
        wait_for("some were folded", lambda: counted(database)["runs"] > 20, 60)
        with running.paused():
            paused, mark = time.monotonic(), load.acknowledged + ACCEPTED_AWAY
            noticed = wait_for(
                "the worker noticed",
                lambda: "waiting_to_retry" in here.worker.output(),
                BACK_SECONDS_MAX,
            )
            assert_reports_absence(here)
            wait_for("more was accepted", lambda: load.acknowledged >= mark, ACCEPTED_SECONDS_MAX)
            before = folded(here)
        resumed = time.monotonic()
        load.stop()
        print(f"the worker noticed after {noticed:.1f} s; {wait_caught_up(here, before)}")
    seconds = load.slowest(paused, resumed)
    print("paused:", figures(seconds))
    assert seconds[-1] < POST_SECONDS_MAX
    assert {attempt.status for attempt in load.attempts} == {201}
    assert_graph_of_spool(here, running)


def test_a_paused_server_without_a_timeout_hint(running: OwnNeo4j) -> None:
    """The default settings of Neo4j let clients wait two minutes; Headwater's deadline holds."""
    with running.database() as database:
        database.ask("RETURN 1", {})
        for connections in database._driver._pool.connections.values():
            for connection in connections:
                connection.connection_hints.pop("connection.recv_timeout_seconds")
                connection.socket.set_read_timeout(None)
        began = time.monotonic()
        with (
            pytest.raises(UnavailableError),
            database.write(seconds=3) as transaction,
            running.paused(),
        ):
            transaction.run("write/maintenance/lock_graph", holder="test")
        assert time.monotonic() - began < 10
