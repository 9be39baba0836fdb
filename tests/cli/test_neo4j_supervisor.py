"""The supervisor judges Neo4j by a query: a stopped, a full and a damaged server come back.

The servers are real. The disk is a small tmpfs.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from headwater.cli.neo4j_supervisor import Neo4jSupervisor
from headwater.cypher.driver.database import Database
from headwater.cypher.sandbox.run import run_text
from headwater.errors import DamagedDataError, HeadwaterError, ServerError, UnavailableError
from headwater.local.neo4j import LocalNeo4j
from headwater.local.neo4j_settings import Sizes
from headwater.settings import Settings
from tests.conftest import Neo4jServer, jar_cache
from tests.faults.checker import assert_nothing_lost
from tests.faults.disks import small_disk
from tests.faults.history import history
from tests.faults.load import Load
from tests.faults.processes import installation, wait_for
from tests.faults.proxy import FaultProxy, Faults

pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(1800)]

MEGABYTES = 64
RUNS = 50
ROOM_BYTES = 16 * 2**20
SILENT_SECONDS = 4.0
BACK_SECONDS_MAX = 120.0
BUSY_SECONDS = 15.0
OUTLIVED_SECONDS = 5.0
# Neo4j looks at the time between rows, and this is one row that takes minutes.
ENDLESS_QUESTION = (
    "UNWIND range(1, 100000) AS x WITH collect(x) AS l "
    "RETURN size([y IN l WHERE size(toStringList(l)) = 0]) AS n"
)
LONG_QUESTION = "UNWIND range(1, 1000000000000) AS i WITH i WHERE i % 7 = 8 RETURN count(i) AS n"


class Supervised:
    """A supervised Neo4j with what its supervisor reported."""

    def __init__(self, disk: Path, problem_file: Path) -> None:
        self.disk = disk
        self.neo4j = LocalNeo4j(disk / "home", 0, sizes=Sizes(heap_mb=256), cache=jar_cache())
        address = self.neo4j.prepare()
        assert address.pid == 0
        self.server = Neo4jServer(address.uri, address.user, address.password)
        self.database = Database(address.uri, address.user, address.password)
        self.lines: list[str] = []
        self.problem_file = problem_file
        self.supervisor = Neo4jSupervisor(
            self.neo4j,
            self.database,
            problem_file=problem_file,
            report=self.lines.append,
            silent_seconds_max=SILENT_SECONDS,
            outlived_seconds_max=OUTLIVED_SECONDS,
            room_bytes_min=ROOM_BYTES,
        )

    def answers(self) -> bool:
        try:
            return self.database.ask("RETURN 1 AS one", {}, seconds=5) == [{"one": 1}]
        except HeadwaterError:
            return False

    def count(self) -> int:
        return int(self.database.ask("MATCH (n:Fill) RETURN count(n) AS n", {})[0]["n"])

    def fill(self) -> str:
        """Create nodes until Neo4j refuses; return its error."""
        text = "UNWIND range(1, 200) AS i CREATE (:Fill {text: $text + i})"
        try:
            while True:
                with self.database._transaction("WRITE", 30) as transaction:
                    transaction.run(text, {"text": "x" * 2_000}).consume()
        except HeadwaterError as error:
            return error.message


@pytest.fixture(scope="module")
def supervised(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supervised]:
    folder = tmp_path_factory.mktemp("supervised")
    settings = Settings(home=str(folder / "accepting"))
    settings.home_path.mkdir()
    with small_disk(folder / "disk", MEGABYTES) as disk:
        one = Supervised(disk, settings.neo4j_problem_path)
        with closing(one.database):
            one.supervisor.start()
            try:
                yield one
            finally:
                one.supervisor.stop()
                one.neo4j.stop()


def test_a_stopped_neo4j_comes_back(supervised: Supervised) -> None:
    one = supervised
    wait_for("an answer", one.answers, BACK_SECONDS_MAX)
    assert one.lines == []

    first = one.neo4j.status().pid
    os.kill(first, signal.SIGSTOP)
    wait_for("another process", lambda: one.neo4j.status().pid not in (0, first), BACK_SECONDS_MAX)
    wait_for("an answer", one.answers, BACK_SECONDS_MAX)
    assert one.lines[0].startswith("Neo4j does not answer and does nothing; restarting it")
    wait_for("the report", lambda: one.lines[-1] == "Neo4j answers again", 30)
    assert not one.problem_file.exists()


def test_a_statement_that_outlives_its_time_is_ended(supervised: Supervised) -> None:
    """It takes up a processor until then, and no other statement of a caller begins."""
    one = supervised
    wait_for("an answer", one.answers, BACK_SECONDS_MAX)
    one.lines.clear()
    first = one.neo4j.status().pid

    def ask() -> None:
        with suppress(HeadwaterError):
            one.database.ask_bounded(ENDLESS_QUESTION, {}, seconds=2.0, rows_max=1, bytes_max=100)

    asking = threading.Thread(target=ask)
    asking.start()
    wait_for("its end", lambda: one.database.read("read/state/outlived"), 60)
    with pytest.raises(UnavailableError, match="statement whose time is up"):
        run_text(one.database, "RETURN 1 AS one", {})
    wait_for("another process", lambda: one.neo4j.status().pid not in (0, first), BACK_SECONDS_MAX)
    wait_for("the report", lambda: one.lines[-1] == "Neo4j answers again", BACK_SECONDS_MAX)
    asking.join()
    assert one.lines[0].startswith("a statement went on 5 s after Neo4j had ended it")
    assert run_text(one.database, "RETURN 1 AS one", {}).rows == [{"one": 1}]


def test_a_full_neo4j_comes_back(supervised: Supervised) -> None:
    """F12: meanwhile events are accepted, and afterwards each is folded once."""
    one = supervised
    wait_for("an answer", one.answers, BACK_SECONDS_MAX)
    one.lines.clear()
    with installation(one.problem_file.parent, one.server) as home:
        home.start_api()
        with Load(home.port, [[body] for body in history(RUNS)], clients=2) as before:
            pass
        home.worker.start()
        wait_for("migrated", lambda: "migrations_applied" in home.worker.output(), 60)
        refuse_all(one)
        with Load(home.port, [[b] for b in history(RUNS, first=RUNS)], clients=2) as meanwhile:
            pass
        assert {attempt.status for attempt in meanwhile.attempts} == {201}
        wait_for("the reason", lambda: "waiting_to_retry" in home.worker.output(), 60)
        assert "out of disk space" in home.ask("/readyz").json["reasons"][0]
        make_room(one)
        attempts = [*before.attempts, *meanwhile.attempts]
        assert_nothing_lost(home, one.database, attempts)


def refuse_all(one: Supervised) -> None:
    """Fill the disk, until Neo4j refuses every query and the supervisor says why."""
    print(one.fill()[:200])
    full = one.neo4j.status().pid
    wait_for("the problem", one.problem_file.exists, 60)
    wait_for("the reason", lambda: "out of disk space" in one.problem_file.read_text(), 60)
    assert "starts when 16 MB are free" in one.supervisor.problem
    assert len(one.lines) <= 2, "the same problem is reported once"
    assert not one.answers()
    assert one.neo4j.status().pid == full, "no restart on a full disk"


def make_room(one: Supervised) -> None:
    """Enlarge the disk, and wait until Neo4j answers again."""
    full = one.neo4j.status().pid
    subprocess.run(["mount", "-o", "remount,size=400m", str(one.disk)], check=True)
    wait_for("an answer", one.answers, BACK_SECONDS_MAX)
    assert one.neo4j.status().pid != full
    count = one.count()
    assert count > 0
    assert count % 200 == 0, "each transaction as a whole or not at all"
    wait_for("the report", lambda: one.lines[-1] == "Neo4j answers again", 30)
    assert not one.problem_file.exists()
    one.database.run_batches("MATCH (n:Fill) CALL (n) { DELETE n } IN TRANSACTIONS OF 1000 ROWS")


def test_a_busy_server_that_never_answers_comes_back(tmp_path: Path) -> None:
    """A question keeps Neo4j busy, and a proxy holds back what it answers to its supervisor."""
    neo4j = LocalNeo4j(tmp_path / "home", 0, sizes=Sizes(heap_mb=256), cache=jar_cache())
    address = neo4j.prepare()
    lines: list[str] = []
    with (
        FaultProxy(neo4j.bolt_port) as proxy,
        closing(Database(address.uri, address.user, address.password)) as direct,
        closing(
            Database(f"bolt://127.0.0.1:{proxy.port}", address.user, address.password)
        ) as watched,
    ):
        supervisor = Neo4jSupervisor(
            neo4j,
            watched,
            problem_file=tmp_path / "problem",
            report=lines.append,
            silent_seconds_max=SILENT_SECONDS,
            busy_seconds_max=BUSY_SECONDS,
        )

        def keep_busy() -> None:
            with suppress(HeadwaterError):
                direct.ask(LONG_QUESTION, {}, seconds=BACK_SECONDS_MAX)

        def answers() -> bool:
            try:
                return watched.ask("RETURN 1 AS one", {}, seconds=5) == [{"one": 1}]
            except HeadwaterError:
                return False

        supervisor.start()
        try:
            wait_for("an answer", answers, BACK_SECONDS_MAX)
            first = neo4j.status().pid
            busy = threading.Thread(target=keep_busy)
            busy.start()
            with proxy.injecting(Faults(black_hole=True)):
                wait_for(
                    "another process",
                    lambda: neo4j.status().pid not in (0, first),
                    BACK_SECONDS_MAX,
                )
            busy.join()
            wait_for("an answer", answers, BACK_SECONDS_MAX)
        finally:
            supervisor.stop()
            neo4j.stop()
    assert any(line.startswith("Neo4j is busy and has not answered") for line in lines)


def test_damaged_data_is_recognised_and_moved_on_demand(tmp_path: Path) -> None:
    home = tmp_path / "home"
    neo4j = LocalNeo4j(home, 0, sizes=Sizes(heap_mb=256), cache=jar_cache())
    neo4j.start()
    with pytest.raises(ServerError, match="Neo4j runs in"):
        neo4j.move_data()
    neo4j.stop()
    # Only the database of the graph: the server itself starts.
    for file in (home / "data" / "databases" / "neo4j").glob("neostore"):
        file.write_bytes(bytes(file.stat().st_size))
    began = time.monotonic()
    with pytest.raises(DamagedDataError, match="cannot read its data") as raised:
        neo4j.start()
    print(f"recognised after {time.monotonic() - began:.1f} s: {raised.value.message[:300]}")
    assert "headwater rebuild --remove-data" in raised.value.hint
    assert not neo4j.status().running

    moved = neo4j.move_data()
    assert (moved / "databases" / "neo4j" / "neostore").is_file()
    shutil.rmtree(moved)
    running = neo4j.start()
    with closing(Database(running.uri, running.user, running.password)) as database:
        assert database.ask("MATCH (n) RETURN count(n) AS n", {}) == [{"n": 0}]
    neo4j.stop()
