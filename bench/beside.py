"""Post events at a steady rate until a signal ends it: `python -m bench.beside PORT --home DIR
--rate 1400`.

The events are new runs of jobs that the graph knows (`bench.graph`): START and COMPLETE, 100 runs a
batch, jobs in random turns. A new worker knows none of them, so each job first has one run; then
this program prints `known`. At its end it prints the number of accepted events as one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType

import msgspec

from bench.events import run_of
from bench.graph import RUN_SECONDS, STATE, Filled
from bench.processes import Client

RUNS_A_BATCH = 100
JOBS = 2_000
JOBS_POSTED = "known"
# Above the run numbers of the lineage graph and of all replicas.
_FIRST = 2**50


class EndedError(Exception):
    """The signal to end."""


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench.beside", description=__doc__)
    options.add_argument("port", type=int)
    options.add_argument("--home", type=Path, required=True)
    options.add_argument("--rate", type=float, required=True, help="events a second")
    options.add_argument("--jobs", type=int, default=JOBS, help="how many jobs take turns")
    chosen = options.parse_args()

    def end(_: int, __: FrameType | None) -> None:
        raise EndedError

    signal.signal(signal.SIGTERM, end)
    tables = msgspec.json.decode((chosen.home / STATE).read_bytes(), type=Filled).wiring.tables
    client, accepted, slow = Client(chosen.port), 0, 0
    # Time and run numbers continue from one measurement to the next.
    number = _FIRST + time.time_ns() // 1_000
    due = time.monotonic()
    try:
        for jobs in _batches(len(tables), chosen.jobs):
            bodies = [_run(number + k, tables, job) for k, job in enumerate(jobs)]
            number += len(jobs)
            if bodies:
                status, _ = client.post("/api/v1/lineage/batch", b"[" + b",".join(bodies) + b"]")
                accepted += len(bodies) * 2 if status == 200 else 0
            else:
                print(JOBS_POSTED, flush=True)
            due += len(bodies) * 2 / chosen.rate
            slow += due < time.monotonic()
            time.sleep(max(0.0, due - time.monotonic()))
    except EndedError:
        print(json.dumps({"events": accepted, "lateBatches": slow}), flush=True)


def _batches(job_count: int, count: int) -> Iterator[list[int]]:
    """Yield the jobs of each batch: all of them once, then nothing, then random jobs without
    end.
    """
    chance = random.Random(6)
    jobs = sorted(chance.sample(range(job_count), min(count, job_count)))
    for first in range(0, len(jobs), RUNS_A_BATCH):
        yield jobs[first : first + RUNS_A_BATCH]
    yield []
    while True:
        yield chance.choices(jobs, k=RUNS_A_BATCH)


def _run(number: int, tables: list[tuple[int, int, int]], job: int) -> bytes:
    began = datetime.now(UTC) - timedelta(seconds=RUN_SECONDS)
    return b",".join(run_of(job, tables[job], number, began, seconds=RUN_SECONDS))


if __name__ == "__main__":
    main()
