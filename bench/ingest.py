"""Measure ingest end to end: events a second over HTTP batches, time until visible, memory.

    python -m bench.ingest                         as fast as possible, for a minute
    python -m bench.ingest --rate 2800 --minutes 10
    python -m bench.ingest --detect                with the detector of findings beside it

The API, the worker, Neo4j and the posting client share the machine, each a process of its own.
START and COMPLETE of a run are `--apart` runs apart, so most runs are spread over two transactions.
An event is visible when the transaction with its batch is committed: the checkpoint in the graph is
read every 20 ms.

With `--rate` events are posted on a schedule, whether or not earlier ones are done. Waiting events
increase the time until visible.
"""

from __future__ import annotations

import argparse
import bisect
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.events import interleaved
from bench.graph import SIZES
from bench.processes import Client, environment, process, wait_ready
from bench.report import Report, print_progress, spread
from bench.usage import cpu_seconds, resident_megabytes
from headwater.cypher.driver.database import Database
from headwater.errors import HeadwaterError
from headwater.local.neo4j import LocalNeo4j
from headwater.local.ports import free_port

SETTLE_SECONDS_MAX = 300.0
_POLL_SECONDS = 0.02
_MEMORY_SECONDS = 2.0


class Visible:
    """Polls the checkpoint in the graph: the folded position, and the time of each change."""

    def __init__(self, database: Database, *, poll_seconds: float = _POLL_SECONDS) -> None:
        self._database = database
        self._poll_seconds = poll_seconds
        self._times: list[float] = []
        self._folded: list[int] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(self._poll_seconds):
            try:
                rows = self._database.ask("MATCH (c:Checkpoint) RETURN sum(c.folded) AS folded", {})
            except HeadwaterError:
                continue
            if not self._folded or rows[0]["folded"] != self._folded[-1]:
                self._folded.append(rows[0]["folded"])
                self._times.append(time.monotonic())

    def folded(self) -> int:
        return self._folded[-1] if self._folded else 0

    def when(self, number: int) -> float | None:
        """Return the time at which the first `number` events were visible, or None."""
        found = bisect.bisect_left(self._folded, number)
        return self._times[found] if found < len(self._times) else None

    def close(self) -> None:
        self._stop.set()
        self._thread.join()


class Poster:
    """Posts batches over one connection, on a schedule or as fast as they are accepted, with their
    times.
    """

    def __init__(self, port: int, events: Iterator[bytes], size: int, rate: float | None) -> None:
        self._client = Client(port)
        self._events, self._size, self._rate = events, size, rate
        # By batch: the number of events posted so far, the time it was due, and the seconds until
        # its answer.
        self.posted: list[tuple[int, float, float]] = []

    def run(self, seconds: float, *, ahead: int, visible: Visible) -> None:
        """Post for so long; without a rate, at most `ahead` events before the visible ones."""
        began, posted_events = time.monotonic(), 0
        while (now := time.monotonic()) < began + seconds:
            due = began + posted_events / self._rate if self._rate else now
            if now < due:
                time.sleep(due - now)
            elif not self._rate and posted_events - visible.folded() > ahead:
                time.sleep(_POLL_SECONDS)
                continue
            batch = [next(self._events) for _ in range(self._size)]
            self._post(b"[" + b",".join(batch) + b"]")
            posted_events += self._size
            self.posted.append((posted_events, due, time.monotonic() - due))

    def _post(self, body: bytes) -> None:
        status, text = self._client.post("/api/v1/lineage/batch", body)
        if status != 200 or b'"failed":0' not in text:
            raise RuntimeError(f"a batch was answered {status}: {text[:300]!r}")


