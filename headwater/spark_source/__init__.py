"""Headwater as a data source of Spark 4: reads the graph, writes answers and tags as events.

    from headwater.spark_source import register

    register(spark)
    runs = spark.read.format("headwater").option("kind", "runs").load()
    answers.write.format("headwater").option("kind", "answers").mode("append").save()

`tables` lists the columns of each kind, `options` the options, and `predicate_pushdown` selects the
filters that Neo4j evaluates. `reader` and `writer` do the work. A read goes to Neo4j with the
database password and shows everything, so it is for auditors and not for holders of a key. A write
goes through the API with a key, so that the event log remains complete.
"""

from headwater.spark_source.source import HeadwaterSource, register

__all__ = ["HeadwaterSource", "register"]
