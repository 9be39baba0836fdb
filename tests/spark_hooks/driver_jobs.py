"""Drivers that fail: programs of spark-submit with flags only, and of plain Python.

spark-submit FLAGS driver_jobs.py submitted FOLDER
python -m tests.spark_hooks.driver_jobs configured FOLDER URL
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as fn

REFUSED = 23


def _write_in_every_failing_way(session: SparkSession, folder: Path) -> None:
    """Write once in order, once to a path that exists, and once with a failing second Spark job."""
    rows: Any = session.range(10)
    rows.write.parquet(str(folder / "plain"))
    boom = fn.when(fn.col("id") == 9, fn.raise_error(fn.lit("an unwanted row"))).otherwise(1)
    grouped = rows.groupBy("id").count().withColumn("late", boom)
    for frame, name in ((rows, "plain"), (grouped, "late")):
        try:
            frame.write.parquet(str(folder / name))
        except PySparkException as refusal:
            print(f"caught {type(refusal).__name__}", flush=True)


def _stream_into_files(session: SparkSession, folder: Path) -> None:
    arriving = folder / "arriving"
    arriving.mkdir()
    for number in range(2):
        (arriving / f"{number}.csv").write_text(f"{number}\n")
    lines = session.readStream.option("maxFilesPerTrigger", 1).csv(str(arriving), schema="id INT")
    sink = lines.writeStream.format("parquet").option("path", str(folder / "arrived"))
    sink = sink.option("checkpointLocation", str(folder / "checkpoint"))
    sink.trigger(availableNow=True).start().awaitTermination()


def submitted(folder: Path) -> None:
    """Fail after the session was stopped, as a `finally` does."""
    session = SparkSession.builder.appName("submitted").getOrCreate()
    try:
        _write_in_every_failing_way(session, folder)
        _stream_into_files(session, folder)
        session.sparkContext.parallelize(range(4), 2).count()
        raise ValueError("a bad day\nin two lines")
    finally:
        session.stop()


def alone(folder: Path) -> None:
    """Fail where the OpenLineage listener is missing."""
    session = SparkSession.builder.appName("alone").getOrCreate()
    _write_in_every_failing_way(session, folder)
    print(session.read.parquet(str(folder / "plain")).count(), flush=True)
    sys.exit(REFUSED)


def configured(folder: Path, url: str) -> None:
    """Catch one exit, and end with another, in a program that started Spark itself."""
    from headwater.spark_hooks import configure
    from tests.spark_hooks.spark_jobs import plain

    configure(plain(folder).appName("configured"), url=url).getOrCreate()
    try:
        sys.exit(1)
    except SystemExit as caught:
        print(f"caught exit {caught.code}", flush=True)
    sys.exit("the rows are too few")


if __name__ == "__main__":
    name, home, *rest = sys.argv[1:]
    programs: dict[str, Callable[..., None]]
    programs = {"submitted": submitted, "alone": alone, "configured": configured}
    programs[name](Path(home), *rest)
