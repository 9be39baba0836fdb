"""Report the failures that the OpenLineage listener misses.

The listener reports a query as COMPLETE when any of its Spark jobs but the first fails. With
adaptive execution every shuffle starts a new job, so most real failures would look like successes.
`FailureListener.java` beside this file corrects that. The driver's own JVM compiles it, with the
compiler that Spark uses for its queries. It also stops the listener from building events while
nothing listens at Headwater's address. With another Spark, another listener, or Spark Connect,
nothing changes and a log line states the reason.
"""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger("headwater")
_compilations: list[threading.Thread] = []


@lru_cache(maxsize=1)
def _failure_listener(gateway: Any) -> Any:
    """Compile the Java class in this JVM, once: a second copy would report every failure twice."""
    source = (
        resources.files("headwater.spark_hooks").joinpath("FailureListener.java").read_text("utf-8")
    )
    java = gateway.jvm
    compiler = java.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(java.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(source)
    return compiler.getClassLoader().loadClass("headwater.FailureListener")


def compile_in_background(gateway: Any) -> None:
    """Compile in the background while Spark starts; `report_failures` waits for it."""
    thread = threading.Thread(
        target=_compile_quietly, args=(gateway,), name="headwater-compile", daemon=True
    )
    _compilations.append(thread)
    thread.start()


def _compile_quietly(gateway: Any) -> None:
    # `report_failures` compiles again and reports the error.
    with suppress(Exception):
        _failure_listener(gateway)


def _install(spark: SparkSession) -> str:
    context: Any = spark.sparkContext
    gateway = context._gateway
    scala_context = context._jsc.sc()
    types = gateway.new_array(gateway.jvm.java.lang.Class, 1)
    types[0] = scala_context.getClass()
    arguments = gateway.new_array(gateway.jvm.java.lang.Object, 1)
    arguments[0] = scala_context
    return str(_failure_listener(gateway).getMethod("install", types).invoke(None, arguments))


def report_failures(spark: SparkSession) -> bool:
    """Report every query that fails in this session as failed, from now on.

    `configure` calls it. Call it for a session whose settings came from spark-submit flags.

    Args:
        spark: A running session.

    Returns:
        False if this Spark does not support it; a log line then states the reason.
    """
    while _compilations:
        _compilations.pop().join()
    try:
        problem = _install(spark)
    except Exception as fault:  # an error of Spark or its JVM must not stop the job
        lines = str(fault).strip().splitlines()
        problem = lines[0] if lines else type(fault).__name__
    if problem:
        _log.warning("failure_listener_not_installed reason=%s", problem)
    return not problem
