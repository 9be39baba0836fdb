"""The demo's transformations on a few rows, as a program of its own that prints the rows as
JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from headwater.demo import flights, pipeline

Rows = list[dict[str, Any]]
HOUR, LATER = datetime(2013, 1, 1, 10), datetime(2013, 1, 1, 11)


def _rows(frame: DataFrame) -> Rows:
    return [row.asDict() for row in frame.collect()]


def _arrivals(spark: SparkSession, delays: dict[str, list[int | None]]) -> DataFrame:
    rows = [(carrier, delay, delay) for carrier, each in delays.items() for delay in each]
    return spark.createDataFrame(rows, "carrier string, arr_delay int, dep_delay int")


def _airlines(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [("AA", "Alpha"), ("BB", "Beta"), ("CC", "Gamma")], "carrier string, airline string"
    )


def carrier_delays(spark: SparkSession) -> Rows:
    # Alpha: one flight 1,000 minutes late, median 2. Beta: median (4 + 6) / 2 = 5. Gamma: all
    # cancelled.
    delays: dict[str, list[int | None]] = {"AA": [1, 2, 1_000], "BB": [4, 6, None], "CC": [None]}
    return _rows(
        flights.carrier_delays(_arrivals(spark, delays), _airlines(spark)).orderBy("carrier")
    )


def worst_carrier(spark: SparkSession) -> Rows:
    delays: dict[str, list[int | None]] = {"AA": [1, 2, 1_000], "BB": [4, 6, None], "CC": [-3]}
    mart = flights.carrier_delays(_arrivals(spark, delays), _airlines(spark))
    return [{"sentence": pipeline.worst_carrier(mart)}]


def joined(spark: SparkSession) -> Rows:
    flown = spark.createDataFrame(
        [("N1", "EWR", HOUR), ("N2", "EWR", LATER), ("N3", "JFK", HOUR)],
        "tailnum string, origin string, time_hour timestamp",
    )
    weather = spark.createDataFrame(
        [("EWR", HOUR, 0.1)], "origin string, time_hour timestamp, precip double"
    )
    planes = spark.createDataFrame([("N1", 1999), ("N3", 2004)], "tailnum string, built int")
    frame = flights.with_weather_and_planes(flown, weather, planes)
    return _rows(frame.select("tailnum", "precip", "built").orderBy("tailnum"))


def weather_delays(spark: SparkSession) -> Rows:
    rows = [
        (1, 0.2, 5.0, 30),
        (1, 0.0, 25.0, 20),
        (1, 0.0, 5.0, 10),
        (1, None, None, 40),
        (1, 0.0, 5.0, None),
    ]
    frame = spark.createDataFrame(
        rows, "month int, precip double, wind_speed double, dep_delay int"
    )
    return _rows(
        flights.weather_delays(frame).select("sky", "flights", "median_dep_delay").orderBy("sky")
    )


def _december(spark: SparkSession, worst: int) -> DataFrame:
    rows = [(12, "MIA", 10), (12, "MIA", worst), (11, "MIA", 2_000), (12, "SLC", 20)]
    arrived = spark.createDataFrame(rows, "month int, dest string, arr_delay int")
    airports = spark.createDataFrame(
        [("MIA", "Miami"), ("SLC", "Salt Lake")], "faa string, airport string"
    )
    return flights.december_refresh(arrived, airports)


def december(spark: SparkSession) -> Rows:
    believed = flights.PLAUSIBLE_MINUTES
    return _rows(
        _december(spark, believed)
        .select("dest", "flights", "on_time", "worst_arr_delay")
        .orderBy("dest")
    )


def implausible(spark: SparkSession) -> Rows:
    try:
        _december(spark, flights.PLAUSIBLE_MINUTES + 1).collect()
    except PySparkException as failure:
        return [{"error": str(failure)}]
    return []


def ranking(spark: SparkSession) -> Rows:
    rows = [
        ("MIA", "Miami", 1, 100, 50),
        ("MIA", "Miami", 2, 100, 70),
        ("SLC", "Salt Lake", 1, 10, 9),
    ]
    mart = spark.createDataFrame(
        rows, "dest string, airport string, month int, flights int, on_time int"
    )
    return _rows(
        flights.airport_ranking(mart).select("dest", "flights", "on_time_share").orderBy("dest")
    )


def twice_an_hour(spark: SparkSession) -> Rows:
    raw = spark.createDataFrame(
        [("EWR", HOUR, 1.0, 2.0, 0.0, 10.0), ("EWR", HOUR, 3.0, 2.0, 0.0, 10.0)],
        (
            "origin string, time_hour timestamp, temp double, wind_speed double, precip double, "
            "visib double"
        ),
    )
    return [{"hours": flights.clean_weather(raw).count()}]


CASES: list[Callable[[SparkSession], Rows]] = [
    carrier_delays,
    worst_carrier,
    joined,
    weather_delays,
    december,
    implausible,
    ranking,
    twice_an_hour,
]

if __name__ == "__main__":
    builder = SparkSession.builder.master("local[2]").appName("small_frames")
    for key, value in pipeline.SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.config("spark.log.level", "FATAL").getOrCreate()
    Path(sys.argv[1]).write_text(json.dumps({case.__name__: case(session) for case in CASES}))
    session.stop()
