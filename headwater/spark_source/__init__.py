"""Headwater as a data source of Spark 4: the graph as DataFrames, answers and tags written back as events.

    from headwater.spark_source import register

    register(spark)
    runs = spark.read.format("headwater").option("kind", "runs").load()
    answers.write.format("headwater").option("kind", "answers").mode("append").save()

`tables` says which columns each kind has, `options` what may be set, `pushed` what of a query is Neo4j's to answer,
`reader` and `writer` do the work. Reading goes to Neo4j itself with the credentials of the database, so it shows
everything that is there: it is an auditor's way in, not one for whoever has a key. Writing goes through the API, with
a key, so that the log of events stays the truth.
"""

from headwater.spark_source.source import HeadwaterSource, register

__all__ = ["HeadwaterSource", "register"]
