"""Report the failures that the OpenLineage listener misses.

The listener reports a query as COMPLETE when any of its Spark jobs but the first fails. With
adaptive execution every shuffle starts a new job, so most real failures would look like successes.
It reports every application as COMPLETE, whatever its driver did. `java/` beside this file corrects
both, from a jar that `configure` and the flags of `spark-conf` name. With another Spark, another
listener, or Spark Connect, nothing changes and a log line states the reason.
"""

from __future__ import annotations

import logging
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from headwater.spark_hooks import listener
from headwater.spark_hooks.driver import watch_driver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger("headwater")
_DRIVER_CLASS = "headwater.spark.DriverFailure"


@lru_cache(maxsize=1)
def _class_loader(gateway: Any) -> Any:
    """Return a class loader of the JVM that has the failure listener."""
    java = gateway.jvm.java
    loader = java.lang.Thread.currentThread().getContextClassLoader()
    try:
        loader.loadClass(listener.FAILURE_LISTENER_CLASS)
    except Exception:  # py4j wraps ClassNotFoundException in a class of its own
        urls = gateway.new_array(java.net.URL, 1)
        urls[0] = java.io.File(str(listener.jar_path())).toURI().toURL()
        return java.net.URLClassLoader(urls, loader)
    return loader


def _call_static(gateway: Any, class_name: str, method: str, *arguments: Any) -> Any:
    """Call a static method whose parameters are strings or Java objects of their own class."""
    lang = gateway.jvm.java.lang
    types = gateway.new_array(lang.Class, len(arguments))
    values = gateway.new_array(lang.Object, len(arguments))
    for index, argument in enumerate(arguments):
        # py4j turns a Java string into one of Python, which has no class there.
        is_text = isinstance(argument, str)
        types[index] = lang.Class.forName("java.lang.String") if is_text else argument.getClass()
        values[index] = argument
    found = _class_loader(gateway).loadClass(class_name).getMethod(method, types)
    return found.invoke(None, values)


def report_failures(spark: SparkSession) -> bool:
    """Report queries and the driver of this session as failed, when they fail, from now on.

    `configure` calls it, and a job under spark-submit does not need it. Call it for a session that
    Python started with the settings of `spark-defaults.conf`.

    Args:
        spark: A running session.

    Returns:
        False if this Spark does not support it; a log line then states the reason.
    """
    try:
        context: Any = spark.sparkContext
        gateway = context._gateway
        problem = str(
            _call_static(gateway, listener.FAILURE_LISTENER_CLASS, "install", context._jsc.sc())
        )
        if not problem:
            watch_driver(partial(_call_static, gateway, _DRIVER_CLASS, "pythonFailed"))
    except Exception as fault:  # an error of Spark or its JVM must not stop the job
        lines = str(fault).strip().splitlines()
        problem = lines[0] if lines else type(fault).__name__
    if problem:
        _log.warning("failure_listener_not_installed reason=%s", problem)
    return not problem
