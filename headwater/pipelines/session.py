"""The Spark session of the pipelines: this machine's cores, unless Spark was started by somebody else.

Under spark-submit, in a notebook or on a platform that has made a session already, master and memory are theirs to
choose. What must hold for the pipelines to be right (times in UTC) is set on either.
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

# No web UI, loopback only, nothing but errors on the terminal (`log4j2.properties`): the progress shown there is ours.
LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "16",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
ALWAYS = {"spark.sql.session.timeZone": "UTC"}
# By these Spark, or whoever started it, says that it is not for us to say where it runs.
STARTED = ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS")


@contextmanager
def spark_session(
    name: str, *, master: str = "local[*]", settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """A session for one pipeline: the one that is active, else one on `master`, or where spark-submit says.

    `settings` are Spark's, and win over those here. It is stopped at the end, also by Ctrl-C, unless it was there
    before. Raises JavaError when Spark does not start.
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
        # The workers of a local Spark are this very Python.
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
            f"Spark did not start: {error}", hint="It needs Java 17 or 21: `headwater doctor`."
        ) from error
    try:
        yield session
    finally:
        session.stop()


def _of_sql(settings: Mapping[str, str]) -> dict[str, str]:
    """Those that can be set on a session that runs."""
    return {name: value for name, value in settings.items() if name.startswith("spark.sql.")}
