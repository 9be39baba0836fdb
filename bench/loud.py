"""Measure the delay of a quiet client by a loud one: times of the quiet one, alone and beside it.

    python -m bench.loud                 four cases of 15 s each
    python -m bench.loud --seconds 5

The quiet client sends an event and a question, one after the other over one connection, with 50 ms
between them. The loud one sends questions over 24 connections and batches of 100 events over 8, as
fast as they are answered. Both have keys. API, worker, detector, Neo4j and clients are processes of
this machine.

| case | limits |
|---|---|
| alone | the quiet client only |
| none | `HEADWATER_SHARED_REQUESTS=0` |
| shares | the default: the active callers share 32 requests |
| limits | shares, and `keys limit loud --requests 20 --events 500 --concurrency 4` |
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.events import events
from bench.processes import environment, process, wait_ready
from bench.report import machine, percentile, print_progress
from headwater.access.keys import Keys
from headwater.access.limit_store import Limits, LimitStore
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from headwater.local.neo4j import LocalNeo4j, Running
from headwater.local.ports import free_port

QUIET, LOUD = "quiet", "loud"
CASES = ("alone", "none", "shares", "limits")
LOUD_LIMITS = Limits(requests=20, events=500, concurrency=4)
PAUSE_SECONDS = 0.05
READY_SECONDS_MAX = 300.0
QUESTIONS, SENDERS, BATCH_EVENTS, JOBS = 24, 8, 100, 50
_QUESTION = json.dumps({"query": "{ jobs(first: 20) { nodes { urn } } }"}).encode()


class Caller:
    """One keep-alive connection with a key."""

    def __init__(self, port: int, key: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}

    def post(self, path: str, body: bytes) -> int:
        """Send a request and return its status; a refused one is followed by a short pause."""
        try:
            self._connection.request("POST", path, body, self._headers)
            answer = self._connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return 0
        if answer.status in (429, 503):
            time.sleep(0.1)
        return answer.status


def be_loud(port: int, key: str, seconds: float) -> None:
    """Run the loud client, and print the number of answers by status."""
    batch = b"[" + b",".join(events(BATCH_EVENTS // 2, JOBS)) + b"]"
    end = time.monotonic() + seconds
    found: Counter[str] = Counter()

    def call(path: str, body: bytes) -> None:
        caller = Caller(port, key)
        while time.monotonic() < end:
            found[f"{path} {caller.post(path, body)}"] += 1

    words = [("/graphql", _QUESTION)] * QUESTIONS + [("/api/v1/lineage/batch", batch)] * SENDERS
    threads = [threading.Thread(target=call, args=one) for one in words]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(found))


def be_quiet(port: int, key: str, seconds: float) -> dict[str, list[float]]:
    """Return the times of the quiet client in milliseconds; all its requests must succeed."""
    caller, end = Caller(port, key), time.monotonic() + seconds
    source = events(10**6, JOBS, first=1_000)
    times: dict[str, list[float]] = {"event": [], "question": []}
    while time.monotonic() < end:
        for name, path, body in (
            ("event", "/api/v1/lineage", next(source)),
            ("question", "/graphql", _QUESTION),
        ):
            began = time.monotonic()
            status = caller.post(path, body)
            if status not in (200, 201):
                raise RuntimeError(f"the quiet client got {status} for its {name}")
            times[name].append((time.monotonic() - began) * 1_000)
            time.sleep(PAUSE_SECONDS)
    return times


def measure(
    case: str, home: Path, running: Running, keys: dict[str, str], seconds: float
) -> dict[str, Any]:
    """Return the figures of one case."""
    port = free_port()
    settings = {"require_keys": "true", "shared_requests": "0" if case == "none" else "32"}
    store = AccessStore(home / "headwater" / "access.db")
    if case == "limits":
        LimitStore(store).set(LOUD, LOUD_LIMITS)
    store.close()
    with process(
        "headwater", "serve", environment=environment(home, running, port=port, **settings)
    ) as started:
        wait_ready(port, started, seconds=READY_SECONDS_MAX)
        be_quiet(port, keys[QUIET], 3)
        loud = None
        if case != "alone":
            words = ["--be-loud", str(port), keys[LOUD], "--seconds", str(seconds + 2)]
            command = [sys.executable, "-m", "bench.loud", *words]
            loud = subprocess.Popen(command, stdout=subprocess.PIPE)
            time.sleep(1)
        times = be_quiet(port, keys[QUIET], seconds)
        answers = json.loads(loud.communicate()[0]) if loud is not None else {}
    figures: dict[str, Any] = {"case": case}
    for name, found in times.items():
        figures[f"{name} p50 ms"] = round(percentile(found, 50), 1)
        figures[f"{name} p99 ms"] = round(percentile(found, 99), 1)
    return {**figures, "pairs": len(times["event"]), "load": os.getloadavg()[0], "loud": answers}


def main() -> None:
    """Measure all cases and print them as JSON lines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--be-loud", nargs=2, metavar=("PORT", "KEY"))
    options = parser.parse_args()
    if options.be_loud:
        be_loud(int(options.be_loud[0]), options.be_loud[1], options.seconds)
        return
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        running = stack.enter_context(LocalNeo4j(home, bolt_port=0))
        store = AccessStore(home / "headwater" / "access.db")
        scopes = [Scope.READ, Scope.INGEST]
        keys = {name: Keys(store).create(name, scopes)[0] for name in (QUIET, LOUD)}
        store.close()
        for name in ("worker", "detect"):
            stack.enter_context(process("headwater", name, environment=environment(home, running)))
        print(json.dumps(machine()))
        for case in CASES:
            print_progress(case)
            print(json.dumps(measure(case, home, running, keys, options.seconds)), flush=True)


if __name__ == "__main__":
    main()
