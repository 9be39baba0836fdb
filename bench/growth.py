"""Measure questions and ingest as the graph grows: `python -m bench.growth --png growth.png`.

One graph of 20,000 datasets and jobs grows from ten thousand runs to a hundred thousand and a
million. At each size the main questions are asked over HTTP (`bench.questions`), then a worker
folds a spool of new events. The added runs are older than the questions' time range, so the answers
stay the same. Flat is the expected growth for the lineage graph. Logarithmic, the depth of an
index, is the worst for history by time or run.
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import neo4j

from bench.events import run_of
from bench.graph import RUN_SECONDS, Filled, micros, open_graph, open_home, prepare, store_bytes
from bench.processes import api
from bench.queries import ask_all
from bench.report import Report, percentile, print_progress, spread
from headwater.cypher.driver.database import Database
from headwater.ingest.fold import fold
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.transaction import WriteRequest, read_checkpoint, write
from headwater.local.neo4j import Running
from headwater.schema.events import parse

SIZES = (10_000, 100_000, 1_000_000)
INGEST = "ingest of 100 events"
_SPOOL = "growth"
_RUNS_A_BATCH = 50
_SEED = 6


def ingest(running: Running, filled: Filled, batches: int) -> list[float]:
    """Return the milliseconds of parse, fold and write for batches of new runs of known jobs."""
    database = Database(running.uri, running.user, running.password)
    cache, chance, tables = WriteCache(), random.Random(_SEED), filled.wiring.tables
    numbers = itertools.count(2**51 + time.time_ns() // 1_000)
    taken = []
    try:
        # The first batch makes Neo4j plan its statements and is not counted.
        for _ in range(batches + 1):
            now = datetime.now(UTC) - timedelta(seconds=RUN_SECONDS)
            jobs = [chance.randrange(len(tables)) for _ in range(_RUNS_A_BATCH)]
            bodies = [
                body
                for job in jobs
                for body in run_of(job, tables[job], next(numbers), now, seconds=RUN_SECONDS)
            ]
            began = time.perf_counter()
            events = [parse(body, received=micros(now)) for body in bodies]
            before = read_checkpoint(database, _SPOOL)
            after = type(before)(before.position + len(events), before.folded + len(events))
            write(
                database,
                WriteRequest(
                    fold(events), spool=_SPOOL, before=before, after=after, holder="bench"
                ),
                cache=cache,
            )
            taken.append((time.perf_counter() - began) * 1_000)
    finally:
        database.close()
    return taken[1:]


def measure_size(home: Path, running: Running, runs: int, repeats: int) -> dict[str, Any]:
    """Grow the graph to so many runs and measure."""
    print_progress(f"growing to {runs} runs")
    filled, seconds = prepare(home, running, runs=runs)
    with neo4j.GraphDatabase.driver(
        running.uri, auth=(running.user, running.password), notifications_min_severity="OFF"
    ) as driver:
        driver.execute_query("CALL db.awaitIndexes(300)")
    with api(home, running) as port:
        found = ask_all(running, filled, port, repeats)
    taken = ingest(running, filled, repeats)
    print_progress(f"{INGEST}: p50 {percentile(taken, 50):.4g} p95 {percentile(taken, 95):.4g}")
    found.append({"question": INGEST, "milliseconds": spread(taken)})
    return {"runs": runs, "storeBytes": store_bytes(home), "graph": seconds, "questions": found}


def series(steps: list[dict[str, Any]]) -> dict[str, list[tuple[int, float]]]:
    """Return the median milliseconds of each question by number of runs, without failed
    measurements.
    """
    found: dict[str, list[tuple[int, float]]] = {}
    for step in steps:
        for one in step["questions"]:
            if "milliseconds" in one:
                found.setdefault(one["question"], []).append(
                    (step["runs"], one["milliseconds"]["median"])
                )
    return found


def factors(steps: list[dict[str, Any]]) -> dict[str, float]:
    """Return the ratio of the largest size to the smallest for each question."""
    return {
        name: round(points[-1][1] / points[0][1], 2)
        for name, points in series(steps).items()
        if points[0][1]
    }


def draw(steps: list[dict[str, Any]], path: Path) -> None:
    """Draw time against size, both logarithmic, one line for each question, as PNG."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(11, 7), layout="constrained")
    styles = itertools.cycle(itertools.product(("-", "--"), "os^Dvx*P"))
    for (name, points), (line, mark) in zip(series(steps).items(), styles, strict=False):
        sizes, taken = zip(*points, strict=True)
        axes.plot(sizes, taken, line, marker=mark, label=name)
    axes.set(xscale="log", yscale="log", xlabel="runs in the graph", ylabel="median milliseconds")
    axes.set_title(
        "How long questions and ingest take as the graph grows\n20,000 datasets, 20,000 "
        "jobs, 60,000 edges"
    )
    axes.grid(True, which="both", alpha=0.25)
    figure.legend(loc="outside right upper", fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    options.add_argument(
        "--home", help="a folder that keeps the graph; one that has more runs already is too large"
    )
    options.add_argument(
        "--sizes", type=int, nargs="+", default=list(SIZES), help="how many runs, in steps"
    )
    options.add_argument("--repeats", type=int, default=20)
    options.add_argument("--png", type=Path, help="draw the picture here")
    chosen = options.parse_args()
    report = Report("growth")
    steps = []
    with open_home(chosen.home) as home, open_graph(home, runs=0) as (running, filled, _):
        if filled.replicas > min(chosen.sizes):
            options.error(f"the graph in {home} has {filled.replicas} runs already")
        for runs in sorted(chosen.sizes):
            steps.append(measure_size(home, running, runs, chosen.repeats))
            if chosen.png:
                draw(steps, chosen.png)
    report.show(steps=steps, factors=factors(steps))


if __name__ == "__main__":
    main()
