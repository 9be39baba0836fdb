"""Spark programs that the tests run as processes: `python -m tests.spark_hooks.spark_jobs NAME
...`.

Each prints one JSON line last: the results of the job, the seconds of its parts, and its own
settings.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as fn

from headwater.errors import HeadwaterError
from headwater.spark_hooks import cite, configure, report_failures, spark_conf
from headwater.spark_hooks.listener import JARS, LISTENER_CLASS, LISTENERS, PACKAGES
from tests.spark_hooks.servers import recorder

API_KEY = "key-of-the-test"


def plain(folder: Path) -> SparkSession.Builder:
    return (
        SparkSession.builder.master("local[2]")
        .appName("spark_hooks_tests")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.ui.enabled", "false")
    )


def small(url: str, folder: Path) -> dict[str, Any]:
    """Run a job whose result must not depend on the server at `url`."""
    session = configure(plain(folder), url=url).getOrCreate()
    for part in range(4):
        rows = (
            session.range(1_000)
            .groupBy((fn.col("id") % 7).alias("k"))
            .agg(fn.sum("id").alias("total"))
        )
        rows.write.mode("overwrite").parquet(str(folder / f"part{part}"))
    result = sorted(map(tuple, session.read.parquet(str(folder / "part*")).collect()))
    computed = time.monotonic()
    cited = [cite(session, answer_id="a", from_=[folder / "part0"]) for _ in range(3)]
    session.stop()
    return {"result": result, "cited": cited, "after": time.monotonic() - computed}


def _arguments_of_java() -> str:
    tree = [
        path for path in Path("/proc").glob("[0-9]*/stat") if f" {os.getpid()} " in path.read_text()
    ]
    return " ".join(
        (path.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode() for path in tree
    )


def _fails(frame: Any, path: str) -> str:
    try:
        frame.write.mode("overwrite").parquet(path)
    except PySparkException as failure:
        return str(failure)
    return ""


def _places(session: Any, uris: list[str]) -> dict[str, list[str]]:
    """Return the names that the listener's own classes give each location."""
    client = session._jvm.io.openlineage.client
    trimmers = client.dataset.DatasetConfig.defaultConfig().getDatasetNameTrimmers()
    named = {}
    for uri in uris:
        location = session._jvm.org.apache.hadoop.fs.Path(uri).toUri()
        place = client.utils.filesystem.FilesystemDatasetUtils.fromLocation(
            location
        ).withTrimmedName(trimmers)
        named[uri] = [place.getNamespace(), place.getName()]
    return named


def _refusals(session: Any, closed: str) -> dict[str, str]:
    """Return the errors of `cite` for invalid arguments and, when strict, for a closed port."""
    attempts: dict[str, dict[str, Any]] = {
        "no id": {"answer_id": " ", "from_": ["/x"]},
        "a text for a list": {"answer_id": "a", "from_": "/x"},
        "nothing cited": {"answer_id": "a", "from_": []},
        "no such table": {"answer_id": "a", "from_": ["no_such_table"]},
        "rows of the program": {"answer_id": "a", "from_": [session.range(3)]},
        "half a name": {"answer_id": "a", "from_": [{"namespace": "file"}]},
        "a number": {"answer_id": "a", "from_": [7]},
        "strict": {"answer_id": "a", "from_": ["/x"], "url": closed, "strict": True},
    }
    said = {}
    for name, arguments in attempts.items():
        try:
            cite(session, **arguments)
        except HeadwaterError as refusal:
            said[name] = f"{type(refusal).__name__}: {refusal}"
    return said


