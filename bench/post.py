"""Measure events over HTTP: rates, times until the answer and until visible, CPU time per event.

    python -m bench.post                     all modes, three times each
    python -m bench.post --modes single,one --seconds 30
    python -m bench.post --modes single --rate 3000

| mode | requests |
|---|---|
| single | one event each, over 32 keep-alive connections; every 201 comes after the sync |
| one | one event each, over one connection: the next event is sent when the last is answered |
| batch | 500 events each, about 3 MB, over 4 connections |
| gzip | the same, packed |
| mixed | single, while another client posts batches as fast as it can |

Modes `single` and `one` run with everything on this machine: API, worker, Neo4j and client, each a
process of its own. A repeat ends when the graph has every event, and its CPU times go up to that
moment. An event is visible when the checkpoint in the graph has passed it; the checkpoint is read
every 50 ms. START and COMPLETE of a run are `--apart` runs apart, so that most runs are spread over
two transactions. With `--rate`, requests are due on a schedule, and times count from there.

The other modes, and these two with `--accept-only`, run without Neo4j and a worker, because
accepting does not need them. Every repeat then begins with an empty spool.

Each repeat ends with a check that the spool holds every acknowledged event.

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
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import Any

import apsw

from bench.events import events
from bench.graph import SIZES
from bench.ingest import SETTLE_SECONDS_MAX, Visible
from bench.poster import BATCH, GZIP, SINGLE
from bench.processes import ANSWER_SECONDS_MAX, accepting, environment, process, wait_ready
from bench.report import Report, percentile, print_progress, spread
from bench.usage import cpu_seconds, peak_megabytes
from headwater.cypher.driver.database import Database
from headwater.ingest.spool.reader import SpoolReader
from headwater.local.neo4j import LocalNeo4j
from headwater.local.ports import free_port

ONE, MIXED = "one", "mixed"
MODES = (SINGLE, ONE, BATCH, GZIP, MIXED)
FOLDED_MODES = (SINGLE, ONE)
# Each client begins at a run number of its own, so no run is posted twice.
_RUNS_APART = 200_000
_VISIBLE_POLL_SECONDS = 0.05
_WARM_SECONDS, _WARM_EVENTS = 10.0, 40_000
# The system is quiet when its processes use less of a core than this for so many seconds.
_QUIET_SHARE, _QUIET_SECONDS, _QUIET_SECONDS_MAX = 0.1, 3.0, 180.0
_RANKS = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "max": 100.0}


@dataclass(frozen=True)
class Load:
    """The parameters of a measurement: `size` events in a batch; `jobs` jobs take turns."""

    seconds: float
    connections: int
    batches: int
    size: int
    jobs: int
    apart: int
    rate: float

    def shape(self, mode: str) -> tuple[int, int]:
        """Return the number of connections, and of events a request."""
        if mode in FOLDED_MODES:
            return (self.connections if mode == SINGLE else 1), 1
        return self.batches, self.size


class Client:
    """One `bench.poster` process, ready to begin."""

    _numbers = count(1)

    def __init__(self, port: int, mode: str, load: Load) -> None:
        connections, size = load.shape(mode)
        named = {
            "mode": SINGLE if mode == ONE else mode,
            "seconds": load.seconds,
            "connections": connections,
            "size": size,
            "jobs": load.jobs,
            "apart": load.apart,
            "rate": load.rate / size,
            "first": next(self._numbers) * _RUNS_APART,
        }
        options = [f"--{name}={value}" for name, value in named.items()]
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


class System:
    """The measured processes. With a Neo4j, `settle` waits until the graph has every event."""

    def __init__(
        self, port: int, pids: dict[str, int], spool: Path | None, visible: Visible | None = None
    ) -> None:
        self.port = port
        self._pids = pids
        self._spool = SpoolReader(spool) if spool is not None else None
        self._visible = visible

    def cpu(self) -> dict[str, float]:
        """Return the processor seconds of each process."""
        return {name: cpu_seconds(pid) for name, pid in self._pids.items()}

    def peak_megabytes(self) -> dict[str, int]:
        return {name: round(peak_megabytes(pid)) for name, pid in self._pids.items()}

    def count(self) -> int:
        """Return the number of events in the spool; 0 without a spool."""
        return self._spool.count() if self._spool is not None else 0

    def settle(self) -> None:
        """Wait until every event is visible. Raise RuntimeError if one does not become visible."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while self._visible is not None and self._visible.folded() < self.count():
            if time.monotonic() > deadline:
                raise RuntimeError(f"only {self._visible.folded()} events became visible")
            time.sleep(_VISIBLE_POLL_SECONDS)

    def rest(self) -> None:
        """Wait until the processes do next to nothing: a start plans statements for a while."""
        deadline = time.monotonic() + _QUIET_SECONDS_MAX
        while time.monotonic() < deadline:
            before = sum(self.cpu().values())
            time.sleep(_QUIET_SECONDS)
            if sum(self.cpu().values()) - before < _QUIET_SHARE * _QUIET_SECONDS:
                return

    def visible(self, first: int, began: float) -> dict[str, Any]:
        """Return when the events from seq `first` on became visible, after a settled repeat.

        `began` is the monotonic time at which the first of them was sent.
        """
        if self._visible is None or self._spool is None:
            return {}
        last, wall = self._spool.count(), time.time() - time.monotonic()
        lags: list[float] = []
        ended = began
        for event in self._spool.events(first, last):
            visible_at = self._visible.when(event.seq)
            assert visible_at is not None, "the repeat is settled"
            ended = visible_at
            lags.append((ended + wall) * 1_000 - event.received / 1_000)
        return {
            "foldedPerSecond": round((last - first + 1) / (ended - began)),
            "visibleMilliseconds": _percentiles(lags),
        }

    def check(self, first: int, acknowledged: int) -> None:
        """Raise RuntimeError unless the spool has exactly the acknowledged events from `first`."""
        if self._spool is not None and self.count() - first + 1 != acknowledged:
            raise RuntimeError(
                f"{acknowledged} events were acknowledged, and the spool has "
                f"{self.count() - first + 1}"
            )


