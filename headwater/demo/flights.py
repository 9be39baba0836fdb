"""The transformations of the demo: cleaning, one wide join, and four marts. Frames in, frames out.

They read nothing, write nothing and need no session, so each can be tested on a few rows. Delays
are in minutes, negative for an early flight. Delays are compared by their median: one flight that
came 21 hours late must not decide which carrier is the worst.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

# The raw files write NA for a missing value. With explicit schemas Spark need not infer them from
# the data.
MISSING = "NA"
SCHEMAS = {
    "airlines": "carrier string, name string",
    "airports": (
        "faa string, name string, lat double, lon double, alt int, tz int, dst string, tzone string"
    ),
    "flights": (
        "year int, month int, day int, dep_time int, sched_dep_time int, dep_delay int,"
        " arr_time int, sched_arr_time int, arr_delay int, carrier string, flight int,"
        " tailnum string, origin string, dest string, air_time int, distance int, hour int,"
        " minute int, time_hour timestamp"
    ),
    "planes": (
        "tailnum string, year int, type string, manufacturer string, model string,"
        " engines int, seats int, speed int, engine string"
    ),
    "weather": (
        "origin string, year int, month int, day int, hour int, temp double, dewp double,"
        " humid double, wind_dir int, wind_speed double, wind_gust double, precip double,"
        " pressure double, visib double, time_hour timestamp"
    ),
}
ON_TIME_MINUTES = 15
# The December refresh has a stricter check: it rejects a longer delay as a data error.
PLAUSIBLE_MINUTES = 840


def clean_airlines(raw: DataFrame) -> DataFrame:
    return raw.select("carrier", fn.trim("name").alias("airline"))


def clean_airports(raw: DataFrame) -> DataFrame:
    return raw.select("faa", fn.trim("name").alias("airport"), "lat", "lon", "tzone")


def clean_flights(raw: DataFrame) -> DataFrame:
    """Return one row per flight; `cancelled` is true if it never departed."""
    return raw.select(
        "month",
        "day",
        "carrier",
        "flight",
        "tailnum",
        "origin",
        "dest",
        "dep_delay",
        "arr_delay",
        "distance",
        "time_hour",
        fn.col("dep_time").isNull().alias("cancelled"),
    )


def clean_planes(raw: DataFrame) -> DataFrame:
    return raw.select("tailnum", fn.col("year").alias("built"), "manufacturer", "model", "seats")


def clean_weather(raw: DataFrame) -> DataFrame:
    """Return one row per airport and hour; the hour repeated in autumn stays once."""
    return raw.select(
        "origin", "time_hour", "temp", "wind_speed", "precip", "visib"
    ).dropDuplicates(["origin", "time_hour"])


CLEAN = {
    "airlines": clean_airlines,
    "airports": clean_airports,
    "flights": clean_flights,
    "planes": clean_planes,
    "weather": clean_weather,
}


def with_weather_and_planes(flights: DataFrame, weather: DataFrame, planes: DataFrame) -> DataFrame:
    """Return every flight with the weather at its origin and hour, and its plane, where known."""
    return flights.join(weather, ["origin", "time_hour"], "left").join(planes, "tailnum", "left")


def carrier_delays(joined: DataFrame, airlines: DataFrame) -> DataFrame:
    arrived = joined.where(fn.col("arr_delay").isNotNull())
    return (
        arrived.join(airlines, "carrier")
        .groupBy("carrier", "airline")
        .agg(
            fn.count("*").alias("flights"),
            fn.median("arr_delay").alias("median_arr_delay"),
            fn.median("dep_delay").alias("median_dep_delay"),
        )
    )


def weather_delays(joined: DataFrame) -> DataFrame:
    sky = (
        fn.when(fn.col("precip") > 0, "rain or snow")
        .when(fn.col("wind_speed") >= 20, "strong wind")
        .when(fn.col("precip").isNull(), "unknown")
        .otherwise("fair")
    )
    return (
        joined.where(fn.col("dep_delay").isNotNull())
        .groupBy("month", sky.alias("sky"))
        .agg(
            fn.count("*").alias("flights"),
            fn.median("dep_delay").alias("median_dep_delay"),
            fn.avg("dep_delay").alias("mean_dep_delay"),
        )
    )


def airport_punctuality(joined: DataFrame, airports: DataFrame) -> DataFrame:
    arrived = joined.where(fn.col("arr_delay").isNotNull())
    on_time = (fn.col("arr_delay") < ON_TIME_MINUTES).cast("int")
    return (
        arrived.join(airports, fn.col("dest") == fn.col("faa"))
        .groupBy("dest", "airport", "month")
        .agg(
            fn.count("*").alias("flights"),
            fn.sum(on_time).alias("on_time"),
            fn.max("arr_delay").alias("worst_arr_delay"),
        )
    )


def airport_ranking(punctuality: DataFrame) -> DataFrame:
    flights, on_time = fn.sum("flights"), fn.sum("on_time")
    return punctuality.groupBy("dest", "airport").agg(
        flights.alias("flights"), (on_time / flights).alias("on_time_share")
    )


def plausible(delay: Column) -> Column:
    """Return the delay; make the Spark job fail on an implausible one."""
    message = fn.concat(
        fn.lit("implausible arrival delay: "), delay.cast("string"), fn.lit(" minutes")
    )
    return fn.when(delay > PLAUSIBLE_MINUTES, fn.raise_error(message).cast("int")).otherwise(delay)


def december_refresh(joined: DataFrame, airports: DataFrame) -> DataFrame:
    """Return December's rows of `airport_punctuality`, in four parts ordered by the worst delay.

    The valid parts are therefore written before the check stops the last one.
    """
    december = airport_punctuality(joined.where(fn.col("month") == 12), airports)
    ranges = december.repartitionByRange(4, "worst_arr_delay")
    return ranges.withColumn("worst_arr_delay", plausible(fn.col("worst_arr_delay")))
