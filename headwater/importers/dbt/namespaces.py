"""The namespace of dbt's datasets: the same as openlineage-dbt derives from a profile.

Source: `extract_namespace` of openlineage-integration-common 1.54, and the naming conventions of
https://openlineage.io/docs/spec/naming.
"""

from __future__ import annotations

from collections.abc import Callable

from headwater.code_analysis.dbt.profiles import Connection
from headwater.errors import QueryError

_DEFAULT_PORTS = {
    "clickhouse": "8123",
    "dremio": "9047",
    "postgres": "5432",
    "presto": "8080",
    "redshift": "5439",
    "sqlserver": "1433",
    "trino": "8080",
    "watsonx_presto": "8080",
}
_SPARK_PORTS = {"http": "443", "odbc": "443", "thrift": "10001"}
# Adapters whose namespace needs no connection.
FIXED = {"bigquery": "bigquery"}


def namespace_of(adapter: str, connection: Connection) -> str:
    """Return the namespace of the datasets of an adapter.

    Raises QueryError for an unknown adapter, or a connection that lacks a field."""
    if adapter in FIXED:
        return FIXED[adapter]
    if adapter not in _NAMESPACES:
        known = ", ".join(sorted({*_NAMESPACES, *FIXED}))
        raise QueryError(
            f"the namespace of dbt's adapter {adapter!r} is not known, only of {known}",
            hint="Name it with --namespace.",
        )
    return _NAMESPACES[adapter](adapter, connection)


def _require(connection: Connection, *names: str) -> str:
    """Return the first of some fields that the connection has."""
    for name in names:
        value = connection.get(name)
        if value:
            return value
    raise QueryError(
        f"the target of profiles.yml has no {' or '.join(names)}",
        hint="Name the namespace of the datasets with --namespace.",
    )


def _host_and_port(adapter: str, connection: Connection) -> str:
    schemes = {"sqlserver": "mssql", "watsonx_presto": "presto"}
    host = _require(connection, "host", "server", "software_host")
    port = connection.get("port", _DEFAULT_PORTS[adapter])
    return f"{schemes.get(adapter, adapter)}://{host}:{port}"


def _snowflake(_adapter: str, connection: Connection) -> str:
    """Return the namespace of a Snowflake account, with the region and cloud of a locator."""
    account = _require(connection, "account")
    locator, *place = account.split(".")
    if "-" in locator:
        return f"snowflake://{locator}"
    region, cloud = (place + ["us-west-1", "aws"][len(place) :])[:2]
    return f"snowflake://{locator}.{region}.{cloud}"


def _databricks(_adapter: str, connection: Connection) -> str:
    return f"databricks://{_require(connection, 'host')}"


def _fabric(_adapter: str, connection: Connection) -> str:
    port = connection.get("port")
    return f"fabric-warehouse://{_require(connection, 'server', 'host')}{port and ':' + port}"


def _athena(_adapter: str, connection: Connection) -> str:
    return f"awsathena://athena.{_require(connection, 'region_name')}.amazonaws.com"


def _glue(_adapter: str, connection: Connection) -> str:
    role = connection.get("role_arn").split(":")
    account = connection.get("account_id") or (role[4] if len(role) > 4 else "")
    if not account:
        _require(connection, "account_id", "role_arn")
    return f"arn:aws:glue:{_require(connection, 'region')}:{account}"


def _duckdb(_adapter: str, connection: Connection) -> str:
    return f"duckdb://{_require(connection, 'path')}"


def _spark(_adapter: str, connection: Connection) -> str:
    method = _require(connection, "method")
    if method not in _SPARK_PORTS:
        raise QueryError(
            f"the method {method!r} of dbt's adapter spark has no address",
            hint="Name the namespace of the datasets with --namespace.",
        )
    port = connection.get("port", _SPARK_PORTS[method])
    return f"spark://{_require(connection, 'host')}:{port}"


_NAMESPACES: dict[str, Callable[[str, Connection], str]] = {
    **dict.fromkeys(_DEFAULT_PORTS, _host_and_port),
    "athena": _athena,
    "databricks": _databricks,
    "duckdb": _duckdb,
    "fabric": _fabric,
    "glue": _glue,
    "snowflake": _snowflake,
    "spark": _spark,
}