def _percentiles(milliseconds: list[float]) -> dict[str, float]:
    return {name: round(percentile(milliseconds, rank), 2) for name, rank in _RANKS.items()}


def measured(system: System, mode: str, load: Load) -> dict[str, Any]:
    """Return the results of all clients within the time, and of the worker until it is done."""
    with ExitStack() as clients:
        main, *others = [
            Client(system.port, one, load) for one in ((SINGLE, GZIP) if mode == MIXED else (mode,))
        ]
        for client in (main, *others):
            clients.callback(client.close)
        before, first, began = system.cpu(), system.count() + 1, time.monotonic()
        for client in (main, *others):
            client.begin()
        found = main.ended()
        beside = sum(client.ended()["events"] for client in others)
        system.settle()
        used = {name: seconds - before[name] for name, seconds in system.cpu().items()}
    events, seconds = found["events"] + beside, found["seconds"]
    system.check(first, events)
    used["client"] = found["cpu"]
    shares = {name: round(cpu / events * 1e6, 1) for name, cpu in used.items()}
    return {
        "events": events,
        "eventsPerSecond": round(found["events"] / found["took"]),
        **({"batchEventsPerSecond": round(beside / found["took"])} if others else {}),
        "milliseconds": _percentiles([one * 1_000 for one in seconds]),
        **system.visible(first, began),
        "requests": len(seconds),
        "cpuMicrosecondsPerEvent": {**shares, "all": round(sum(shares.values()), 1)},
        "memoryMegabytes": system.peak_megabytes(),
    }


@contextmanager
def accepting_only() -> Iterator[System]:
    """Run the API with an empty spool, without a worker and Neo4j."""
    with (
        tempfile.TemporaryDirectory(prefix="headwater-bench-") as home,
        accepting(Path(home), log_level="warning") as (port, served),
    ):
        yield System(port, {"api": served.pid}, Path(home, "spool.db"))


