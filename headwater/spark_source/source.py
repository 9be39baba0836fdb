"""The data source `headwater` itself: which kind is asked for, and who reads or writes it.

Spark makes it anew in a Python process for every step of a query. So what reads and what writes is imported where it is
needed: to tell a schema takes no driver of Neo4j.
"""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter
from pyspark.sql.types import StructType

from headwater.errors import SettingsError
from headwater.spark_source.options import kind_read, reading, writing
from headwater.spark_source.tables import TABLES, as_ddl

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


class HeadwaterSource(DataSource):
    """`spark.read.format("headwater")` and `df.write.format("headwater")`."""

    @classmethod
    def name(cls) -> str:
        return "headwater"

    def schema(self) -> str:
        return as_ddl(TABLES[kind_read(self.options)])

    def reader(self, schema: StructType) -> DataSourceReader:
        from headwater.spark_source.reader import HeadwaterReader

        return HeadwaterReader(reading(self.options), schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        if overwrite:
            raise SettingsError(
                "mode 'overwrite': what was told stays in the log of events",
                hint="Use mode 'append'.",
            )
        from headwater.spark_source.writer import HeadwaterWriter

        return HeadwaterWriter(writing(self.options), schema)


def register(spark: SparkSession) -> None:
    """Make the format `headwater` known in this session, and have Spark hand it the filters of queries, which it does
    not by itself."""
    spark.conf.set(PUSHDOWN, "true")
    spark.dataSource.register(HeadwaterSource)
