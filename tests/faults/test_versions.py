"""F24: a home of an earlier version is upgraded with a full log; one of a later version is refused.

Nothing is released yet, so the earlier versions are those before the last one and two migrations,
with the first format of the spool.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import chain

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.migrate import _record, _run, _statements, migrations
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.ingest.write.transaction import read_checkpoint
from tests.canonical import canonical, empty
from tests.cypher.test_migrate import LATER, drop_schema, forget, migrated_later, schema_of
from tests.faults.checker import assert_nothing_lost, scaled
from tests.faults.history import history
from tests.faults.load import Attempt, Load
from tests.faults.processes import START_SECONDS_MAX, Installation, slack, wait_for
from tests.run_builders import RECEIVED

pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(900)]

RUNS = 200
REPORTED_SECONDS_MAX = 60.0


@contextmanager
def opened(home: Installation) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(home.spool_path)) as connection:
        yield connection
        connection.commit()


@pytest.fixture
def migrated_again(graph: Database) -> Iterator[None]:
    yield
    empty(graph)


def fill_as_before(home: Installation, graph: Database, versions: int) -> list[bytes]:
    """Give the home a log of which an earlier version has folded a half; return its events."""
    drop_schema(graph)
    forget(graph)
    earlier = migrations()[:-versions]
    for query in earlier:
        for statement in _statements(query.text):
            _run(graph, [statement])
    _record(graph, earlier)
    bodies = history(RUNS * scaled(1))
    half = len(bodies) // 2
    with closing(Spool(home.spool_path)) as spool:
        spool.append(bodies[:half], received=RECEIVED)
        worker = Worker(graph, spool)
        worker._checkpoint = read_checkpoint(graph, spool.id)  # without the migrations of a start
        while worker.step():
            pass
        assert read_checkpoint(graph, spool.id).position == half
        spool.append(bodies[half:], received=RECEIVED + half)
    with opened(home) as connection:
        connection.execute("DROP TABLE skipped")
        connection.execute("PRAGMA user_version = 0")
    return bodies


@pytest.mark.parametrize("versions", [1, 2])
@pytest.mark.usefixtures("migrated_again")
def test_an_upgrade_with_a_full_log(home: Installation, graph: Database, versions: int) -> None:
    schema = schema_of(graph)
    bodies = fill_as_before(home, graph, versions)
    home.start_api()
    assert f"the next is {migrations()[-versions].name}" in home.ask("/readyz").body.decode()
    later = history(50, first=RUNS * scaled(1))
    with Load(home.port, [[body] for body in later], clients=2) as load:
        home.worker.start()
    wait_for("ready", lambda: home.ask("/readyz").status == 200, REPORTED_SECONDS_MAX)
    assert schema_of(graph) == schema
    stored = [Attempt((body,), 0.0, 0.0, 201, seq) for seq, body in enumerate(bodies, start=1)]
    assert_nothing_lost(home, graph, chain(stored, load.attempts))


def test_a_graph_of_a_later_version(home: Installation, graph: Database) -> None:
    with migrated_later(graph):
        before = canonical(graph)
        home.start_api()
        home.worker.start()
        with Load(home.port, [[body] for body in history(20)], clients=2) as load:
            pass
        assert {attempt.status for attempt in load.attempts} == {201}
        ready = home.ask("/readyz")
        assert (ready.status, LATER in ready.json["reasons"][0]) == (503, True)
        wait_for(
            "the reason",
            lambda: f"a newer Headwater has migrated this graph to {LATER}" in home.worker.output(),
            REPORTED_SECONDS_MAX,
        )
        assert home.worker.running
        assert canonical(graph) == before
    assert_nothing_lost(home, graph, load.attempts)


def test_a_spool_of_a_later_version(home: Installation) -> None:
    with closing(Spool(home.spool_path)) as spool:
        spool.append(history(2), received=RECEIVED)
    with opened(home) as connection:
        connection.execute("PRAGMA user_version = 99")
    for program in (home.api, home.worker):
        program.start()
        began = time.monotonic()
        while program.running:
            assert time.monotonic() - began < START_SECONDS_MAX * slack(), program.output()
            time.sleep(0.05)
        assert "a newer Headwater wrote the spool" in program.output(), program.output()
    assert home.programs_with_tracebacks() == []
    with opened(home) as connection:
        assert connection.execute("SELECT count(*) FROM event").fetchone() == (4,)
