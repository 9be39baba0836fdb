"""Make the failures heard that the OpenLineage listener passes over.

The listener reports a query as COMPLETE when any Spark job but its first fails, and with adaptive execution
every shuffle starts a new one: most real failures would look like successes. `FailureListener.java` beside this
file says how that is resolved. It is compiled in the driver's own JVM, by the compiler Spark uses for its queries.
It also keeps the listener from putting events together while nothing listens at Headwater's address.
Where it does not fit (another Spark, another listener, Spark Connect) nothing is changed and a log line says so.
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
_ahead: list[threading.Thread] = []


@lru_cache(maxsize=1)
def _compiled(gateway: Any) -> Any:
    """The Java class in this JVM. Compiled once: a second copy would report every failure twice."""
    source = (
        resources.files("headwater.spark_hooks").joinpath("FailureListener.java").read_text("utf-8")
    )
    java = gateway.jvm
    compiler = java.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(java.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(source)
    return compiler.getClassLoader().loadClass("headwater.FailureListener")


def compile_ahead(gateway: Any) -> None:
    """Compile in the background, while Spark starts: `report_failures` waits for it."""
    thread = threading.Thread(
        target=_compiled_first, args=(gateway,), name="headwater-compile", daemon=True
    )
    _ahead.append(thread)
    thread.start()


def _compiled_first(gateway: Any) -> None:
    # What goes wrong here goes wrong again where it is told.
    with suppress(Exception):
        _compiled(gateway)


def _install(spark: SparkSession) -> str:
    context: Any = spark.sparkContext
    gateway = context._gateway
    scala_context = context._jsc.sc()
    types = gateway.new_array(gateway.jvm.java.lang.Class, 1)
    types[0] = scala_context.getClass()
    arguments = gateway.new_array(gateway.jvm.java.lang.Object, 1)
    arguments[0] = scala_context
    return str(_compiled(gateway).getMethod("install", types).invoke(None, arguments))


def report_failures(spark: SparkSession) -> bool:
    """From now on every query that fails in this session is reported as failed; False when that can not be.

    `configure` does this by itself. Call it for a session whose settings came from spark-submit flags.
    """
    while _ahead:
        _ahead.pop().join()
    try:
        problem = _install(spark)
    except Exception as fault:  # whatever Spark or its JVM throws, the job goes on
        problem = str(fault).strip().splitlines()[0] if str(fault).strip() else type(fault).__name__
    if problem:
        _log.warning("some failures of this session may be reported as successes: %s", problem)
    return not problem
