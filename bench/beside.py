"""`python -m bench.beside PORT --home DIR --rate 1400`: posts events at a steady rate until it is told to end.

They are new runs of jobs that the graph knows (`bench.graph`), as they come when an estate goes about its day: START
and COMPLETE, 100 runs a batch, jobs taking turns at random. Says as one line of JSON how many were taken.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType

import msgspec

from bench.events import run_of
from bench.graph import RUN_SECONDS, STATE, Filled
from bench.processes import Client

RUNS_A_BATCH = 100
# Beyond the numbers of the map and of all replicas.
_FIRST = 2**50


class EndedError(Exception):
    """It was told to end."""


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench.beside", description=__doc__)
    options.add_argument("port", type=int)
    options.add_argument("--home", type=Path, required=True)
    options.add_argument("--rate", type=float, required=True, help="events a second")
    asked = options.parse_args()

    def told(_: int, __: FrameType | None) -> None:
        raise EndedError

    signal.signal(signal.SIGTERM, told)
    tables = msgspec.json.decode((asked.home / STATE).read_bytes(), type=Filled).wiring.tables
    client, chance, taken, slow = Client(asked.port), random.Random(6), 0, 0
    # Time goes on from measurement to measurement, and so do the numbers.
    number = _FIRST + time.time_ns() // 1_000
    due = time.monotonic()
    try:
        while True:
            bodies = [_run(number + k, tables, chance.randrange(len(tables))) for k in range(RUNS_A_BATCH)]
            number += RUNS_A_BATCH
            status, _ = client.post("/api/v1/lineage/batch", b"[" + b",".join(bodies) + b"]")
            taken += RUNS_A_BATCH * 2 if status == 200 else 0
            due += RUNS_A_BATCH * 2 / asked.rate
            slow += due < time.monotonic()
            time.sleep(max(0.0, due - time.monotonic()))
    except EndedError:
        print(json.dumps({"events": taken, "batchesBehind": slow}), flush=True)


def _run(number: int, tables: list[tuple[int, int, int]], job: int) -> bytes:
    began = datetime.now(UTC) - timedelta(seconds=RUN_SECONDS)
    return b",".join(run_of(job, tables[job], number, began, seconds=RUN_SECONDS))


if __name__ == "__main__":
    main()
