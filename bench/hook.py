"""Measure the listener's cost to a pipeline: one Spark program without it, and with Headwater up or
down.

    python -m bench.hook                     8 rounds, about 8 minutes on a quiet machine
    python -m bench.hook --rounds 20 --passes 5

A round runs `bench.hook_job` once in each variant, every time as a process of its own. The order
rotates from round to round, so other load on the machine affects all variants alike:

| variant | program |
|---|---|
| without | Spark alone |
| up | with the listener of `headwater.spark_hooks.configure`, to an API that keeps its events |
| down | the same, to a port where nothing listens |

For each part of the program the report has the ratio to `without` of the same round: the median
over the rounds, and its 95 % interval (bootstrap over rounds). The parts are: `process`, from start
to end of the process; `start`, until a session exists; `pipeline`, the queries; `settled`, the last
pass over them, when Spark's own code is warm; `stop`, until everything is sent; `cpu`, the CPU
seconds of Spark's JVM; and `startCpu` and `settledCpu`, its shares of those parts. CPU seconds
depend least on other load.

`onceSeconds` is the cost that a session pays once: the extra time of a variant, less the extra time
of its last pass times the number of passes. `onceCpuSeconds` is the same for CPU. With `settled` it
gives the cost of a longer pipeline.

The API runs beside Spark on the same cores, as it would not in production; `apiCpu` is its CPU
time. Neo4j and the worker do not run, because accepting events does not need them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.processes import accepting
from bench.report import Report, print_progress, spread
from bench.usage import cpu_seconds
from headwater.local.ports import free_port

WITHOUT, UP, DOWN = "without", "up", "down"
VARIANTS = (WITHOUT, UP, DOWN)
PARTS = ("process", "start", "pipeline", "settled", "stop", "cpu", "startCpu", "settledCpu")
_RESAMPLES = 10_000
_RUN_SECONDS_MAX = 600.0

Run = dict[str, float]


def interval(ratios: Sequence[float], *, share: float = 0.95) -> tuple[float, float]:
    """Return the 95 % interval of the median, by bootstrap."""
    draw = random.Random(1)
    medians = sorted(
        statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(_RESAMPLES)
    )
    outside = int(_RESAMPLES * (1 - share) / 2)
    return medians[outside], medians[-outside - 1]


def compared(rounds: Sequence[dict[str, Run]], variant: str, part: str) -> dict[str, Any]:
    """Return the ratios of a part of a variant to the same part without the listener, round by
    round.
    """
    ratios = [one[variant][part] / one[WITHOUT][part] for one in rounds if one[WITHOUT][part] > 0]
    if not ratios:
        return {"repeats": 0}
    low, high = interval(ratios)
    more = statistics.median(one[variant][part] - one[WITHOUT][part] for one in rounds)
    return {
        "ratio": round(statistics.median(ratios), 4),
        "from": round(low, 4),
        "to": round(high, 4),
        "extraSeconds": round(more, 3),
        "rounds": len(ratios),
    }


def once(
    rounds: Sequence[dict[str, Run]], variant: str, *, total: str, each: str, passes: int
) -> dict[str, float]:
    """Return the one-time extra seconds of a variant, with their interval."""

    def more(one: dict[str, Run], part: str) -> float:
        return one[variant][part] - one[WITHOUT][part]

    seconds = [more(one, total) - passes * more(one, each) for one in rounds]
    low, high = interval(seconds)
    return {
        "median": round(statistics.median(seconds), 3),
        "from": round(low, 3),
        "to": round(high, 3),
    }


def order_of(number: int) -> list[str]:
    """Return the variants in the order of round `number`: each is first, second and third equally
    often.
    """
    turn = number % len(VARIANTS)
    turned = [*VARIANTS[turn:], *VARIANTS[:turn]]
    return turned[::-1] if number // len(VARIANTS) % 2 else turned


def run(folder: Path, url: str, passes: int) -> Run:
    """Run one process to its end. Raise RuntimeError if the program fails."""
    command = [
        sys.executable,
        "-m",
        "bench.hook_job",
        "--folder",
        str(folder),
        "--url",
        url,
        "--passes",
        str(passes),
    ]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    began = time.monotonic()
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_RUN_SECONDS_MAX,
        check=False,
    )
    taken = time.monotonic() - began
    if done.returncode != 0:
        raise RuntimeError(f"the program failed: {done.stderr[-2_000:]}")
    return {
        "process": taken,
        "errorLines": len(done.stderr.splitlines()),
        **json.loads(done.stdout.splitlines()[-1]),
    }


def measure(folder: Path, rounds: int, passes: int) -> dict[str, Any]:
    """Run every variant in every round, and compare them."""
    with accepting(folder / "home", log_level="critical") as (port, started):
        urls = {
            WITHOUT: "",
            UP: f"http://127.0.0.1:{port}",
            DOWN: f"http://127.0.0.1:{free_port()}",
        }
        print_progress("once without counting, so that files and jars are in memory")
        run(folder, urls[UP], 1)
        before = cpu_seconds(started.pid)
        found: list[dict[str, Run]] = []
        for number in range(rounds):
            found.append(
                {variant: run(folder, urls[variant], passes) for variant in order_of(number)}
            )
            shown = ", ".join(
                f"{variant} {found[-1][variant]['process']:.1f} s" for variant in VARIANTS
            )
            print_progress(f"round {number + 1} of {rounds}: {shown}")
        api_cpu = (cpu_seconds(started.pid) - before) / rounds
    return {
        "rounds": rounds,
        "passes": passes,
        "overhead": {
            variant: {part: compared(found, variant, part) for part in PARTS}
            for variant in (UP, DOWN)
        },
        "onceSeconds": {
            variant: once(found, variant, total="process", each="settled", passes=passes)
            for variant in (UP, DOWN)
        },
        "onceCpuSeconds": {
            variant: once(found, variant, total="cpu", each="settledCpu", passes=passes)
            for variant in (UP, DOWN)
        },
        "seconds": {
            variant: {part: spread([one[variant][part] for one in found]) for part in PARTS}
            for variant in VARIANTS
        },
        "errorLines": {
            variant: statistics.median(one[variant]["errorLines"] for one in found)
            for variant in VARIANTS
        },
        "apiCpu": round(api_cpu, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="What the listener costs a pipeline.")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--passes", type=int, default=3)
    chosen = parser.parse_args()
    report = Report("hook")
    with tempfile.TemporaryDirectory(prefix="headwater-hook-") as folder:
        report.show(**measure(Path(folder), chosen.rounds, chosen.passes))


if __name__ == "__main__":
    main()
