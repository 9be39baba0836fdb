"""The driver program of a story's Spark.

    python -m headwater.scenarios.spark_program URL NAMESPACE

Each line on standard input is an application as JSON. The program runs it with the OpenLineage
listener, and answers with a line. An application that fails ends the program with its exception, as
a driver under spark-submit does. So the listener reports it as failed.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from headwater.scenarios.spark_driver import DONE
from headwater.spark_hooks import configure

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# For a few rows on two cores: no web UI, loopback only, one partition, no generated code. Plans are
# fixed, so that a query has the same name each night.
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "512m",
    "spark.default.parallelism": "1",
    "spark.log.level": "ERROR",
    # The story needs each event, however slow the machine is.
    "spark.scheduler.listenerbus.exitTimeout": "120s",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_TRANSPORT_TIMEOUT = ("spark.openlineage.transport.timeoutInMillis", "60000")
# A reader that names other columns than the file fails, and does not take them by position.
OPTIONS = {"csv": {"header": "true", "enforceSchema": "false"}, "json": {}}


def main(url: str, namespace: str) -> None:
    """Run the applications of standard input until it ends."""
    for line in sys.stdin:
        run(json.loads(line), url, namespace)
        print(DONE, flush=True)


def run(application: dict[str, Any], url: str, namespace: str) -> None:
    """Run one application: read its inputs, and write what its function returns."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName(application["name"])
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = (
        configure(builder, url=url, namespace=namespace).config(*_TRANSPORT_TIMEOUT).getOrCreate()
    )
    try:
        module, _, name = application["function"].partition(":")
        function = getattr(import_module(module), name)
        frames = [_read(session, one) for one in application["inputs"]]
        output = application["output"]
        kind = output["format"]
        writer = function(*frames).write.mode("overwrite").options(**OPTIONS[kind])
        writer.format(kind).save(output["path"])
    finally:
        # Waits until the listener has sent its last events.
        session.stop()


def _read(session: SparkSession, table: dict[str, str]) -> DataFrame:
    reader = session.read.schema(table["schema"]).options(**OPTIONS[table["format"]])
    return reader.format(table["format"]).load(table["path"])


if __name__ == "__main__":
    main(*sys.argv[1:])
