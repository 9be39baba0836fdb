"""Measure Spark's side of a backfill per event and core, without Neo4j: `python -m bench.backfill`.

The archive of standard events is written first, as JSON lines. Then one session runs these parts in
turn:

- floor: Spark reads the same files, hands every batch to Python, and gets it back
- parsed: every event is also parsed and redacted
- all: parse, redact, fold, join by key, sort, and cut into pieces; everything before Neo4j

The figure is events per second of processor time, of Spark's Java and all Python workers together.
It is therefore the figure of one core. Processor time of the driver's own Python is part of it.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from bench.events import events
from bench.report import Report, print_progress, spread
from headwater.pipelines import fold_partition
from headwater.pipelines.backfill import SETTINGS, fact_chunks
from headwater.pipelines.event_files import File, files_in, read
from headwater.pipelines.session import spark_session
from headwater.schema.naming import load_naming

FILES = 8
_TICKS = os.sysconf("SC_CLK_TCK")


def write_archive(folder: Path, runs: int, jobs: int) -> int:
    """Write the archive and return its size in bytes."""
    share = -(-runs // FILES)
    for number in range(FILES):
        count = min(share, runs - number * share)
        with (folder / f"events-{number}.jsonl").open("wb") as file:
            for body in events(count, jobs, first=number * share):
                file.write(body + b"\n")
    return sum(path.stat().st_size for path in folder.iterdir())


def processor_seconds() -> float:
    """Return the processor seconds of this process and of everything it started, running or
    ended.
    """
    below: dict[int, list[int]] = {}
    used: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            below.setdefault(int(fields[1]), []).append(int(entry.name))
            # Both modes of this process, and those of its children that it has waited for.
            used[int(entry.name)] = sum(map(int, fields[11:15]))
    waiting, total = [os.getpid()], 0
    while waiting:
        process = waiting.pop()
        total += used.get(process, 0)
        waiting += below.get(process, [])
    return total / _TICKS


def _identity(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def _judged(
    batches: Iterable[pa.RecordBatch], rules: fold_partition.FoldRules
) -> Iterator[pa.RecordBatch]:
    taken = fold_partition.PartitionFolder(rules)
    for batch in batches:
        taken.add(batch)
        taken.events.clear()
    yield from ()


def parts(
    spark: SparkSession, files: list[File], rules: fold_partition.FoldRules
) -> dict[str, Callable[[], Any]]:
    """Return the measured parts by name."""

    def none(frame: Any) -> None:
        frame.write.format("noop").mode("overwrite").save()

    return {
        "floor": lambda: none(read(spark, files).mapInArrow(_identity, fold_partition.READ)),
        "judged": lambda: none(
            read(spark, files).mapInArrow(partial(_judged, rules=rules), fold_partition.BUCKETS)
        ),
        "whole": lambda: sum(len(piece) for piece in fact_chunks(spark, files, rules)),
    }


def measure(spark: SparkSession, folder: Path, count: int, repeats: int) -> dict[str, Any]:
    rules = fold_partition.FoldRules(load_naming(), b"a key of the benches", 10 * 2**20)
    files = files_in(spark, [str(folder)])
    found: dict[str, Any] = {}
    for name, call in parts(spark, files, rules).items():
        call()  # a new JVM is slow
        rates, seconds = [], []
        for number in range(repeats):
            began, used = time.perf_counter(), processor_seconds()
            call()
            seconds.append(time.perf_counter() - began)
            rates.append(count / max(processor_seconds() - used, 0.001))
            print_progress(
                f"{name} {number + 1}/{repeats}: {rates[-1]:,.0f} events/s of a core, "
                f"{seconds[-1]:.1f} s"
            )
        found[name] = {"eventsPerCoreSecond": spread(rates), "seconds": spread(seconds)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description="What Spark's side of a backfill takes of a core per event."
    )
    parser.add_argument("--runs", type=int, default=40_000, help="two events each")
    parser.add_argument("--jobs", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--master", default="local[*]")
    chosen = parser.parse_args()
    # Spark's workers import this module by its name.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [os.getcwd(), os.environ.get("PYTHONPATH")])
    )
    report = Report("backfill")
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as folder:
        print_progress(f"writing {2 * chosen.runs:,} events")
        size = write_archive(Path(folder), chosen.runs, chosen.jobs)
        with spark_session("bench", master=chosen.master, settings=SETTINGS) as spark:
            found = measure(spark, Path(folder), 2 * chosen.runs, chosen.repeats)
    shape = {
        "events": 2 * chosen.runs,
        "jobs": chosen.jobs,
        "bytes": size,
        "master": chosen.master,
        "files": FILES,
    }
    report.show(archive=shape, target={"eventsPerCoreSecond": 10_000}, **found)


if __name__ == "__main__":
    main()
