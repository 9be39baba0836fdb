"""The Spark programs of a small shop: `python -m tests.producers.spark_shop NAME URL FOLDER`.

`batch` makes tables and files from landing files in every way that Spark has, with planned
failures; `stream` does the same by micro-batches; `appends` adds to files and tables, and then
overwrites them. The data can be counted by hand;
`tests/producers/test_spark.py` has the expected results. Every statement is a step. The last
printed line has the start and the error of each step.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from headwater.spark_hooks import configure

NAMESPACE = "shop"
LANDING = {
    "customers.csv": "id,name,email,ssn\n1,ada,ada@x.example,078-05-1120\n"
    "2,bob,bob@x.example,219-09-9999\n"
    "3,cyd,cyd@x.example,457-55-5462\n",
    "orders/first.csv": "id,customer,amount,day\n1,1,10,2026-01-01\n"
    "2,1,250,2026-01-01\n3,2,30,2026-01-02\n",
    "orders/second.csv": "id,customer,amount,day\n4,3,400,2026-01-02\n5,2,5,2026-01-02\n",
    "late_orders.csv": "id,customer,amount,day\n6,3,60,2026-01-03\n",
    "payments.json": '{"order":2,"method":"card"}\n'
    '{"order":4,"method":"cash"}\n{"order":5,"method":"card"}\n',
}
ORDERS = "id INT, customer INT, amount INT, day STRING"
BATCHES = 4


class Steps:
    """A runner of statements that records the start and the error of each."""

    def __init__(self) -> None:
        self.began: dict[str, float] = {}
        self.refused: dict[str, str] = {}
        self.notes: dict[str, Any] = {}

    def __call__(self, name: str, statement: Callable[[], Any]) -> Any:
        self.began[name] = time.time()
        try:
            return statement()
        except PySparkException as refusal:
            self.refused[name] = str(refusal).strip().splitlines()[0]
            return None


def session(url: str, folder: Path, app: str, settings: Mapping[str, str]) -> SparkSession:
    builder = (
        SparkSession.builder.master("local[2]")
        .appName(app)
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.ui.enabled", "false")
        # The recording must be complete; other tests bound the cost of the listener.
        .config("spark.scheduler.listenerbus.exitTimeout", "60s")
    )
    for key, value in settings.items():
        builder = builder.config(key, value)
    return configure(builder, url=url, namespace=NAMESPACE).getOrCreate()


def land(folder: Path) -> None:
    for name, text in LANDING.items():
        file = folder / "landing" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def batch(spark: SparkSession, folder: Path, step: Steps) -> None:
    land(folder)
    _files(spark, folder, step)
    _tables(spark, folder, step)
    _views(spark, folder, step)
    _partitions(spark, step)
    _changes_of_tables(spark, folder, step)
    _failures(spark, folder, step)
    _rdd(spark, folder, step)
    _cached(spark, folder, step)


def _read(spark: SparkSession, folder: Path, name: str, schema: str) -> DataFrame:
    return spark.read.csv(str(folder / "landing" / name), schema=schema, header=True)


def _files(spark: SparkSession, folder: Path, step: Steps) -> None:
    """Read and write csv, json and parquet, with masked and derived columns."""
    customers = _read(
        spark, folder, "customers.csv", "id INT, name STRING, email STRING, ssn STRING"
    ).select(
        "id",
        fn.upper("name").alias("name"),
        fn.sha2("email", 256).alias("email_hash"),
        fn.substring("ssn", -4, 4).alias("ssn_last4"),
    )
    step("csv to parquet", lambda: customers.write.parquet(str(folder / "clean" / "customers")))
    orders = _read(spark, folder, "orders", ORDERS)
    step("directory to parquet", lambda: orders.write.parquet(str(folder / "clean" / "orders")))
    first = _read(spark, folder, "orders/first.csv", ORDERS)
    step("file of it to json", lambda: first.write.json(str(folder / "clean" / "first_orders")))
    payments = spark.read.json(
        str(folder / "landing" / "payments.json"), schema="order INT, method STRING"
    )
    step("json to csv", lambda: payments.write.csv(str(folder / "clean" / "payments"), header=True))


def _tables(spark: SparkSession, folder: Path, step: Steps) -> None:
    step("create database", lambda: spark.sql("CREATE DATABASE shop"))
    customers, orders = (
        spark.read.parquet(str(folder / "clean" / name)) for name in ("customers", "orders")
    )
    step("saveAsTable", lambda: customers.write.saveAsTable("shop.customers"))
    step("saveAsTable orders", lambda: orders.write.saveAsTable("shop.orders"))
    late = _read(spark, folder, "late_orders.csv", ORDERS)
    step("insertInto", lambda: late.write.insertInto("shop.orders"))


def _views(spark: SparkSession, folder: Path, step: Steps) -> None:
    step(
        "create view",
        lambda: spark.sql(
            "CREATE VIEW shop.big_orders AS SELECT id, customer, amount FROM shop.orders "
            "WHERE amount > 50"
        ),
    )
    payments = spark.read.csv(
        str(folder / "clean" / "payments"), schema="order INT, method STRING", header=True
    )
    step("temp view", lambda: payments.createOrReplaceTempView("paid"))
    step(
        "ctas",
        lambda: spark.sql(
            "CREATE TABLE shop.order_lines USING parquet AS SELECT o.id, o.amount * 100 AS "
            "cents, c.email_hash,"
            " c.ssn_last4, p.method FROM shop.big_orders o JOIN shop.customers c ON "
            "o.customer = c.id"
            " LEFT JOIN paid p ON p.order = o.id"
        ),
    )


def _partitions(spark: SparkSession, step: Steps) -> None:
    step(
        "create partitioned",
        lambda: spark.sql(
            "CREATE TABLE shop.daily (customer INT, total BIGINT, day STRING) USING parquet "
            "PARTITIONED BY (day)"
        ),
    )
    sums = "SELECT customer, sum(amount) AS total"
    step(
        "insert overwrite dynamic",
        lambda: spark.sql(
            f"INSERT OVERWRITE shop.daily PARTITION (day) {sums}, day FROM shop.orders "
            f"GROUP BY customer, day"
        ),
    )
    step(
        "insert overwrite static",
        lambda: spark.sql(
            "INSERT OVERWRITE shop.daily PARTITION (day = '2026-01-02')"
            f" {sums} FROM shop.orders WHERE day = '2026-01-02' GROUP BY customer"
        ),
    )


def _changes_of_tables(spark: SparkSession, folder: Path, step: Steps) -> None:
    step("add column", lambda: spark.sql("ALTER TABLE shop.order_lines ADD COLUMNS (note STRING)"))
    step("rename", lambda: spark.sql("ALTER TABLE shop.order_lines RENAME TO shop.sold_lines"))
    sold = step(
        "read renamed",
        lambda: (
            spark.table("shop.sold_lines").groupBy("email_hash").agg(fn.sum("cents").alias("cents"))
        ),
    )
    step("mart", lambda: sold.write.parquet(str(folder / "marts" / "by_customer")))
    step(
        "scratch",
        lambda: spark.sql(
            "CREATE TABLE shop.scratch USING parquet AS SELECT id FROM shop.customers"
        ),
    )
    step("truncate", lambda: spark.sql("TRUNCATE TABLE shop.scratch"))
    step("drop", lambda: spark.sql("DROP TABLE shop.scratch"))
    step("drop of none", lambda: spark.sql("DROP TABLE IF EXISTS shop.never_there"))
    step("drop view", lambda: spark.sql("DROP VIEW shop.big_orders"))


def _failures(spark: SparkSession, folder: Path, step: Steps) -> None:
    @fn.udf("int")
    def checked(amount: int) -> int:
        if amount > 300:
            raise ValueError(f"implausible amount: {amount}")
        return amount

    orders = spark.table("shop.orders")
    audited = orders.select("id", checked("amount").alias("amount"))
    step("failing udf", lambda: audited.write.parquet(str(folder / "marts" / "audited")))
    step(
        "refused",
        lambda: orders.write.mode("errorifexists").parquet(str(folder / "marts" / "by_customer")),
    )


def _lengths(lines: Iterable[str]) -> Iterator[str]:
    yield from (str(len(line)) for line in lines)


def _rdd(spark: SparkSession, folder: Path, step: Steps) -> None:
    context = spark.sparkContext
    step(
        "rdd collect", lambda: context.parallelize(["a", "bc"], 2).mapPartitions(_lengths).collect()
    )
    lines = context.textFile(str(folder / "landing" / "late_orders.csv")).mapPartitions(_lengths)
    step("rdd save", lambda: lines.saveAsTextFile(str(folder / "clean" / "lengths")))


def _cached(spark: SparkSession, folder: Path, step: Steps) -> None:
    large_orders = (
        spark.read.parquet(str(folder / "clean" / "orders")).where("amount >= 30").cache()
    )
    step("count cached", lambda: large_orders.count())
    step("cached", lambda: large_orders.write.parquet(str(folder / "marts" / "larger")))
    step(
        "cached again",
        lambda: large_orders.select("id").write.json(str(folder / "marts" / "larger_ids")),
    )
    large_orders.unpersist()


def stream(spark: SparkSession, folder: Path, step: Steps) -> None:
    """Stream four files by foreachBatch and into a file sink; stop an endless source."""
    waiting = folder / "landing" / "arriving"
    waiting.mkdir(parents=True)
    for number in range(BATCHES):
        (waiting / f"{number}.csv").write_text(f"{number},{number * 10}\n")
    arriving = spark.readStream.option("maxFilesPerTrigger", 1).csv(
        str(waiting), schema="id INT, amount INT"
    )

    def keep(rows: DataFrame, number: int) -> None:
        rows.withColumn("batch", fn.lit(number)).write.mode("append").parquet(
            str(folder / "clean" / "kept")
        )

    step(
        "foreachBatch", lambda: _to_its_end(arriving.writeStream.foreachBatch(keep), folder, "kept")
    )
    sink = arriving.writeStream.format("parquet").option("path", str(folder / "clean" / "arrived"))
    step("file sink", lambda: _to_its_end(sink, folder, "arrived"))
    step("read of sink", lambda: _daily(spark, folder))
    rate = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    ticks = rate.writeStream.format("json").option("path", str(folder / "clean" / "ticks"))
    step("rate", lambda: _stopped(ticks, folder, "ticks"))


def _to_its_end(writer: Any, folder: Path, name: str) -> None:
    query = writer.option("checkpointLocation", str(folder / "checkpoints" / name))
    query.queryName(name).trigger(availableNow=True).start().awaitTermination()


def _daily(spark: SparkSession, folder: Path) -> None:
    arrived = spark.read.parquet(str(folder / "clean" / "arrived"))
    arrived.agg(fn.sum("amount").alias("total")).write.parquet(
        str(folder / "marts" / "total_arrived")
    )


def _stopped(writer: Any, folder: Path, name: str) -> None:
    """Stop the query between two batches: a batch that is cut off does not complete."""
    query = (
        writer.option("checkpointLocation", str(folder / "checkpoints" / name))
        .queryName(name)
        .trigger(processingTime="3 seconds")
        .start()
    )
    while query.isActive and (len(query.recentProgress) < 3 or query.status["isTriggerActive"]):
        time.sleep(0.1)
    query.stop()


def appends(spark: SparkSession, folder: Path, step: Steps) -> None:
    """Add two landing files to a folder and to a table, report each time, then overwrite both.

    Partitions of a third table are overwritten one by one.
    """
    land(folder)
    spark.sql(f"CREATE DATABASE shop LOCATION '{folder / 'warehouse' / 'shop.db'}'")
    sources = ("orders/first.csv", "late_orders.csv", "late_orders.csv")
    for day, source in enumerate(sources, start=1):
        orders = _read(spark, folder, source, ORDERS)
        writer = orders.write.mode("overwrite" if day > 2 else "append")
        step(f"files_{day}", partial(writer.parquet, f"{folder}/kept"))
        step(f"table_{day}", partial(writer.saveAsTable, "shop.kept"))
        places = {
            "files": spark.read.parquet(f"{folder}/kept"),
            "table": spark.table("shop.kept"),
        }
        for kind, kept in places.items():
            report = kept.agg(fn.sum("amount").alias("total")).write
            step(f"report_{kind}_{day}", partial(report.parquet, f"{folder}/marts/{kind}_{day}"))
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    for day, source in enumerate(sources[:2], start=1):
        orders = _read(spark, folder, source, ORDERS)
        writer = orders.write.mode("overwrite")
        step(f"one_{day}", partial(writer.parquet, f"{folder}/one/day=2026-01-0{day}"))
        by_day = orders.write.mode("overwrite").partitionBy("day")
        step(f"partitions_{day}", partial(by_day.parquet, f"{folder}/by_day"))


Program = Callable[[SparkSession, Path, Steps], None]


def run(
    program: Program, app: str, url: str, folder: str, settings: Mapping[str, str] | None = None
) -> None:
    steps = Steps()
    spark = session(url, Path(folder), app, settings or {})
    program(spark, Path(folder), steps)
    spark.stop()
    print(json.dumps(vars(steps)), flush=True)


APPS = {"batch": "shop_nightly", "stream": "shop_stream", "appends": "shop_appends"}

if __name__ == "__main__":
    name, api_url, home = sys.argv[1:]
    run({"batch": batch, "stream": stream, "appends": appends}[name], APPS[name], api_url, home)
