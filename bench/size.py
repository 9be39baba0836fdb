"""Measure the size of the graph: bytes of Neo4j's store for an event of a known job.

    python -m bench.size
    python -m bench.size --runs 500000           a million events

The store is weighed twice while Neo4j is stopped, so every committed byte is in it: after one run
of each job, and after all other runs. Transaction logs, which Neo4j prunes by itself, are not
counted. Space that Neo4j reserves is not counted either: beyond 32 MB a file grows in steps, so up
to 32 MB of each are empty.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.graph import SIZES
from bench.limit import Line, write_every_job
from bench.report import Report, print_progress
from headwater.cypher.driver.database import Database
from headwater.cypher.migrate import migrate
from headwater.local.neo4j import LocalNeo4j

_RUNS_PER_TRANSACTION = 1_000
_READ_BYTES = 2**20


def stores(home: Path) -> dict[str, int]:
    """Return the bytes of every file of a stopped Neo4j's graph, by the kind of its content."""
    sizes: dict[str, int] = {}
    for file in (home / "data" / "databases" / "neo4j").rglob("*"):
        if file.is_file():
            kind = "indexes" if "schema" in file.parts else file.name.removeprefix("neostore.")
            sizes[kind] = sizes.get(kind, 0) + used_bytes(file)
    return sizes


def used_bytes(file: Path) -> int:
    """Return the bytes of a file up to the last that is not zero."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        while size > 0:
            begin = max(0, size - _READ_BYTES)
            opened.seek(begin)
            if content := opened.read(size - begin).rstrip(b"\0"):
                return begin + len(content)
            size = begin
    return 0


def grow(home: Path, jobs: int, until: Callable[[Line], object]) -> None:
    """Start Neo4j, write, and stop it again."""
    with LocalNeo4j(home, bolt_port=0, sizes=SIZES) as running:
        database = Database(running.uri, running.user, running.password)
        migrate(database)
        until(Line(database, jobs))
        database.close()


def measure(options: argparse.Namespace, home: Path) -> dict[str, Any]:
    grow(home, options.jobs, lambda line: write_every_job(line, options.jobs))
    before = stores(home)

    def more(line: Line) -> None:
        line.number = options.jobs
        while line.number < options.jobs + options.runs:
            line.step(_RUNS_PER_TRANSACTION)
            if line.number % 20_000 < _RUNS_PER_TRANSACTION:
                print_progress(f"{line.number - options.jobs:,} of {options.runs:,} runs")

    grow(home, options.jobs, more)
    after = stores(home)
    grown = {
        kind: after[kind] - before.get(kind, 0)
        for kind in after
        if after[kind] != before.get(kind, 0)
    }
    events = 2 * options.runs
    return {
        "options": vars(options),
        "events": events,
        "storeMegabytes": {
            "jobsOnly": round(sum(before.values()) / 1e6),
            "all": round(sum(after.values()) / 1e6),
        },
        "bytesPerEvent": round(sum(grown.values()) / events),
        "bytesPerEventByFile": {
            kind: round(size / events, 1) for kind, size in sorted(grown.items())
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=2_000)
    parser.add_argument("--runs", type=int, default=100_000, help="of two events each")
    options = parser.parse_args()
    report = Report("size")
    with tempfile.TemporaryDirectory() as folder:
        report.show(**measure(options, Path(folder)))


if __name__ == "__main__":
    main()
