"""The data source `headwater`: its schema, reader and writer by kind.

Spark creates it in a new Python process for every step of a query. So reader and writer are
imported late: a schema needs no Neo4j driver.
"""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter
from pyspark.sql.types import StructType

from headwater.errors import SettingsError
from headwater.spark_source.options import read_options, required_kind, write_options
from headwater.spark_source.tables import TABLES, to_ddl

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


class HeadwaterSource(DataSource):
    """`spark.read.format("headwater")` and `df.write.format("headwater")`."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "headwater"

    def schema(self) -> str:
        """Return the columns of the option `kind`. Raises SettingsError."""
        return to_ddl(TABLES[required_kind(self.options)])

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader. Raises SettingsError for a wrong option or column."""
        from headwater.spark_source.reader import HeadwaterReader

        return HeadwaterReader(read_options(self.options), schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Return the writer. Raises SettingsError for a wrong option, column or mode."""
        if overwrite:
            raise SettingsError(
                "mode 'overwrite' is not supported: the event log is append-only",
                hint="Use mode 'append'.",
            )
        from headwater.spark_source.writer import HeadwaterWriter

        return HeadwaterWriter(write_options(self.options), schema)


def register(spark: SparkSession) -> None:
    """Register the format `headwater` in a session and enable its filter pushdown.

    Args:
        spark: The session; `spark.sql.python.filterPushdown.enabled` is set in it.
    """
    spark.conf.set(PUSHDOWN, "true")
    spark.dataSource.register(HeadwaterSource)
