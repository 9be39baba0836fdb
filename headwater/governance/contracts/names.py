"""The datasets that a contract is about, named as OpenLineage names them.

A contract lists servers, and objects of its schema. Each object on each server is a dataset. Where
the standard has no fields for a name (servers of type `custom` or `api`), custom properties name
it: `openlineageNamespace` of the server and `openlineageName` of the object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

NAMESPACE_PROPERTY = "openlineageNamespace"
NAME_PROPERTY = "openlineageName"
Server = Mapping[str, Any]


@dataclass(frozen=True)
class NamedDataset:
    """An object of a contract on one of its servers; `server` is "" without one."""

    namespace: str
    name: str
    object: str
    server: str = ""


def named_datasets(
    document: Mapping[str, Any], *, server: str = "", namespace: str = ""
) -> Iterator[NamedDataset]:
    """Yield the datasets of a contract, each once.

    server: only those on the server of this name. namespace: that of every dataset; their names
    are then those of the objects.
    """
    objects = document.get("schema") or []
    found: dict[NamedDataset, None] = {}
    for one in objects:
        physical = one.get("physicalName") or one["name"]
        own = custom_property(one, NAME_PROPERTY)
        if namespace:
            found[NamedDataset(namespace, own or physical, one["name"])] = None
            continue
        for place in _servers(document, server):
            named = _named(place, physical, own, is_single=len(objects) == 1)
            if named is not None:
                found[NamedDataset(*named, one["name"], str(place.get("server") or ""))] = None
    yield from found


def custom_property(holder: Mapping[str, Any], name: str) -> str | None:
    """Return a custom property of a part of a contract as text; None without it."""
    for one in holder.get("customProperties") or ():
        if one.get("property") == name and isinstance(one.get("value"), str):
            return str(one["value"]).strip() or None
    return None


def _servers(document: Mapping[str, Any], wanted: str) -> Iterable[Server]:
    servers = document.get("servers") or []
    return [one for one in servers if not wanted or one.get("server") == wanted]


def _named(
    server: Server, physical: str, own: str | None, *, is_single: bool
) -> tuple[str, str] | None:
    """Return the namespace and the name of an object on a server; None if it names no place."""
    namespace = custom_property(server, NAMESPACE_PROPERTY)
    if namespace is not None:
        return namespace, own or physical
    kind = str(server.get("type") or "").casefold()
    if kind in _TABLES:
        rule = _TABLES[kind]
        return rule.namespace(server), own or _qualified(server, physical, rule.parts)
    if kind == "kafka":
        return _first_broker(server), own or physical
    if kind == "glue":
        region = server.get("region") or server.get("regionName") or ""
        table = own or f"table/{server.get('database')}/{physical}"
        return f"arn:aws:glue:{region}:{server.get('account')}", table
    if kind == "pubsub":
        return "pubsub", own or f"topic:{server.get('project')}:{physical}"
    place = server.get("location") or server.get("path")
    return _in_folder(str(place), own or physical, is_single=is_single) if place else None


def _in_folder(place: str, name: str, *, is_single: bool) -> tuple[str, str]:
    """Return the name of a path or a location; `{model}` in it stands for the object."""
    is_pattern = "{model}" in place
    path = place.replace("{model}", name)
    folder, _, last = path.rpartition("/")
    if "*" in last:
        path = folder
    if not is_single and not is_pattern:
        path = f"{path.rstrip('/')}/{name}"
    parts = urlsplit(path)
    if parts.scheme and parts.netloc:
        return f"{parts.scheme}://{parts.netloc}", parts.path.strip("/") or "/"
    return "file", path


@dataclass(frozen=True)
class _Tables:
    """How a system names its tables: its namespace, and the fields before the table."""

    namespace: Callable[[Server], str]
    parts: tuple[str, ...]


def _host(scheme: str) -> Callable[[Server], str]:
    def of(server: Server) -> str:
        port = f":{server['port']}" if server.get("port") else ""
        return f"{scheme}://{server.get('host') or ''}{port}"

    return of


def _fixed(namespace: str) -> Callable[[Server], str]:
    return lambda _: namespace


def _account(server: Server) -> str:
    return f"snowflake://{server.get('account') or ''}"


def _athena(server: Server) -> str:
    return f"awsathena://athena.{server.get('regionName') or ''}.amazonaws.com"


def _databricks(server: Server) -> str:
    host = str(server.get("host") or "")
    return f"unitycatalog://{urlsplit(host).netloc or host}"


_SCHEMAS = ("database", "schema")
_TABLES: dict[str, _Tables] = {
    "athena": _Tables(_athena, ("catalog", "schema")),
    "bigquery": _Tables(_fixed("bigquery"), ("project", "dataset")),
    "clickhouse": _Tables(_host("clickhouse"), ("database",)),
    "cloudsql": _Tables(_host("postgres"), _SCHEMAS),
    "databricks": _Tables(_databricks, ("catalog", "schema")),
    "db2": _Tables(_host("db2"), _SCHEMAS),
    "dremio": _Tables(_host("dremio"), ("schema",)),
    "duckdb": _Tables(_fixed("duckdb"), _SCHEMAS),
    "hive": _Tables(_host("hive"), ("database",)),
    "impala": _Tables(_host("impala"), ("database",)),
    "mysql": _Tables(_host("mysql"), ("database",)),
    "oracle": _Tables(_host("oracle"), ("serviceName", "schema")),
    "postgres": _Tables(_host("postgres"), _SCHEMAS),
    "postgresql": _Tables(_host("postgres"), _SCHEMAS),
    "presto": _Tables(_host("presto"), ("catalog", "schema")),
    "redshift": _Tables(_host("redshift"), _SCHEMAS),
    "snowflake": _Tables(_account, _SCHEMAS),
    "sqlserver": _Tables(_host("mssql"), _SCHEMAS),
    "synapse": _Tables(_host("mssql"), _SCHEMAS),
    "teradata": _Tables(_host("teradata"), ("database",)),
    "trino": _Tables(_host("trino"), ("catalog", "schema")),
    "vertica": _Tables(_host("vertica"), _SCHEMAS),
}


def _qualified(server: Server, physical: str, parts: Iterable[str]) -> str:
    """Return a table with the fields of its server before it, as far as it lacks them."""
    before = [str(server[part]) for part in parts if server.get(part)]
    missing = before[: max(0, len(before) - physical.count("."))]
    return ".".join([*missing, physical])


def _first_broker(server: Server) -> str:
    host = str(server.get("host") or "").partition(",")[0].strip()
    return host if "://" in host else f"kafka://{host}"
