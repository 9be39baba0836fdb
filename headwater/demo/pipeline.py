"""The driver program of the demo: `python -m headwater.demo.pipeline --url URL --home DIR`.

The program runs two Spark applications in one process. `nyc_flights` turns five raw CSV files into
cleaned Parquet, one wide join, four marts and three cited answers. `december_refresh` then adds
December to a mart that other jobs read. It meets an implausible delay and fails half-way through
its write, on purpose. The exit status is 0 if all of that happened, and 1 if the refresh did not
fail or an answer was not recorded.
"""

from __future__ import annotations

import argparse
import calendar
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.types import StructType

from headwater.credentials import parse_token
from headwater.demo import catalog_metadata, data, flights
from headwater.spark_hooks import cite, configure

NAMESPACE = "flights"
FLIGHTS_MIN = 100

# No web UI, loopback only, few and small partitions: for 336,776 rows and two cores. Such a short
# program ends before the optimising compiler pays off; without it, it needs half the CPU time.
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "1g",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@dataclass(frozen=True)
class Target:
    """The Headwater server that receives the lineage."""

    url: str
    api_key: str | None = None


@dataclass
class Lake:
    """A folder of Parquet datasets, with their schemas."""

    spark: SparkSession
    root: Path
    schemas: dict[str, StructType] = field(default_factory=dict)

    def path(self, name: str) -> str:
        return str(self.root / name)

    def write(self, name: str, frame: DataFrame, mode: str = "overwrite") -> DataFrame:
        started = time.monotonic()
        frame.write.mode(mode).parquet(self.path(name))
        print(f"  wrote {name} in {time.monotonic() - started:.1f} s", flush=True)
        self.schemas[name] = frame.schema
        return self.read(name)

    def read(self, name: str) -> DataFrame:
        # With the schema given, Spark starts no job just to read a file's footer.
        return self.spark.read.schema(self.schemas[name]).parquet(self.path(name))


@contextmanager
def _stderr_in(log: Path) -> Iterator[None]:
    """Redirect stderr to a file. A JVM started in between stays redirected; Python does not."""
    original = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(original, 2)
        os.close(original)


def _session(app: str, target: Target, log: Path) -> SparkSession:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").appName(app)
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    with _stderr_in(log):
        return configure(
            builder, url=target.url, api_key=target.api_key, namespace=NAMESPACE
        ).getOrCreate()


def clean(lake: Lake, raw: dict[str, Path]) -> dict[str, DataFrame]:
    cleaned = {}
    for table, folder in raw.items():
        reader = lake.spark.read.schema(flights.SCHEMAS[table])
        frame = reader.csv(str(folder), header=True, nullValue=flights.MISSING)
        cleaned[table] = lake.write(f"clean/{table}", flights.CLEAN[table](frame))
    return cleaned


def build_marts(lake: Lake, cleaned: dict[str, DataFrame]) -> None:
    wide = flights.with_weather_and_planes(
        cleaned["flights"], cleaned["weather"], cleaned["planes"]
    )
    joined = lake.write("joined/flights", wide)
    lake.write("marts/carrier_delays", flights.carrier_delays(joined, cleaned["airlines"]))
    lake.write("marts/weather_delays", flights.weather_delays(joined))
    to_november = joined.where(fn.col("month") < 12)
    punctuality = flights.airport_punctuality(to_november, cleaned["airports"])
    ranking = flights.airport_ranking(lake.write("marts/airport_punctuality", punctuality))
    lake.write("marts/airport_ranking", ranking)


def _first(frame: DataFrame) -> Row:
    row = frame.first()
    if row is None:
        raise SystemExit("the mart is empty, so the answer has no source")
    return row


def worst_carrier(marts: DataFrame) -> str:
    row = _first(marts.orderBy(fn.desc("median_arr_delay"), "carrier"))
    return (
        "The carrier with the worst median arrival delay in 2013 was "
        f"{row['airline']} ({row['carrier']}): "
        f"{row['median_arr_delay']:g} minutes over {row['flights']:,} flights."
    )


def worst_sky(marts: DataFrame) -> str:
    classified = marts.where((fn.col("sky") != "unknown") & (fn.col("flights") >= FLIGHTS_MIN))
    row = _first(classified.orderBy(fn.desc("mean_dep_delay"), "month"))
    return (
        f"The worst skies of 2013 were {row['sky']} in {calendar.month_name[row['month']]}: "
        f"departures were {row['mean_dep_delay']:.0f} minutes late on average."
    )


def least_punctual_airport(marts: DataFrame) -> str:
    row = _first(marts.where(fn.col("flights") >= FLIGHTS_MIN).orderBy("on_time_share", "dest"))
    return (
        "The least punctual destination from January to November 2013 was "
        f"{row['airport']} ({row['dest']}): "
        f"{row['on_time_share']:.0%} of its flights arrived on time."
    )


ANSWERS: dict[str, tuple[str, str, Callable[[DataFrame], str]]] = {
    "worst-carrier-2013": ("report", "marts/carrier_delays", worst_carrier),
    "worst-weather-2013": ("dashboard", "marts/weather_delays", worst_sky),
    "least-punctual-airport-2013": ("report", "marts/airport_ranking", least_punctual_airport),
}


def answer(lake: Lake) -> bool:
    """Write and cite every answer; return True if Headwater recorded all."""
    recorded = True
    for answer_id, (kind, mart, write) in ANSWERS.items():
        content = write(lake.read(mart))
        recorded &= cite(
            lake.spark, answer_id=answer_id, type=kind, content=content, from_=[lake.path(mart)]
        )
        print(f"  answer {answer_id}: {content}", flush=True)
    return recorded


def refresh(lake: Lake) -> bool:
    """Add December to the mart that ends in November; return True if the check stopped it."""
    december = flights.december_refresh(lake.read("joined/flights"), lake.read("clean/airports"))
    try:
        lake.write("marts/airport_punctuality", december, mode="append")
    except PySparkException as failure:
        print(f"  failed, as it should: {str(failure).splitlines()[0]}", flush=True)
        return True
    print("  the refresh did not fail, though it should have", flush=True)
    return False


def run(target: Target, home: Path) -> bool:
    print("unpacking the raw files", flush=True)
    raw = data.unpack_tables(home / "raw")
    log = home / "spark.log"
    print(f"nyc_flights: five CSV files to four marts (Spark's log: {log})", flush=True)
    lake = Lake(_session("nyc_flights", target, log), home)
    build_marts(lake, clean(lake, raw))
    recorded = answer(lake)
    # `stop` waits until the listener has sent its last events.
    lake.spark.stop()
    print("december_refresh: one more month for marts/airport_punctuality", flush=True)
    lake.spark = _session("december_refresh", target, log)
    stopped = refresh(lake)
    lake.spark.stop()
    catalog_metadata.send_metadata(target.url, target.api_key, home)
    return recorded and stopped


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Run the flights pipeline with its lineage sent to Headwater."
    )
    parser.add_argument(
        "--url", required=True, help="where Headwater listens, e.g. http://127.0.0.1:8000"
    )
    parser.add_argument(
        "--home", required=True, type=Path, help="folder for the raw files and the datasets"
    )
    arguments = parser.parse_args()
    # The key comes from the environment: every user of the machine can read process arguments.
    target = Target(arguments.url, parse_token(os.environ.get("HEADWATER_API_KEY", "")))
    return 0 if run(target, arguments.home.resolve()) else 1


if __name__ == "__main__":
    sys.exit(main())