def full(url: str, folder: Path, closed: str, *uris: str) -> dict[str, Any]:
    """Run writes of several kinds, queries that fail early and late, and cite each kind of
    source.
    """
    builder = configure(plain(folder), url=url, api_key=API_KEY, namespace="tests")
    session = builder.getOrCreate()
    session.range(10).write.parquet(str(folder / "plain"))
    session.range(10).write.parquet(str(folder / "daily" / "dt=2024-01-31"))
    session.range(10).write.option("path", str(folder / "a table")).saveAsTable("counted")
    boom = fn.when(fn.col("id") == 9, fn.raise_error(fn.lit("a row no one wants"))).otherwise(
        fn.lit(1)
    )
    rows = session.range(10)
    errors = [
        _fails(rows.withColumn("early", boom), str(folder / "fails_early")),
        _fails(rows.groupBy("id").count().withColumn("late", boom), str(folder / "fails_late")),
    ]
    plain_frame = session.read.parquet(str(folder / "plain")).where("id > 3").cache()
    sources: list[Any] = [
        str(folder / "plain"),
        folder / "daily" / "dt=2024-01-31",
        "counted",
        plain_frame,
    ]
    cited = cite(
        session,
        answer_id="full",
        content="42",
        from_=[*sources, {"answerId": "other"}],
        strict=True,
    )
    facts = {
        "errors": errors,
        "cited": cited,
        "java": _arguments_of_java(),
        "refused": _refusals(session, closed),
        "places": _places(session, list(uris)),
        "redacted": session.sparkContext.getConf().get("spark.redaction.regex"),
    }
    session.stop()
    return facts


def late(url: str, folder: Path) -> dict[str, Any]:
    """Configure in a running JVM, which cannot load the listener: the job still runs, and logs a
    warning.
    """
    plain(folder).getOrCreate().stop()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session = configure(plain(folder), url=url).getOrCreate()
    count = session.range(5).count()
    listeners = session.sparkContext.getConf().get(LISTENERS, "")
    session.stop()
    return {
        "count": count,
        "listeners": listeners,
        "warnings": [str(one.message) for one in caught],
    }


def joins(url: str, folder: Path) -> dict[str, Any]:
    """Report failures in a session that others set up, without the jar of Headwater."""
    builder = plain(folder)
    for key, value in spark_conf(url).items():
        if key != JARS:
            builder = builder.config(key, LISTENER_CLASS if key == LISTENERS else value)
    session = builder.getOrCreate()
    session.range(10).write.parquet(str(folder / "plain"))
    installed = [report_failures(session), report_failures(session)]
    error = ""
    try:
        session.range(10).write.parquet(str(folder / "plain"))
    except PySparkException as refusal:
        error = str(refusal)
    session.stop()
    return {"installed": installed, "error": error}


def merges(url: str, folder: Path) -> dict[str, Any]:
    """Merge the settings of the job's builder with the added ones."""
    builder = plain(folder).config(LISTENERS, "org.apache.spark.scheduler.StatsReportListener")
    session = configure(builder, url=url).config("spark.app.name", "renamed").getOrCreate()
    conf = session.sparkContext.getConf()
    facts = {
        "listeners": conf.get(LISTENERS),
        "packages": conf.get(PACKAGES),
        "app": conf.get("spark.app.name"),
    }
    session.stop()
    return facts


def returns(url: str, folder: Path) -> dict[str, Any]:
    """Run a session in which a server starts to listen only later."""
    session = configure(plain(folder), url=url).getOrCreate()
    for name in ("before", "away"):
        session.range(10).write.parquet(str(folder / name))
    # The listener runs concurrently. It must have handled these writes before the server listens.
    context: Any = session.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty(60_000)
    with recorder(201, port=int(url.rpartition(":")[2])) as server:
        session.range(10).write.parquet(str(folder / "back"))
        session.stop()
    return {"events": server.events}


PROGRAMS: dict[str, Any] = {
    "small": small,
    "full": full,
    "late": late,
    "joins": joins,
    "merges": merges,
    "returns": returns,
}

if __name__ == "__main__":
    name, where, home, *rest = sys.argv[1:]
    print(json.dumps(PROGRAMS[name](where, Path(home), *rest)), flush=True)
