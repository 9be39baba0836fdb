"""Compare folding and writing with the most that Neo4j can do.

    python -m bench.limit

The floor: the writer's rows for new runs of known jobs are prepared and packed beforehand, and the
bare driver sends them with the writer's own statements. Nothing is parsed, folded, joined or read.
Beside it, in turns, in the same run and on the same graph, as many new events are parsed, folded
and written, without HTTP.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import neo4j

from bench.events import events, run_id
from bench.graph import SIZES
from bench.report import Report, print_progress, spread
from headwater.cypher.driver.bolt import to_bolt
from headwater.cypher.driver.database import Database, Row, Transaction
from headwater.cypher.migrate import migrate
from headwater.cypher.query_catalog import find_query
from headwater.ingest.fold import fold
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.transaction import (
    Checkpoint,
    PendingCommit,
    WriteRequest,
    read_checkpoint,
    send,
)
from headwater.local.neo4j import LocalNeo4j
from headwater.schema.events import parse
from headwater.schema.naming import load_naming

_SPOOL = "bench"
# Transactions sent before the last of them is waited for.
_STEPS = 4
# The statements that new runs of known jobs need; the writer's other statements read or recompute.
_NEEDED = (
    "write/runs/create_runs",
    "write/versions/create_run_inputs",
    "write/datasets/datasets",
    "write/lineage/jobs",
    "write/lineage/last_seen",
)
_RUN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


class Line:
    """A writer that folds batch after batch and sends the next before the last one commits, like a
    worker.
    """

    def __init__(self, database: Database, jobs: int) -> None:
        self._database, self._jobs = database, jobs
        self._cache = WriteCache()
        self._checkpoint = read_checkpoint(database, _SPOOL)
        self._naming = load_naming()
        self._on_the_way: list[PendingCommit] = []
        self.number = 0

    def step(self, runs: int) -> None:
        """Parse, fold and write the events of the next runs."""
        bodies = list(events(runs, self._jobs, first=self.number))
        self.number += runs
        delta = fold([parse(body, received=0) for body in bodies])
        done = self._checkpoint.position + len(bodies)
        after = Checkpoint(done, done, 0)
        commit = send(
            self._database,
            WriteRequest(
                delta,
                spool=_SPOOL,
                before=self._checkpoint,
                after=after,
                holder="bench",
                naming=self._naming,
            ),
            self._cache,
        )
        self._checkpoint = commit.after
        self.finish()
        self._on_the_way.append(commit)

    def finish(self) -> None:
        """Wait until all sent transactions are committed."""
        while self._on_the_way:
            self._on_the_way.pop().wait()


@contextmanager
def recorded(rows_by_statement: dict[str, list[Row]]) -> Iterator[None]:
    """Record the rows of the needed statements while the block runs."""
    run = Transaction.run

    def recording(self: Transaction, name: str, /, **parameters: Any) -> list[Row]:
        if name in _NEEDED:
            rows_by_statement[name] = parameters["rows"]
        return run(self, name, **parameters)

    Transaction.run = recording  # type: ignore[method-assign]  # for as long as the block lasts
    try:
        yield
    finally:
        Transaction.run = run  # type: ignore[method-assign]


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Return the same rows for other runs."""
    if isinstance(value, str):
        return _RUN.sub(lambda found: names.get(found.group(), found.group()), value)
    if isinstance(value, dict):
        return {key: renamed(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    return value


def write_every_job(line: Line, jobs: int) -> None:
    """Write one run of each job, in transactions that fit Neo4j's memory: a new job makes twenty
    column edges.
    """
    while line.number < jobs:
        line.step(min(200, jobs - line.number))
    line.finish()


def floor(session: neo4j.Session, rows_by_statement: dict[str, Any]) -> float:
    """Return the seconds in which the bare driver writes these rows in one transaction."""
    began = time.perf_counter()
    with session.begin_transaction() as transaction:
        for name in _NEEDED:
            if name in rows_by_statement:
                transaction.run(find_query(name).text, rows=rows_by_statement[name]).consume()
        transaction.commit()
    return time.perf_counter() - began


def measure(
    options: argparse.Namespace, database: Database, session: neo4j.Session
) -> dict[str, Any]:
    line = Line(database, options.jobs)
    print_progress("every job has run once, and the statements are planned and compiled")
    write_every_job(line, options.jobs)
    for _ in range(options.warm):
        line.step(options.runs)
    line.finish()
    rows_by_statement: dict[str, list[Row]] = {}
    first = line.number
    with recorded(rows_by_statement):
        line.step(options.runs)
        line.finish()
    originals = [run_id(number) for number in range(first, first + options.runs)]
    ours, bare = [], []
    for turn in range(options.repeats):
        print_progress(f"turn {turn + 1} of {options.repeats}")
        names = {
            one: run_id(10**9 + turn * options.runs + index) for index, one in enumerate(originals)
        }
        prepared = {name: to_bolt(renamed(rows, names)) for name, rows in rows_by_statement.items()}
        bare.append(2 * options.runs / floor(session, prepared))
        began = time.perf_counter()
        for _ in range(_STEPS):
            line.step(options.runs)
        line.finish()
        ours.append(2 * options.runs * _STEPS / (time.perf_counter() - began))
    shares = [mine / floor_rate for mine, floor_rate in zip(ours, bare, strict=True)]
    return {
        "options": vars(options),
        "floorEventsPerSecond": spread(bare),
        "foldAndWriteEventsPerSecond": spread(ours),
        "shareOfFloor": spread(shares),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=int, default=1_000, help="runs in a transaction, of two events each"
    )
    parser.add_argument("--jobs", type=int, default=2_000)
    parser.add_argument("--warm", type=int, default=15, help="transactions that do not count")
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    report = Report("limit")
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalNeo4j(Path(folder), bolt_port=0, sizes=SIZES) as running,
    ):
        database = Database(running.uri, running.user, running.password)
        migrate(database)
        auth = (running.user, running.password)
        with (
            neo4j.GraphDatabase.driver(running.uri, auth=auth) as driver,
            driver.session() as session,
        ):
            report.show(**measure(options, database, session))
        database.close()


if __name__ == "__main__":
    main()
