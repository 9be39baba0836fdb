"""The command `rebuild`: the new graph has the same canonical export, byte for byte."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.ingest.write.transaction import read_checkpoint
from tests.canonical import canonical, empty
from tests.checkpoints import counts
from tests.conftest import Neo4jServer
from tests.run_builders import run

pytestmark = pytest.mark.neo4j

CAPTURES = Path(__file__).parent.parent / "captures"
STREAMS = ("spark_flights", "airflow_shop", "dbt_shop", "spark_shop")
RECEIVED = 1_790_000_000_000_000


class Home:
    """A home with a spool, and `headwater` on it."""

    def __init__(self, folder: Path, server: Neo4jServer, spool: Spool) -> None:
        self.folder = folder
        self.spool = spool
        self.environment = {
            **os.environ,
            "HEADWATER_HOME": str(folder),
            "HEADWATER_NEO4J_URI": server.uri,
            "HEADWATER_NEO4J_USER": server.user,
            "HEADWATER_NEO4J_PASSWORD": server.password,
        }

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        ended = subprocess.run(
            self.words(*arguments),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return ended.returncode, ended.stdout.decode(), ended.stderr.decode()

    def words(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "headwater", *arguments]

    def fold(self, database: Database, **options: int) -> None:
        worker = Worker(database, self.spool, **options)  # type: ignore[arg-type]  # numbers only
        worker.run(until_done=True)


@pytest.fixture
def home(database: Database, neo4j_server: Neo4jServer, tmp_path: Path) -> Iterator[Home]:
    empty(database)
    with closing(Spool(tmp_path / "spool.db")) as spool:
        yield Home(tmp_path, neo4j_server, spool)


def captured(stream: str) -> list[bytes]:
    return [
        line for line in (CAPTURES / f"{stream}.jsonl").read_bytes().splitlines() if line.strip()
    ]


def chain(count: int) -> list[bytes]:
    """Return the events of `count` runs; each reads the dataset that the one before wrote."""
    return [
        json.dumps(event).encode()
        for number in range(count)
        for event in run(
            f"r{number}",
            f"j{number % 7}",
            [f"d{number % 11}"],
            [f"d{number % 11 + 1}"],
            minute=number,
        )
    ]


@pytest.mark.slow
def test_events_of_real_producers(home: Home, database: Database) -> None:
    for number, stream in enumerate(STREAMS):
        home.spool.append(captured(stream), received=RECEIVED + number)
        # The live worker also folds all available events, in batches of any size.
        home.fold(database, events_max=37 + 20 * number)
    live = canonical(database)
    assert len(live[0]) > 500
    code, out, _ = home("rebuild", "--erase", "--json")
    summary = json.loads(out)
    assert (code, summary["folded"], summary["dead"], summary["done"]) == (
        0,
        home.spool.last(),
        0,
        True,
    )
    assert canonical(database) == live
    code, out, _ = home("export", "--canonical")
    assert (code, out.splitlines()) == (0, [*live[0], *live[1]])


def test_a_graph_that_is_not_empty_is_left_alone(home: Home, database: Database) -> None:
    home.spool.append(chain(3), received=RECEIVED)
    home.fold(database)
    before = canonical(database)
    code, _, printed = home("rebuild")
    assert (code, "is not empty" in printed, "--erase" in printed) == (2, True, True)
    assert canonical(database) == before
    empty(database)
    code, printed, _ = home("rebuild")
    assert (code, "6 events folded, 0 dead-lettered" in printed) == (0, True)
    assert canonical(database) == before


def test_without_a_spool(home: Home) -> None:
    code, _, printed = home("rebuild", "--home", str(home.folder / "nothing"))
    assert (code, "there is no spool" in printed) == (6, True)
    assert not (home.folder / "nothing").exists()


def test_a_rebuild_retries_dead_letters(home: Home, database: Database) -> None:
    good = chain(3)
    home.spool.append([good[0], b"poison", *good[1:]], received=RECEIVED)
    home.fold(database)
    # This stands for an earlier Headwater that could not fold the third event.
    home.spool.dead_letter([(3, "not known yet")])
    assert {dead.seq for dead in home.spool.dead_letters()} == {2, 3}
    code, out, _ = home("rebuild", "--erase", "--yes", "--json")
    summary = json.loads(out)
    assert (code, summary["folded"], summary["dead"]) == (0, 6, 1)
    assert [dead.seq for dead in home.spool.dead_letters()] == [2]
    assert counts(read_checkpoint(database, home.spool.id)) == (7, 6, 1)


def test_the_worker_finishes_an_interrupted_rebuild(home: Home, database: Database) -> None:
    home.spool.append(chain(400), received=RECEIVED)
    home.environment["HEADWATER_FOLD_EVENTS_MAX"] = "4"
    rebuilding = subprocess.Popen(
        home.words("rebuild"),
        env=home.environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 120
    while read_checkpoint(database, home.spool.id).position < 8:
        assert time.monotonic() < deadline
        assert rebuilding.poll() is None
        time.sleep(0.02)
    rebuilding.send_signal(signal.SIGINT)
    _, printed = rebuilding.communicate(timeout=60)
    assert (rebuilding.returncode, b"continues from here" in printed) == (130, True)
    assert 0 < read_checkpoint(database, home.spool.id).position < 800
    home.fold(database)
    before = canonical(database)
    empty(database)
    home.fold(database)
    assert canonical(database) == before


def test_an_exported_file_appears_only_when_complete(
    home: Home, database: Database, tmp_path: Path
) -> None:
    home.spool.append(chain(3), received=RECEIVED)
    home.fold(database)
    target = tmp_path / "graph.jsonl"
    assert home("export", "--canonical", "--output", str(target))[0] == 0
    nodes, edges = canonical(database)
    assert target.read_text(encoding="utf-8").splitlines() == [*nodes, *edges]
    code, _, printed = home("export", "--output", str(tmp_path / "absent" / "graph.jsonl"))
    assert (code, "Traceback" in printed) == (2, False)
