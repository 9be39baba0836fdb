"""Measure questions over HTTP on a graph of a million runs: `python -m bench.queries --home DIR`.

    python -m bench.queries --home DIR                      use the graph there, or build it first
    python -m bench.queries --home DIR --ingest 1400        while so many events a second are
    ingested

The API and the worker are processes of their own. Each question is asked one at a time over one
connection, from the request to the last byte of the answer. Its floor is asked in turn with it, by
the bare driver. The ingested events are runs of jobs that graph and worker know (`bench.beside`).
Measuring begins when the worker keeps pace: every posted event is in the graph within two seconds.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import neo4j

from bench.beside import JOBS_POSTED
from bench.graph import Filled, open_graph, open_home, store_bytes
from bench.processes import Client, api, environment, process
from bench.questions import Question, counted, questions
from bench.report import Report, percentile, print_progress, spread
from headwater.local.neo4j import Running

# The first seconds are not counted: plans are made and caches fill, as on a server that has run for
# a while.
_WARM_SECONDS = 3.0
_MAP_SECONDS_MAX = 120.0
# Posted events must be visible within so long, so many times in a row, before measuring begins.
_LAG_SECONDS_MAX = 2.0
_PACES = 10
_PACE_SECONDS_MAX = 600.0
_WATCH_SECONDS = 5.0
# No question is repeated for longer than this, whatever the number of repeats.
_SECONDS_MAX = 30.0
_REPEATS_MIN = 5
# No floor is repeated for longer than this in all; a bare query that walks far takes many seconds
# and runs once.
_FLOOR_MILLISECONDS_MAX = 5_000.0


def measure(
    question: Question, client: Client, session: neo4j.Session, repeats: int, floors: int
) -> dict[str, Any]:
    """Measure one question: its answer, its milliseconds and those of its floor, asked at most
    `floors` times.
    """
    try:
        body = question.ask(client)
    except (RuntimeError, OSError) as error:
        # A question without an answer is a finding too.
        return {"question": question.name, "failed": str(error)[:500]}
    ask_floor = partial(_bare, session, question)
    taken: list[float] = []
    bare: list[float] = []
    warm = time.monotonic() + _WARM_SECONDS
    while time.monotonic() < warm:
        question.ask(client)
        if floors >= repeats and sum(bare) < _FLOOR_MILLISECONDS_MAX:
            bare.append(_timed(ask_floor))
    left = _FLOOR_MILLISECONDS_MAX - sum(bare)
    # A floor that uses up its time has no further repeats.
    bare = bare if left <= 0 else []
    deadline = time.monotonic() + _SECONDS_MAX
    while len(taken) < repeats and (len(taken) < _REPEATS_MIN or time.monotonic() < deadline):
        taken.append(_timed(partial(question.ask, client)))
        if len(bare) < floors and (left > sum(bare) or not bare):
            bare.append(_timed(ask_floor))
    found: dict[str, Any] = {
        "question": question.name,
        "answer": counted(question, body),
        "milliseconds": spread(taken),
    }
    if question.target is not None:
        found |= {"targetP95": question.target, "met": percentile(taken, 95) <= question.target}
    return {**found, "floorMilliseconds": spread(bare)}


def _timed(call: Callable[[], object]) -> float:
    """Return the milliseconds of a call."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1_000


def _bare(session: neo4j.Session, question: Question) -> None:
    text, parameters = question.floor
    while True:
        try:
            list(session.run(text, dict(parameters)))
        except neo4j.exceptions.TransientError:
            # Events were written meanwhile, and reading them takes time too.
            continue
        return


def wait_map(client: Client) -> None:
    """Wait until the lineage cache is loaded and up to date. Raise RuntimeError after two
    minutes.
    """
    deadline = time.monotonic() + _MAP_SECONDS_MAX
    while time.monotonic() < deadline:
        is_in_step = metric(client, "headwater_cache_staleness_seconds", missing=inf) < 1.0
        if is_in_step and not metric(client, "headwater_cache_pending_datasets"):
            return
        time.sleep(0.5)
    raise RuntimeError("the lineage cache is not up to date")


def metric(client: Client, name: str, missing: float = 0.0) -> float:
    """Return the present value of a metric of the API that has no labels."""
    _, body = client.get("/metrics")
    values = dict(
        line.split() for line in body.decode().splitlines() if line.startswith(f"{name} ")
    )
    return float(values.get(name, missing))


def ask_all(
    running: Running,
    filled: Filled,
    port: int,
    repeats: int,
    only: str = "",
    *,
    floors: int | None = None,
) -> list[dict[str, Any]]:
    """Measure every question whose name contains `only`, each with its floor."""
    found = []
    client = Client(port)
    with (
        neo4j.GraphDatabase.driver(
            running.uri, auth=(running.user, running.password), notifications_min_severity="OFF"
        ) as driver,
        driver.session() as session,
    ):
        wait_map(client)
        for question in questions(filled):
            if only in question.name:
                found.append(
                    measure(
                        question, client, session, repeats, repeats if floors is None else floors
                    )
                )
                print_progress(_line(found[-1]))
    client.close()
    return found