class Memory:
    """Samples the memory of each process every few seconds."""

    def __init__(self, pids: dict[str, int]) -> None:
        self._pids = pids
        self._samples: list[dict[str, float]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(_MEMORY_SECONDS):
            self._samples.append(
                {name: resident_megabytes(pid) for name, pid in self._pids.items()}
            )

    def close(self) -> dict[str, list[int]]:
        """Return MB by process: at the beginning, in the middle, at the end, and the maximum."""
        self._stop.set()
        self._thread.join()
        found = {}
        for name in self._pids if self._samples else ():
            values = [round(sample[name]) for sample in self._samples]
            found[name] = [values[0], values[len(values) // 2], values[-1], max(values)]
        return found


def measure(options: argparse.Namespace, home: Path) -> dict[str, Any]:
    with ExitStack() as stack:
        running = stack.enter_context(LocalNeo4j(home / "neo4j", bolt_port=0, sizes=SIZES))
        port = free_port()
        settings = environment(home, running, port=port)
        served = stack.enter_context(process("headwater", "serve", environment=settings))
        worker = stack.enter_context(process("headwater", "worker", environment=settings))
        wait_ready(port, served)
        database = Database(running.uri, running.user, running.password)
        stack.callback(database.close)
        visible = Visible(database)
        stack.callback(visible.close)
        pids = {
            "api": served.pid,
            "worker": worker.pid,
            "neo4j": running.pid,
            "client": os.getpid(),
        }
        if options.detect:
            detector = stack.enter_context(process("headwater", "detect", environment=settings))
            pids["detector"] = detector.pid
        events = interleaved(options.jobs, options.apart)
        print_progress("warming up: every job runs once")
        warm = Poster(port, events, options.batch, None)
        warm.run(options.warm, ahead=options.ahead, visible=visible)
        _settle(warm.posted[-1][0], visible)
        before = {name: cpu_seconds(pid) for name, pid in pids.items()}
        done, began = visible.folded(), time.monotonic()
        poster = Poster(port, events, options.batch, options.rate)
        memory = Memory(pids)
        print_progress(f"measuring for {options.minutes:g} min")
        poster.run(options.minutes * 60, ahead=options.ahead - done, visible=visible)
        backlog = poster.posted[-1][0] - (visible.folded() - done)
        _settle(done + poster.posted[-1][0], visible)
        seconds = time.monotonic() - began
        count = poster.posted[-1][0]
        used = {
            name: round((cpu_seconds(pid) - before[name]) / count * 1e6, 1)
            for name, pid in pids.items()
        }
        lags = [
            (visible_at - due) * 1_000
            for position, due, _ in poster.posted
            if (visible_at := visible.when(done + position)) is not None
        ]
        return {
            "options": vars(options),
            "events": count,
            "eventsPerSecond": round(count / seconds),
            "eventsPerHour": round(count / seconds * 3_600),
            "backlogAtEnd": backlog,
            "visibleMs": spread(lags),
            "answerMs": spread([answer * 1_000 for *_, answer in poster.posted]),
            "cpuMicrosecondsPerEvent": {**used, "all": round(sum(used.values()), 1)},
            "memoryMb": memory.close(),
        }


def _settle(number: int, visible: Visible) -> None:
    """Wait until so many events are visible. Raise RuntimeError if they do not become visible."""
    deadline = time.monotonic() + SETTLE_SECONDS_MAX
    while visible.folded() < number:
        if time.monotonic() > deadline:
            raise RuntimeError(
                f"{visible.folded()} of {number} events are visible, and no more come"
            )
        time.sleep(_POLL_SECONDS)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rate", type=float, help="events a second to post; without it, as fast as they are folded"
    )
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--batch", type=int, default=500, help="events in a request")
    parser.add_argument("--jobs", type=int, default=2_000)
    parser.add_argument(
        "--apart", type=int, default=200, help="a run ends when so many others have begun"
    )
    parser.add_argument("--warm", type=float, default=20.0, help="seconds that do not count")
    parser.add_argument(
        "--ahead",
        type=int,
        default=12_000,
        help="without a rate: events posted and not yet visible",
    )
    parser.add_argument("--detect", action="store_true", help="run the detector of findings too")
    options = parser.parse_args()
    report = Report("ingest")
    with tempfile.TemporaryDirectory() as folder:
        report.show(**measure(options, Path(folder)))


if __name__ == "__main__":
    main()
