"""Build the graph that questions are measured on: `python -m bench.graph --home DIR --runs
1000000`.

The worker's own fold and write make 20,000 datasets, 20,000 jobs and 60,000 edges of the lineage
graph (`bench.wiring`). Runs are then created from patterns (`bench.replicas`). The newest runs are
the same at every size: more runs are older runs, one every half minute. So a question about the
last day has the same answer in a graph of ten thousand runs and in one of a million.

Nine in ten runs belong to one job, the others to some 980 jobs. All read one table, the hub. One in
500 failed. The home is kept: the next measurement starts with it in seconds, and adds runs if it
needs more.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import neo4j

from bench.events import LAKE, run_of, table_name
from bench.replicas import read_pattern, write_replicas
from bench.report import Report, print_progress
from bench.wiring import Wiring
from headwater.cypher.driver.database import Database
from headwater.cypher.migrate import migrate
from headwater.ingest.fold import fold
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.transaction import WriteRequest, read_checkpoint, write
from headwater.local.neo4j import LocalNeo4j, Running
from headwater.local.neo4j_settings import Sizes
from headwater.schema.events import Event, parse
from headwater.schema.headwater_facets import answer_event

P = TypeVar("P")
# Settings for a graph of a million runs beside an API and a worker.
SIZES = Sizes(heap_mb=1_536, page_cache_mb=4_096, transaction_mb=768, transaction_seconds=600)
SPOOL = "bench"
# The answer cites the table at the end of the diamonds.
ANSWER = "bench"
STEP = timedelta(seconds=30)
RUN_SECONDS = 12.5
# The lineage graph is older than any replica.
_MAP_DAYS = 400
_RUNS_PER_TRANSACTION = 250
# Replicas are created in turn: so many in all, so many of the hot job, and so many of those failed.
CHUNK, HOT, FAILED = 5_000, 4_500, 9
_FANS_A_CHUNK = 5
# Every job of the levels at this distance has failed within the last hour.
_FAILED_EVERY = 1_000
STATE = "bench.json"


class Filled(msgspec.Struct):
    """The content of a home: the wiring, the start of the newest run, the number of replicas."""

    levels: tuple[int, ...]
    diamonds: int
    fans: int
    until: datetime
    replicas: int = 0

    @property
    def wiring(self) -> Wiring:
        return Wiring(self.levels, self.diamonds, self.fans)

    @property
    def patterns(self) -> list[int]:
        """Return the numbers of the pattern runs.

        They are the last run of each job that reads the hub, the last run of the hot job, and a
        failed run of the hot job.
        """
        wiring = self.wiring
        first = wiring.jobs
        return [first + k for k in range(len(wiring.readers) + 1)]

    @property
    def runs(self) -> int:
        """Return the number of all runs."""
        return self.wiring.jobs + len(self.patterns) + len(_failing(self.wiring)) + self.replicas


def new(wiring: Wiring, until: datetime | None = None) -> Filled:
    newest = until or datetime.now(UTC)
    return Filled(wiring.levels, wiring.diamonds, wiring.fans, newest.replace(microsecond=0))


def fill_lineage(database: Database, filled: Filled) -> None:
    """Fold and write a run of each job, a newer one of each reader of the hub, and some failed
    runs.
    """
    migrate(database)
    wiring, cache = filled.wiring, WriteCache()
    runs = list(_real_runs(filled))
    for first in range(0, len(runs), _RUNS_PER_TRANSACTION):
        piece = runs[first : first + _RUNS_PER_TRANSACTION]
        write_events(
            database,
            [
                parse(body, received=micros(began))
                for number, job, began, state in piece
                for body in run_of(
                    job, wiring.tables[job], number, began, seconds=RUN_SECONDS, state=state
                )
            ],
            cache,
        )
        if first % (_RUNS_PER_TRANSACTION * 8) == 0:
            print_progress(f"map: {first + len(piece)} of {len(runs)} jobs and runs")
    cites = [{"namespace": LAKE, "name": table_name(wiring.last_diamond())}]
    answer = answer_event(ANSWER, cites=cites, generated_at=filled.until.isoformat())
    write_events(
        database, [parse(msgspec.json.encode(answer), received=micros(filled.until))], cache
    )


def write_events(database: Database, events: list[Event], cache: WriteCache) -> None:
    """Fold and write these events as the worker does."""
    before = read_checkpoint(database, SPOOL)
    count = len(events)
    after = msgspec.structs.replace(
        before, position=before.position + count, folded=before.folded + count
    )
    write(
        database,
        WriteRequest(fold(events), spool=SPOOL, before=before, after=after, holder="bench"),
        cache=cache,
    )


def grow(driver: neo4j.Driver, filled: Filled, replicas: int) -> float:
    """Create replicas up to a number, record it in `filled`, and return the seconds."""
    began = time.monotonic()
    with driver.session() as session:
        patterns = [read_pattern(session, number) for number in filled.patterns]
        while filled.replicas < replicas:
            count = min(CHUNK, replicas - filled.replicas)
            for pattern, indexes in shared(patterns, filled.replicas, count):
                if indexes:
                    write_replicas(
                        session, pattern, ((index, start_of(filled, index)) for index in indexes)
                    )
            filled.replicas += count
            if filled.replicas % (CHUNK * 10) == 0:
                print_progress(f"runs: {filled.replicas} of {replicas}")
    return time.monotonic() - began


def start_of(filled: Filled, index: int) -> datetime:
    """Return the start of a replica: the first began one step ago, the others before it."""
    return filled.until - STEP * (index + 1)


def shared(patterns: Sequence[P], first: int, count: int) -> Iterator[tuple[P, list[int]]]:
    """Divide the indexes of a chunk among the patterns."""
    *fans, hot, fails = patterns
    indexes = list(range(first, first + count))
    failed = indexes[:: CHUNK // FAILED]
    rest = [index for index in indexes if index not in set(failed)]
    part = count * HOT // CHUNK
    yield fails, failed
    # One in ten belongs to the fans, spread over the time of the chunk like the others.
    others = rest[:: max(1, count // max(1, count - part))]
    yield hot, sorted(set(rest) - set(others))
    turn = first // CHUNK * _FANS_A_CHUNK
    for k in range(_FANS_A_CHUNK if fans else 0):
        yield fans[(turn + k) % len(fans)], others[k::_FANS_A_CHUNK]


def _failing(wiring: Wiring) -> list[int]:
    return list(range(0, sum(wiring.levels), _FAILED_EVERY))


def _real_runs(filled: Filled) -> Iterator[tuple[int, int, datetime, str]]:
    """Yield number, job, start and end of the runs that are folded and written."""
    wiring, until = filled.wiring, filled.until
    old = until - timedelta(days=_MAP_DAYS)
    for job in range(wiring.jobs):
        yield job, job, old + timedelta(seconds=job), "COMPLETE"
    numbers = iter(range(wiring.jobs, 10**9))
    for job in wiring.readers:
        yield next(numbers), job, until, "COMPLETE"
    yield next(numbers), wiring.hot, until - STEP / 2, "FAIL"
    for turn, job in enumerate(_failing(wiring)):
        yield next(numbers), job, until - timedelta(minutes=2 * turn + 1), "FAIL"


def micros(time: datetime) -> int:
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


@contextmanager
def open_home(path: str | None) -> Iterator[Path]:
    """Yield the named home, or a temporary one."""
    if path:
        folder = Path(path).expanduser().resolve()
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    temporary = Path(tempfile.mkdtemp(prefix="headwater-bench-"))
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def open_graph(
    home: Path, *, runs: int, wiring: Wiring | None = None, sizes: Sizes = SIZES
) -> Iterator[tuple[Running, Filled, dict[str, Any]]]:
    """Yield the Neo4j of a home with at least so many replicas, and the seconds spent on creating
    them.
    """
    with LocalNeo4j(home, 0, sizes=sizes) as running:
        filled, took = prepare(home, running, runs=runs, wiring=wiring)
        yield running, filled, took


def prepare(
    home: Path, running: Running, *, runs: int, wiring: Wiring | None = None
) -> tuple[Filled, dict[str, Any]]:
    """Fill the graph of a running Neo4j up to so many replicas; existing ones are kept."""
    state, took = home / STATE, dict[str, Any]()
    if state.exists():
        filled = msgspec.json.decode(state.read_bytes(), type=Filled)
    else:
        filled, began = new(wiring or Wiring()), time.monotonic()
        database = Database(running.uri, running.user, running.password)
        try:
            fill_lineage(database, filled)
        finally:
            database.close()
        took["mapSeconds"] = time.monotonic() - began
        state.write_bytes(msgspec.json.encode(filled))
    missing = runs - filled.replicas
    if missing > 0:
        with neo4j.GraphDatabase.driver(
            running.uri, auth=(running.user, running.password), notifications_min_severity="OFF"
        ) as driver:
            try:
                seconds = grow(driver, filled, runs)
            finally:
                state.write_bytes(msgspec.json.encode(filled))
        took |= {"made": missing, "makingSeconds": seconds, "madePerSecond": missing / seconds}
    return filled, took


def store_bytes(home: Path) -> int:
    """Return the size of the graph on disk, without the transaction logs."""
    folder = home / "data" / "databases" / "neo4j"
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench.graph", description=__doc__)
    options.add_argument("--home", required=True, help="the folder that keeps the graph")
    options.add_argument(
        "--runs", type=int, default=1_000_000, help="how many runs, beside those of the map"
    )
    chosen = options.parse_args()
    report = Report("graph")
    with open_home(chosen.home) as home:
        with open_graph(home, runs=chosen.runs) as (_, filled, took):
            pass
        report.show(
            runs=filled.runs, replicas=filled.replicas, storeBytes=store_bytes(home), **took
        )


if __name__ == "__main__":
    main()