def _line(one: dict[str, Any]) -> str:
    if "failed" in one:
        return f"{one['question']}: {one['failed']}"
    took, bare = one["milliseconds"], one["floorMilliseconds"]
    met = {True: "met", False: "NOT MET", None: ""}[one.get("met")]
    return (
        f"{one['question']}: p50 {took['median']} p95 {took['p95']} floor "
        f"{bare['median']} {one['answer']} {met}"
    )


@contextmanager
def ingesting(home: Path, running: Running, port: int, rate: float) -> Iterator[dict[str, Any]]:
    """Run a worker that keeps pace with events at a rate; the yielded dict has the result
    afterwards.
    """
    result: dict[str, Any] = {"targetPerSecond": rate}
    client, ended, lags = Client(port), threading.Event(), list[float]()
    command = [
        sys.executable,
        "-m",
        "bench.beside",
        str(port),
        "--home",
        str(home),
        "--rate",
        str(rate),
    ]
    with (
        process("headwater", "worker", environment=environment(home, running)),
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as posting,
    ):
        watching = threading.Thread(target=_watch, args=(Client(port), ended, lags))
        try:
            result["secondsToKeepPace"] = _wait_pace(client, posting)
            watching.start()
            began, before = time.monotonic(), _counts(client)
            yield result
            seconds, after = time.monotonic() - began, _counts(client)
            result |= {name: (after[name] - before[name]) / seconds for name in before}
        finally:
            ended.set()
            posting.send_signal(signal.SIGTERM)
            printed, _ = posting.communicate(timeout=30)
            if watching.ident:
                watching.join()
            result |= json.loads(printed or "{}") | {"lagSeconds": spread(lags)}


def _wait_pace(client: Client, posting: subprocess.Popen[str]) -> float:
    """Wait until every job had one run and the worker keeps pace; return the seconds, or raise
    RuntimeError.
    """
    began = time.monotonic()
    if not posting.stdout or posting.stdout.readline().strip() != JOBS_POSTED:
        raise RuntimeError("nothing could be posted")
    paces = 0
    while paces < _PACES:
        if time.monotonic() - began > _PACE_SECONDS_MAX:
            raise RuntimeError("the worker does not keep pace: ask for fewer events a second")
        lag = metric(client, "headwater_spool_oldest_seconds")
        paces = paces + 1 if lag <= _LAG_SECONDS_MAX else 0
        time.sleep(1.0)
        if not paces:
            print_progress(f"the oldest event that is not in the graph is {lag:.0f} s old")
    return time.monotonic() - began


def _counts(client: Client) -> dict[str, float]:
    names = {
        "acceptedPerSecond": "headwater_events_received_total",
        "foldedPerSecond": "headwater_events_folded_total",
    }
    return {key: metric(client, name) for key, name in names.items()}


def _watch(client: Client, ended: threading.Event, lags: list[float]) -> None:
    """Sample the lag of the graph behind the posted events."""
    while not ended.wait(_WATCH_SECONDS):
        lags.append(metric(client, "headwater_spool_oldest_seconds"))
    client.close()


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench.queries", description=__doc__)
    options.add_argument(
        "--home", help="the folder that keeps the graph; without it one is made and thrown away"
    )
    options.add_argument(
        "--runs", type=int, default=1_000_000, help="how many runs, beside those of the map"
    )
    options.add_argument("--repeats", type=int, default=50)
    options.add_argument(
        "--ingest", type=float, default=0.0, metavar="EVENTS_PER_S", help="0: nothing beside it"
    )
    options.add_argument("--only", default="", help="questions whose name has this in it")
    chosen = options.parse_args()
    report = Report("queries")
    with ExitStack() as open_:
        home = open_.enter_context(open_home(chosen.home))
        running, filled, seconds = open_.enter_context(open_graph(home, runs=chosen.runs))
        port = open_.enter_context(api(home, running))
        beside: dict[str, Any] = {}
        if chosen.ingest:
            with ingesting(home, running, port, chosen.ingest) as beside:
                # The floors of large answers are long work for Neo4j, which would slow ingest down;
                # questions would not.
                found = ask_all(
                    running, filled, port, chosen.repeats, chosen.only, floors=_REPEATS_MIN
                )
        else:
            found = ask_all(running, filled, port, chosen.repeats, chosen.only)
        size = store_bytes(home)
        report.show(
            runs=filled.runs, storeBytes=size, graph=seconds, ingest=beside, questions=found
        )


if __name__ == "__main__":
    main()
