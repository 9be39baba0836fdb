"""Namespaces of dbt's adapters: the expected values are those of openlineage-dbt 1.54."""

from __future__ import annotations

import pytest

from headwater.code_analysis.dbt.profiles import Connection
from headwater.errors import QueryError
from headwater.importers.dbt.namespaces import namespace_of


@pytest.mark.parametrize(
    ("adapter", "fields", "namespace"),
    [
        ("postgres", {"host": "db", "port": 5433}, "postgres://db:5433"),
        ("redshift", {"host": "db"}, "redshift://db:5439"),
        ("bigquery", {}, "bigquery"),
        ("duckdb", {"path": "target/shop.duckdb"}, "duckdb://target/shop.duckdb"),
        ("snowflake", {"account": "org-shop"}, "snowflake://org-shop"),
        ("snowflake", {"account": "xy12345"}, "snowflake://xy12345.us-west-1.aws"),
        ("snowflake", {"account": "xy12345.us-east-1"}, "snowflake://xy12345.us-east-1.aws"),
        ("snowflake", {"account": "xy1.east-us-2.azure"}, "snowflake://xy1.east-us-2.azure"),
        ("databricks", {"host": "adb.net"}, "databricks://adb.net"),
        ("sqlserver", {"server": "db", "port": 1433}, "mssql://db:1433"),
        ("fabric", {"server": "db"}, "fabric-warehouse://db"),
        ("trino", {"host": "db", "port": 8443}, "trino://db:8443"),
        ("watsonx_presto", {"host": "db", "port": 8443}, "presto://db:8443"),
        ("dremio", {"software_host": "db", "port": 9047}, "dremio://db:9047"),
        ("athena", {"region_name": "eu-west-1"}, "awsathena://athena.eu-west-1.amazonaws.com"),
        (
            "glue",
            {"region": "eu-west-1", "role_arn": "arn:aws:iam::123:role/x"},
            "arn:aws:glue:eu-west-1:123",
        ),
        ("spark", {"method": "thrift", "host": "db"}, "spark://db:10001"),
        ("spark", {"method": "http", "host": "db"}, "spark://db:443"),
        ("clickhouse", {"host": "db", "port": 8443}, "clickhouse://db:8443"),
    ],
)
def test_an_adapter(adapter: str, fields: dict[str, object], namespace: str) -> None:
    assert namespace_of(adapter, Connection(fields, {})) == namespace


@pytest.mark.parametrize(
    ("adapter", "message"),
    [("postgres", "no host"), ("oracle", "'oracle' is not known"), ("spark", "no method")],
)
def test_what_is_missing_is_named(adapter: str, message: str) -> None:
    with pytest.raises(QueryError, match=message) as refused:
        namespace_of(adapter, Connection({}, {}))
    assert "--namespace" in refused.value.hint
