"""`configure`: a SparkSession builder that starts Spark with the listener on.

What the caller set stays set; packages and listeners are added to. The API key is handed to the JVM after it
has started, because the arguments of a process can be read by everyone on the machine. A JVM that is already
running can not load the listener any more: then Spark starts without it, and a warning says so.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from headwater.errors import SettingsError
from headwater.spark_hooks import listener
from headwater.spark_hooks.failures import compile_ahead, report_failures

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def configure(
    builder: SparkSession.Builder,
    *,
    url: str,
    api_key: str | None = None,
    namespace: str | None = None,
    jar: str | None = None,
) -> SparkSession.Builder:
    """`builder` (from `SparkSession.builder`) with everything set that sends lineage to `url`.

    `namespace` is that of the jobs, "default" when left out; `jar` a path to the listener where Maven can not
    be reached. Returns a builder: go on with `.config(...)` and `.getOrCreate()`.
    """
    present = getattr(builder, "_options", None)
    if present is None or not hasattr(builder, "getOrCreate"):
        raise SettingsError(
            "configure() takes a SparkSession builder", hint="configure(SparkSession.builder, ...)"
        )
    conf = listener.spark_conf(url, api_key, namespace, jar=jar)
    if "spark.remote" in present or "SPARK_REMOTE" in os.environ:
        warnings.warn(
            "Spark Connect: set the listener where the server starts (headwater spark-conf)",
            RuntimeWarning,
            2,
        )
        return builder
    return _listening(builder, listener.merged({**listener.defaults(), **present}, conf))


def _listening(builder: SparkSession.Builder, conf: dict[str, str]) -> SparkSession.Builder:
    # pyspark is imported here, so that the rest of this package works where there is none.
    from pyspark.sql import SparkSession

    class ListeningBuilder(SparkSession.Builder):
        def getOrCreate(self) -> SparkSession:  # noqa: N802, pyspark's name
            if not _start_java(self._options):
                self._options.pop(listener.LISTENERS, None)
            spark = super().getOrCreate()
            report_failures(spark)
            return spark

    listening = ListeningBuilder()
    listening._options = dict(builder._options)
    for key, value in conf.items():
        listening.config(key, value)
    return listening


def _for_java(said: dict[str, str]) -> dict[str, str]:
    """What a new JVM is started with: as said, but with the listener where it costs least if nothing stands by it."""
    # Jars and class paths may also come from here; then nothing is known of what the listener must stand beside.
    if os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell") != "pyspark-shell":
        return said
    if int(listener.running_spark()[0].split(".")[0]) < 4:
        return said
    kept = listener.defaults()
    lists = {
        key: kept[key]
        for key in (listener.JARS, listener.PACKAGES, listener.CLASS_PATH)
        if key in kept
    }
    ivy = {key: kept[key] for key in (listener.IVY_FOLDER,) if key in kept}
    return listener.on_class_path({**ivy, **lists, **said})


def _start_java(options: dict[str, Any]) -> bool:
    """Start the JVM, keeping the API key from its arguments; False when one runs that lacks the listener."""
    from pyspark import SparkConf, SparkContext

    context: Any = SparkContext
    if context._gateway is None:
        public = SparkConf(loadDefaults=False)
        said = {key: str(value) for key, value in options.items() if key != listener.API_KEY}
        public.setAll(list(_for_java(said).items()))
        context._ensure_initialized(conf=public)
        compile_ahead(context._gateway)
        return True
    try:
        loader = context._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        loader.loadClass(listener.LISTENER_CLASS)
    except Exception:  # py4j wraps ClassNotFoundException in a class of its own
        warnings.warn(
            "Spark's JVM runs already without the OpenLineage listener: this session sends no lineage",
            RuntimeWarning,
            stacklevel=3,
        )
        return False
    return True
