"""The dataset of a table that SQL names: its database and schema, or its path."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headwater.code_analysis.model import TableName
from headwater.importers.events import DatasetName

# Engines whose names have two parts: database and table.
_TWO_PARTS = {"clickhouse", "doris", "hive", "mysql", "spark", "spark2", "starrocks", "teradata"}
# The schema of a name without one. It is only used if the database is known.
_DEFAULT_SCHEMAS = {
    "duckdb": "main",
    "fabric": "dbo",
    "postgres": "public",
    "redshift": "public",
    "snowflake": "PUBLIC",
    "tsql": "dbo",
}
_FILE_ENDINGS = (".csv", ".json", ".jsonl", ".parquet", ".orc", ".avro", ".tsv", ".txt", ".gz")


@dataclass(frozen=True)
class NameRules:
    """How the tables of a session are named: their namespace, and the database and schema in use.

    `schema` is "" for the default schema of the dialect."""

    namespace: str
    dialect: str = ""
    database: str = ""
    schema: str = ""

    def use(self, database: str, schema: str) -> NameRules:
        """Return the rules after USE; "" leaves a part as it is, another database resets both."""
        if database:
            return replace(self, database=database, schema=schema)
        # Where a name has two parts, a schema is a database.
        if self.dialect in _TWO_PARTS:
            return replace(self, database=schema)
        return replace(self, schema=schema)

    def dataset(self, table: TableName) -> DatasetName:
        """Return the dataset of a table."""
        if len(table) == 1 and _is_path(table[0]):
            return _dataset_of_path(table[0])
        if self.dialect in _TWO_PARTS:
            parts = (self.database, *table) if len(table) == 1 else table
        elif len(table) >= 3:
            parts = table
        elif len(table) == 2:
            parts = (self.database, *table)
        else:
            schema = self.schema or (
                _DEFAULT_SCHEMAS.get(self.dialect, "") if self.database else ""
            )
            parts = (self.database, schema, *table)
        return self.namespace, ".".join(part for part in parts if part)


def _is_path(name: str) -> bool:
    return "/" in name or name.lower().endswith(_FILE_ENDINGS)


def _dataset_of_path(path: str) -> DatasetName:
    scheme, mark, rest = path.partition("://")
    if not mark:
        return "file", path
    host, _, key = rest.partition("/")
    return (f"{scheme}://{host}", key) if host else (scheme, f"/{key}")
