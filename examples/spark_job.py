"""A Spark job that sends its lineage to Headwater; a team adds two calls to its own job.

Start Headwater (`headwater up`), then `python examples/spark_job.py [URL]`. It writes two small
datasets to a temporary folder and records an answer. `headwater trace busiest-shop` then follows
the answer back to the orders.
"""

from __future__ import annotations

import sys
import tempfile

from pyspark.sql import SparkSession
from pyspark.sql import functions as fn

from headwater.spark_hooks import cite, configure


def main(url: str) -> None:
    spark = configure(
        SparkSession.builder.appName("shops"), url=url, namespace="examples"
    ).getOrCreate()
    lake = tempfile.mkdtemp(prefix="headwater-example-")

    orders = spark.createDataFrame(
        [("north", 12.5), ("south", 30.0), ("north", 20.0)], ["shop", "amount"]
    )
    orders.write.parquet(f"{lake}/orders")
    sales = (
        spark.read.parquet(f"{lake}/orders").groupBy("shop").agg(fn.sum("amount").alias("sales"))
    )
    sales.write.parquet(f"{lake}/sales")

    busiest = spark.read.parquet(f"{lake}/sales").orderBy(fn.desc("sales")).head(1)[0]
    text = f"{busiest['shop']} sold most: {busiest['sales']:.2f}"
    recorded = cite(
        spark, answer_id="busiest-shop", type="report", content=text, from_=[f"{lake}/sales"]
    )
    print(text, "(recorded)" if recorded else "(not recorded)")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000")
