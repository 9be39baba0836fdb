"""One Spark program with or without the listener; `bench.hook` runs it in a process of its own.

It is the demo's pipeline up to its marts (five CSV files to nine Parquet datasets), several times
in one session, without the part that fails on purpose. It prints one JSON object: the seconds of
its parts, the CPU seconds of Spark's JVM, and whether the listener was cut off.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import time
from pathlib import Path

from pyspark.sql import SparkSession

from bench.usage import cpu_seconds
from headwater.demo import data
from headwater.demo.pipeline import SETTINGS, Lake, build_marts, clean
from headwater.spark_hooks import configure


def run(folder: Path, url: str, passes: int) -> dict[str, float]:
    """Return the seconds of each part; an empty `url` means without the listener."""
    raw = data.unpack_tables(folder / "raw")
    began = time.monotonic()
    builder = SparkSession.builder.master("local[2]").appName("bench_hook")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = (configure(builder, url=url, namespace="bench") if url else builder).getOrCreate()
    started = time.monotonic()
    lake = Lake(spark, folder / "lake")
    each, cpu = [], [_cpu_of_java()]
    for _ in range(passes):
        pass_began = time.monotonic()
        build_marts(lake, clean(lake, raw))
        each.append(time.monotonic() - pass_began)
        cpu.append(_cpu_of_java())
    ended = time.monotonic()
    spark.stop()
    stopped = time.monotonic()
    return {
        "start": started - began,
        "pipeline": ended - started,
        "settled": each[-1],
        "stop": stopped - ended,
        "cpu": _cpu_of_java(),
        "startCpu": cpu[0],
        "settledCpu": cpu[-1] - cpu[-2],
    }


def _cpu_of_java() -> float:
    """Return the CPU seconds of the JVM below this process, which lives until the program ends."""
    below = subprocess.run(
        ["pgrep", "-P", str(os.getpid()), "java"], capture_output=True, text=True, check=False
    )
    return sum(cpu_seconds(int(pid)) for pid in below.stdout.split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--url", default="")
    parser.add_argument("--passes", type=int, default=1)
    chosen = parser.parse_args()
    print(json.dumps(run(chosen.folder, chosen.url, chosen.passes)), flush=True)


if __name__ == "__main__":
    main()
