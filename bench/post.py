"""Measure events over HTTP: rate, time until the answer, and the API's CPU time per event.

    python -m bench.post                     all modes, three times each
    python -m bench.post --modes single --seconds 30

| mode | requests |
|---|---|
| single | one event each, over 32 keep-alive connections; every 201 comes after the sync |
| batch | 500 events each, about 3 MB, over 4 connections |
| gzip | the same, packed |
| mixed | single, while another client posts batches as fast as it can |

The API is `headwater serve`, a process of its own with a spool of its own. Neo4j does not run,
because accepting does not need it. Every repeat begins with an empty spool, and ends with a check
that the spool holds every acknowledged event.

Floors, in the same run and on the same disk: bare SQLite appends the same events, with one sync for
as many events as one request of the mode has (for `single`: as there are connections). And the same
requests go to an application that reads the body and answers 201.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import apsw

from bench.events import events
from bench.poster import BATCH, GZIP, SINGLE
from bench.processes import ANSWER_SECONDS_MAX, accepting, process, wait_ready
from bench.report import Report, percentile, print_progress, spread
from bench.usage import cpu_seconds, peak_megabytes
from headwater.ingest.spool.spool import Spool
from headwater.local.ports import free_port

MIXED = "mixed"
MODES = (SINGLE, BATCH, GZIP, MIXED)


@dataclass(frozen=True)
class Load:
    """The parameters of a measurement: `size` events in a batch; `jobs` jobs take turns."""

    seconds: float
    connections: int
    batches: int
    size: int
    jobs: int

    def shape(self, mode: str) -> tuple[int, int]:
        """Return the number of connections, and of events a request."""
        return (self.connections, 1) if mode == SINGLE else (self.batches, self.size)


class Client:
    """One `bench.poster` process, ready to begin."""

    def __init__(self, port: int, mode: str, load: Load, first: int = 0) -> None:
        connections, size = load.shape(mode)
        named = {"mode": mode, "seconds": load.seconds, "connections": connections, "size": size}
        options = [
            f"--{name}={value}"
            for name, value in (named | {"jobs": load.jobs, "first": first}).items()
        ]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.poster", str(port), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != "ready":
            raise RuntimeError("the client of the measurement did not start")

    def begin(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def ended(self) -> dict[str, Any]:
        """Return the result. Raise RuntimeError if an answer was no success."""
        printed, _ = self._process.communicate()
        if self._process.returncode != 0:
            raise RuntimeError("the client of the measurement failed")
        found: dict[str, Any] = json.loads(printed)
        return found

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def measured(pid: int, port: int, mode: str, load: Load) -> dict[str, Any]:
    """Return the results of all clients of a server within the time."""
    with ExitStack() as clients:
        main, *others = _clients(port, mode, load)
        for client in (main, *others):
            clients.callback(client.close)
        before = cpu_seconds(pid)
        for client in (main, *others):
            client.begin()
        found = main.ended()
        beside = sum(client.ended()["events"] for client in others)
        cpu = cpu_seconds(pid) - before
    count, taken = found["events"], found["seconds"]
    return {
        "events": count + beside,
        "eventsPerSecond": round(count / found["took"]),
        **({"batchEventsPerSecond": round(beside / found["took"])} if others else {}),
        "milliseconds": {
            name: round(percentile(taken, rank) * 1_000, 2)
            for name, rank in {"p50": 50.0, "p95": 95.0, "p99": 99.0, "max": 100.0}.items()
        },
        "requests": len(taken),
        "cpuMicrosecondsPerEvent": round(cpu / (count + beside) * 1e6, 1),
        "cpuShareOfACore": round(cpu / found["took"], 2),
    }


def _clients(port: int, mode: str, load: Load) -> list[Client]:
    if mode != MIXED:
        return [Client(port, mode, load)]
    return [Client(port, SINGLE, load), Client(port, GZIP, load, first=10_000_000)]


def headwater(mode: str, load: Load) -> dict[str, Any]:
    """Measure the real API once. Raise RuntimeError if the spool lacks an acknowledged event."""
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as home:
        with accepting(Path(home), log_level="warning") as (port, served):
            found = measured(served.pid, port, mode, load)
            found["memoryMegabytes"] = round(peak_megabytes(served.pid))
        found["spool"] = _check_spool(Path(home, "spool.db"), found.pop("events"))
    return found


def _check_spool(path: Path, acknowledged: int) -> dict[str, Any]:
    """Check that the spool holds exactly the acknowledged events, each complete."""
    with closing(Spool(path)) as spool:
        stored, after = 0, 0
        while records := spool.read(after, events_max=5_000, bytes_max=2**26):
            stored += sum(record.intact for record in records)
            after = records[-1].seq
    if stored != acknowledged or after != acknowledged:
        raise RuntimeError(f"{acknowledged} events were acknowledged, and the spool holds {stored}")
    return {
        "acknowledged": acknowledged,
        "stored": stored,
        "bytesPerEvent": round(path.stat().st_size / max(stored, 1)),
    }


def bare_http(mode: str, load: Load) -> dict[str, Any]:
    """Send the same requests to an application that does nothing with them."""
    port = free_port()
    with process("bench.bare", str(port), environment=os.environ) as served:
        wait_ready(port, served, path="/healthz", statuses=(200, 404), seconds=ANSWER_SECONDS_MAX)
        found = measured(served.pid, port, mode, load)
    del found["events"]
    return found


def bare_sqlite(mode: str, load: Load) -> dict[str, Any]:
    """Append the same events with bare SQLite; one sync for each group."""
    connections, size = load.shape(mode)
    group = max(size, connections)
    bodies = list(islice(events(10**9, load.jobs), max(4_000 // group, 4) * group))
    groups = [bodies[start : start + group] for start in range(0, len(bodies), group)]
    with ExitStack() as ended:
        home = ended.enter_context(tempfile.TemporaryDirectory(prefix="headwater-bench-"))
        connection = ended.enter_context(closing(apsw.Connection(str(Path(home, "bare.db")))))
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.execute(
            "CREATE TABLE event(seq INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL)"
        )
        began, cpu, count = time.perf_counter(), time.process_time(), 0
        while (took := time.perf_counter() - began) < load.seconds:
            for one in groups:
                with connection:
                    connection.executemany(
                        "INSERT INTO event(body) VALUES(?)", ((body,) for body in one)
                    )
                count += len(one)
        cpu = time.process_time() - cpu
    return {
        "eventsPerSync": group,
        "eventsPerSecond": round(count / took),
        "cpuMicrosecondsPerEvent": round(cpu / count * 1e6, 1),
    }


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--modes", default=",".join(MODES), help="Which, with commas between. [%(default)s]"
    )
    options.add_argument(
        "--seconds", type=float, default=8.0, help="How long each repeat posts. [%(default)s]"
    )
    options.add_argument("--repeats", type=int, default=3, help="[%(default)s]")
    options.add_argument(
        "--connections", type=int, default=32, help="For single events. [%(default)s]"
    )
    options.add_argument(
        "--batches", type=int, default=4, help="Connections for batches. [%(default)s]"
    )
    options.add_argument("--size", type=int, default=500, help="Events in a batch. [%(default)s]")
    options.add_argument(
        "--jobs", type=int, default=1_000, help="Jobs that take turns. [%(default)s]"
    )
    options.add_argument("--no-floors", action="store_true", help="Leave the floors out.")
    chosen = options.parse_args()
    modes = chosen.modes.split(",")
    if unknown := set(modes).difference(MODES):
        options.error(f"there is no mode {', '.join(sorted(unknown))}")
    load = Load(chosen.seconds, chosen.connections, chosen.batches, chosen.size, chosen.jobs)
    report = Report("post")
    report.show(
        options=vars(chosen),
        modes={
            mode: _measure_mode(mode, load, chosen.repeats, not chosen.no_floors) for mode in modes
        },
    )


def _measure_mode(mode: str, load: Load, repeats: int, floors: bool) -> dict[str, Any]:
    runs: list[dict[str, Any]] = []
    for number in range(repeats):
        runs.append(headwater(mode, load))
        print_progress(f"{mode} {number + 1}: {runs[-1]}")
    summary: dict[str, Any] = {
        "eventsPerSecond": spread([run["eventsPerSecond"] for run in runs]),
        "p99Milliseconds": spread([run["milliseconds"]["p99"] for run in runs]),
        "cpuMicrosecondsPerEvent": spread([run["cpuMicrosecondsPerEvent"] for run in runs]),
        "runs": runs,
    }
    if floors:
        summary["floor"] = {"http": bare_http(mode, load)}
        if mode != MIXED:
            summary["floor"]["sqlite"] = bare_sqlite(mode, load)
        print_progress(f"{mode} floor: {summary['floor']}")
    return summary


if __name__ == "__main__":
    main()
