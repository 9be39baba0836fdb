"""The Spark of the tests: small, quick to start, and nothing of it is left for the tests of
another file.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from pyspark.sql import SparkSession

from headwater.pipelines import session
from headwater.pipelines.session import spark_session

# A JVM that lives for half a minute spends most of it on compiling what it runs: the quick compiler
# alone will do.
QUICK_JAVA = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
# Plans over a few rows: making code of them takes longer than reading them.
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
    """Whatever is started here by `headwater.pipelines.session` is small.

    Spark's own Python leaves sockets to the garbage collector: they are collected at the end of
    this, where nobody is told, and not during some later test, for which a warning is an error.
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


@contextmanager
def small_spark(settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """One session for the tests of a file."""
    with small(), spark_session("tests", master="local[2]", settings=settings) as spark:
        yield spark
