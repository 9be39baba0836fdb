"""The Spark session of the pipelines: local, unless Spark was started from outside.

Under spark-submit, in a notebook or on a platform with an active session, master and memory are
those of the platform. Settings that the pipelines need to be correct (times in UTC) are set in all
cases.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.errors import JavaError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# No web UI, loopback only, and only errors on the terminal (`log4j2.properties`), which shows the
# progress of the pipeline.
LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "16",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
ALWAYS = {"spark.sql.session.timeZone": "UTC"}
# These variables are set if Spark was started from outside.
STARTED = ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS")


@contextmanager
def spark_session(
    name: str, *, master: str = "local[*]", settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """Yield a session for one pipeline: the active one, else a new one on `master`.

    Under spark-submit its master applies instead. `settings` are Spark settings and override the
    defaults. A new session is stopped at the end, also after Ctrl-C. Raises JavaError if Spark does
    not start.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        for setting, value in {**ALWAYS, **_of_sql(settings or {})}.items():
            active.conf.set(setting, value)
        yield active
        return
    builder = SparkSession.builder.appName(f"headwater {name}")
    chosen = {**ALWAYS, **(settings or {})}
    if not any(variable in os.environ for variable in STARTED):
        # The workers of a local Spark run this Python.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", LOCAL["spark.driver.host"])
        log = Path(str(files("headwater.pipelines").joinpath("log4j2.properties"))).as_uri()
        chosen = {"spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log}", **chosen}
        builder = builder.master(master)
        chosen = {**LOCAL, **chosen}
    for setting, value in chosen.items():
        builder = builder.config(setting, value)
    try:
        session = builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise JavaError(
            f"Spark did not start: {error}",
            hint="Install Java 17 or 21; check with `headwater doctor`.",
        ) from error
    try:
        yield session
    finally:
        session.stop()


def _of_sql(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that can be changed in a running session."""
    return {name: value for name, value in settings.items() if name.startswith("spark.sql.")}
