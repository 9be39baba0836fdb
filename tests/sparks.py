"""The Spark of the tests: small and quick to start; it leaves nothing for other test files."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from headwater.pipelines import session
from headwater.pipelines.session import spark_session

# A JVM that lives for half a minute mostly compiles, so the quick compiler is enough.
QUICK_JAVA = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
# For a few rows, generating code takes longer than reading them.
SMALL = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@contextmanager
def small() -> Iterator[None]:
    """Make all sessions of `headwater.pipelines.session` small in this block.

    Spark's own Python leaves sockets to the garbage collector. They are collected at the end of the
    block without warnings; in a later test, a warning would be an error.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name, value in QUICK_JAVA.items():
            patch.setenv(name, value)
        for name, value in SMALL.items():
            patch.setitem(session.LOCAL, name, value)
        yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def end_java() -> None:
    """End the JVM of earlier sessions of this process: it would not load further jars."""
    gateway = SparkContext._gateway
    if gateway is None:
        return
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None


@contextmanager
def small_spark(settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """Yield one session for the tests of a file."""
    if "spark.jars" in (settings or {}):
        end_java()
    with small(), spark_session("tests", master="local[2]", settings=settings) as spark:
        yield spark