@contextmanager
def folding(load: Load) -> Iterator[System]:
    """Run the API, a worker and Neo4j, with a graph that has every job."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="headwater-bench-")))
        running = stack.enter_context(LocalNeo4j(home / "neo4j", bolt_port=0, sizes=SIZES))
        port = free_port()
        settings = environment(home, running, port=port)
        served = stack.enter_context(process("headwater", "serve", environment=settings))
        worker = stack.enter_context(process("headwater", "worker", environment=settings))
        wait_ready(port, served)
        database = Database(running.uri, running.user, running.password)
        stack.callback(database.close)
        visible = Visible(database, poll_seconds=_VISIBLE_POLL_SECONDS)
        stack.callback(visible.close)
        pids = {"api": served.pid, "worker": worker.pid, "neo4j": running.pid}
        system = System(port, pids, home / "headwater" / "spool.db", visible)
        print_progress("warming up: every job runs, then the processes come to rest")
        # Neo4j's JVM compiles its hot code during the first tens of thousands of events.
        warm = replace(load, seconds=_WARM_SECONDS, rate=_WARM_EVENTS / _WARM_SECONDS)
        client = Client(port, BATCH, warm)
        stack.callback(client.close)
        client.begin()
        client.ended()
        system.settle()
        system.rest()
        yield system


@contextmanager
def bare_http() -> Iterator[System]:
    """Run an application that does nothing with the requests."""
    port = free_port()
    with process("bench.bare", str(port), environment=os.environ) as served:
        wait_ready(port, served, path="/healthz", statuses=(200, 404), seconds=ANSWER_SECONDS_MAX)
        yield System(port, {"api": served.pid}, None)


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
    options.add_argument(
        "--apart", type=int, default=200, help="A run ends when so many others began. [%(default)s]"
    )
    options.add_argument(
        "--rate", type=float, default=0.0, help="Events a second; 0: as fast as they are answered."
    )
    options.add_argument("--accept-only", action="store_true", help="Fold nothing in any mode.")
    options.add_argument("--no-floors", action="store_true", help="Leave the floors out.")
    chosen = options.parse_args()
    modes = chosen.modes.split(",")
    if unknown := set(modes).difference(MODES):
        options.error(f"there is no mode {', '.join(sorted(unknown))}")
    load = Load(
        chosen.seconds,
        chosen.connections,
        chosen.batches,
        chosen.size,
        chosen.jobs,
        chosen.apart,
        chosen.rate,
    )
    report = Report("post")
    found: dict[str, Any] = {}
    folded = [mode for mode in modes if mode in FOLDED_MODES and not chosen.accept_only]
    if folded:
        with folding(load) as system:
            for mode in folded:
                runs = []
                for number in range(chosen.repeats):
                    runs.append(measured(system, mode, load))
                    print_progress(f"{mode} {number + 1}: {runs[-1]}")
                found[mode] = _summary(runs)
    for mode in modes:
        if mode not in found:
            found[mode] = _measure_accepting(mode, load, chosen.repeats)
        if not chosen.no_floors:
            found[mode]["floor"] = _floor(mode, load)
            print_progress(f"{mode} floor: {found[mode]['floor']}")
    report.show(options=vars(chosen), modes=found)


def _measure_accepting(mode: str, load: Load, repeats: int) -> dict[str, Any]:
    runs: list[dict[str, Any]] = []
    for number in range(repeats):
        with accepting_only() as system:
            runs.append(measured(system, mode, load))
        print_progress(f"{mode} {number + 1}: {runs[-1]}")
    return _summary(runs)


def _summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    cpu = [run["cpuMicrosecondsPerEvent"] for run in runs]
    summary: dict[str, Any] = {
        "eventsPerSecond": spread([run["eventsPerSecond"] for run in runs]),
        "p99Milliseconds": spread([run["milliseconds"]["p99"] for run in runs]),
        "cpuMicrosecondsPerEvent": {name: spread([one[name] for one in cpu]) for name in cpu[0]},
    }
    if "foldedPerSecond" in runs[0]:
        summary["foldedPerSecond"] = spread([run["foldedPerSecond"] for run in runs])
        visible = [run["visibleMilliseconds"]["p95"] for run in runs]
        summary["visibleP95Milliseconds"] = spread(visible)
    return {**summary, "runs": runs}


def _floor(mode: str, load: Load) -> dict[str, Any]:
    with bare_http() as system:
        floor = {"http": measured(system, mode, load)}
    if mode != MIXED:
        floor["sqlite"] = bare_sqlite(mode, load)
    return floor


if __name__ == "__main__":
    main()
