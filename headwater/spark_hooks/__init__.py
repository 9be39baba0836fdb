"""Lineage from a team's Spark: turn on the OpenLineage listener, and cite the sources of answers.

    from headwater.spark_hooks import cite, configure

    builder = SparkSession.builder.appName("sales")
    spark = configure(builder, url="http://headwater:8000").getOrCreate()
    ...
    cite(spark, answer_id="best-month-2026", content="May", from_=["/lake/marts/sales_by_month"])

`spark_conf`, `as_submit_flags` and `as_defaults_conf` return the same settings as text. Both ways
also report failed queries and drivers as failed (`java/`). A job never fails because of Headwater,
and waits for it for seconds at most. An event that cannot be sent is a warning.
"""

from headwater.spark_hooks.answers import cite
from headwater.spark_hooks.failures import report_failures
from headwater.spark_hooks.listener import as_defaults_conf, as_submit_flags, spark_conf
from headwater.spark_hooks.session import configure
from headwater.spark_hooks.streams import report_streams

__all__ = [
    "as_defaults_conf",
    "as_submit_flags",
    "cite",
    "configure",
    "report_failures",
    "report_streams",
    "spark_conf",
]
