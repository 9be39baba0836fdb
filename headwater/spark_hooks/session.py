"""`configure`: a SparkSession builder that starts Spark with the OpenLineage listener.

The settings of the caller stay; packages and listeners are extended. The JVM gets the API key after
its start, because everyone on the machine can read the arguments of a process. A JVM that already
runs cannot load the listener: Spark then starts without it, with a warning.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from headwater.errors import SettingsError
from headwater.spark_hooks import listener
from headwater.spark_hooks.failures import report_failures

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
    """Return a builder of sessions that send their lineage to Headwater.

    Args:
        builder: `SparkSession.builder`, with any settings.
        url: Address of Headwater.
        api_key: API key, if it needs one.
        namespace: Namespace of the jobs; `default` if None.
        jar: Path of the listener, for a machine that cannot reach Maven.

    Returns:
        A builder; continue with `.config(...)` and `.getOrCreate()`.

    Raises:
        SettingsError: `builder` is no builder, or `url` is no http or https address.
    """
    present = getattr(builder, "_options", None)
    if present is None or not hasattr(builder, "getOrCreate"):
        raise SettingsError(
            "builder must be a SparkSession builder",
            hint="Call configure(SparkSession.builder, ...).",
        )
    conf = listener.spark_conf(url, api_key, namespace, jar=jar)
    if "spark.remote" in present or "SPARK_REMOTE" in os.environ:
        warnings.warn(
            "Spark Connect: configure the listener on the server (headwater spark-conf)",
            RuntimeWarning,
            2,
        )
        return builder
    return _listening(builder, listener.merged({**listener.defaults(), **present}, conf))


def _listening(builder: SparkSession.Builder, conf: dict[str, str]) -> SparkSession.Builder:
    # Imported here, so that the rest of this package works without pyspark.
    from pyspark.sql import SparkSession

    class ListeningBuilder(SparkSession.Builder):
        def getOrCreate(self) -> SparkSession:  # noqa: N802, pyspark's name
            missing = _start_java(self._options)
            if missing:
                _remove_listeners(self._options, missing)
            spark = super().getOrCreate()
            report_failures(spark)
            return spark

    listening = ListeningBuilder()
    listening._options = dict(builder._options)
    for key, value in conf.items():
        listening.config(key, value)
    return listening


def _java_options(options: dict[str, str]) -> dict[str, str]:
    """Return the options for a new JVM, with the listener where it loads fastest, if that is
    safe.
    """
    # This variable may name further jars, whose classes the listener may need.
    if os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell") != "pyspark-shell":
        return options
    if int(listener.running_spark()[0].split(".")[0]) < 4:
        return options
    defaults = listener.defaults()
    lists = {
        key: defaults[key]
        for key in (listener.JARS, listener.PACKAGES, listener.CLASS_PATH)
        if key in defaults
    }
    ivy = {key: defaults[key] for key in (listener.IVY_FOLDER,) if key in defaults}
    return listener.on_class_path({**ivy, **lists, **options})


def _start_java(options: dict[str, Any]) -> list[str]:
    """Start the JVM without the API key in its arguments. Return the listeners that a JVM that runs
    already cannot load.
    """
    from pyspark import SparkConf, SparkContext

    context: Any = SparkContext
    if context._gateway is None:
        public = SparkConf(loadDefaults=False)
        texts = {key: str(value) for key, value in options.items() if key != listener.API_KEY}
        public.setAll(list(_java_options(texts).items()))
        context._ensure_initialized(conf=public)
        return []
    loader = context._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    missing = []
    for name in (listener.FAILURE_LISTENER_CLASS, listener.LISTENER_CLASS):
        try:
            loader.loadClass(name)
        except Exception:  # py4j wraps ClassNotFoundException in a class of its own
            missing.append(name)
    if listener.LISTENER_CLASS in missing:
        warnings.warn(
            "Spark's JVM already runs without the OpenLineage listener;"
            " this session sends no lineage",
            RuntimeWarning,
            stacklevel=3,
        )
    return missing


def _remove_listeners(options: dict[str, Any], missing: list[str]) -> None:
    """Remove listeners from the options: Spark does not start with a class that is missing."""
    present = str(options.pop(listener.LISTENERS, "")).split(",")
    kept = [name for name in present if name not in missing]
    if kept and listener.LISTENER_CLASS not in missing:
        options[listener.LISTENERS] = ",".join(kept)
