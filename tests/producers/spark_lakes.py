"""The shop's tables with versions: `python -m tests.producers.spark_lakes iceberg|delta URL
FOLDER`.

Both do the same to their tables: create, fill, update, delete, merge, read an old version, rename
if possible, drop. Their events about versions differ completely.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from headwater.spark_hooks.listener import PACKAGES
from tests.producers.spark_shop import Steps, run

ICEBERG = {
    PACKAGES: "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
}
DELTA = {
    PACKAGES: "io.delta:delta-spark_4.1_2.13:4.4.0",
    # Spark brings its own.
    "spark.jars.excludes": "com.github.luben:zstd-jni",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # A log of ten lines is read in one partition, not in fifty.
    "spark.databricks.delta.snapshotPartitions": "1",
}
STOCK = "(1, 'tea', 10), (2, 'cup', 20), (3, 'pot', 30)"
DELIVERY = "SELECT * FROM VALUES (3, 'pot', 5), (4, 'jug', 7) AS t(id, name, amount)"
CHANGES = {
    "insert": f"INSERT INTO {{stock}} VALUES {STOCK}",
    "update": "UPDATE {stock} SET amount = amount + 1 WHERE id = 2",
    "delete": "DELETE FROM {stock} WHERE name = 'tea'",
    "ctas": "CREATE TABLE {delivery} USING {kind} AS " + DELIVERY,
    "merge": "MERGE INTO {stock} s USING {delivery} d ON s.id = d.id"
    " WHEN MATCHED THEN UPDATE SET s.amount = s.amount + d.amount WHEN NOT MATCHED THEN INSERT *",
    "add column": "ALTER TABLE {stock} ADD COLUMNS (note STRING)",
    "insert select": "INSERT INTO {stock} SELECT id + 10, name, amount, 'copied' FROM {delivery}",
    "overwrite": "INSERT OVERWRITE {delivery} SELECT id, name, amount FROM {stock} WHERE id > 10",
    "replace": "CREATE OR REPLACE TABLE {copy} USING {kind} AS SELECT id, amount FROM {stock}",
    "rename": "ALTER TABLE {copy} RENAME TO {renamed}",
}


def change(spark: SparkSession, step: Steps, kind: str, catalog: str) -> dict[str, str]:
    names = {name: f"{catalog}shop.{name}" for name in ("stock", "delivery", "copy")}
    names |= {"kind": kind, "renamed": f"{catalog}shop.copied"}
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {catalog}shop")
    step(
        "create",
        lambda: spark.sql(
            f"CREATE TABLE {names['stock']} (id INT, name STRING, amount INT) USING {kind}"
        ),
    )
    for name, statement in CHANGES.items():
        text = statement.format(**names)
        step(name, partial(spark.sql, text))
    return names


def read(spark: SparkSession, folder: Path, step: Steps, stock: str, version: str) -> None:
    """Write the current table and an old version into files, by two readers."""
    now, then = spark.table(stock), spark.sql(f"SELECT * FROM {stock} VERSION AS OF {version}")
    step("read", lambda: now.write.parquet(str(folder / "marts" / "stock_now")))
    step("time travel", lambda: then.write.parquet(str(folder / "marts" / "stock_then")))
    step("append", lambda: spark.table(stock).limit(1).writeTo(stock).append())


def drop(spark: SparkSession, step: Steps, names: dict[str, str]) -> None:
    step("drop", lambda: spark.sql(f"DROP TABLE {names['delivery']}"))
    step("drop of none", lambda: spark.sql(f"DROP TABLE IF EXISTS {names['delivery']}"))


def iceberg(spark: SparkSession, folder: Path, step: Steps) -> None:
    names = change(spark, step, "iceberg", "lake.")
    stock = names["stock"]
    snapshots = spark.sql(
        f"SELECT snapshot_id FROM {stock}.snapshots ORDER BY committed_at"
    ).collect()
    read(spark, folder, step, stock, str(snapshots[0][0]))
    history = spark.sql(
        f"SELECT snapshot_id, operation FROM {stock}.snapshots ORDER BY committed_at"
    ).collect()
    step.notes["snapshots"] = [list(row) for row in history]
    drop(spark, step, names)


def delta(spark: SparkSession, folder: Path, step: Steps) -> None:
    names = change(spark, step, "delta", "")
    read(spark, folder, step, names["stock"], "1")
    history = (
        spark.sql(f"DESCRIBE HISTORY {names['stock']}").select("version", "operation").collect()
    )
    step.notes["snapshots"] = [list(row) for row in history]
    drop(spark, step, names)


if __name__ == "__main__":
    name, url, home = sys.argv[1:]
    if name == "iceberg":
        run(
            iceberg,
            "shop_iceberg",
            url,
            home,
            {**ICEBERG, "spark.sql.catalog.lake.warehouse": f"{home}/lake"},
        )
    else:
        run(delta, "shop_delta", url, home, DELTA)
