"""What runs inside a team's Spark: four calls, and nothing of the server.

    from headwater.spark_hooks import cite, configure

    spark = configure(SparkSession.builder.appName("sales"), url="http://headwater:8080").getOrCreate()
    ...
    cite(spark, answer_id="best-month-2026", content="May", from_=["/lake/marts/sales_by_month"])

`configure` turns the official OpenLineage listener on, `cite` records an answer and what it came from,
`spark_conf` with `as_submit_flags` and `as_defaults_conf` give the same settings as text. Lineage never costs a
job its result: the worst Headwater holds a job up for seconds, and what can not be sent is warned about.
"""

from headwater.spark_hooks.answers import cite
from headwater.spark_hooks.failures import report_failures
from headwater.spark_hooks.listener import as_defaults_conf, as_submit_flags, spark_conf
from headwater.spark_hooks.session import configure

__all__ = [
    "as_defaults_conf",
    "as_submit_flags",
    "cite",
    "configure",
    "report_failures",
    "spark_conf",
]
