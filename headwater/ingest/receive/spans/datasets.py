"""The dataset that a span reads or writes, by its attributes.

| attributes | dataset |
|---|---|
| `dataset.urn` (a text, or a list) | that dataset: `dataset:NAMESPACE:NAME` |
| `dataset.namespace`, `dataset.name` | that dataset |
| `messaging.system`, `messaging.destination.name`, `server.address` | the topic or queue |
| `db.system.name`, `db.namespace`, `db.collection.name`, `server.address` | the table |

Names follow the naming of OpenLineage. The older attributes `db.system`, `db.name`, `db.sql.table`
and `net.peer.name` count too. Source:
https://opentelemetry.io/docs/specs/semconv/database/ and .../messaging/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from headwater.errors import QueryError
from headwater.ingest.receive.spans.otlp import CONSUMER, PRODUCER, Attributes, Span
from headwater.schema.urns import parse_urn

NAME_CHARACTERS_MAX = 500
_WRITES = frozenset(
    {
        *("write", "insert", "update", "delete", "upsert", "merge", "replace", "create", "copy"),
        *("set", "put", "truncate", "bulk", "bulkwrite", "send", "publish", "produce"),
        *("insertone", "insertmany", "updateone", "updatemany", "deleteone", "deletemany"),
    }
)
_READS = frozenset(
    {
        *("read", "select", "find", "get", "query", "scan", "count", "aggregate"),
        *("receive", "process", "poll", "deliver", "settle", "consume"),
    }
)
# Scheme of the namespace and default port, by `db.system.name`.
_DATABASES = {
    "postgresql": ("postgres", "5432"),
    "mysql": ("mysql", "3306"),
    "mariadb": ("mysql", "3306"),
    "microsoft.sql_server": ("mssql", "1433"),
    "mssql": ("mssql", "1433"),
    "oracle.db": ("oracle", "1521"),
    "oracle": ("oracle", "1521"),
    "mongodb": ("mongodb", "27017"),
    "cassandra": ("cassandra", "9042"),
    "trino": ("trino", "8080"),
    "clickhouse": ("clickhouse", "8123"),
}
# Databases whose tables are in a schema, with the schema of a table that is named without one.
_SCHEMAS = {"postgresql": "public", "microsoft.sql_server": "dbo", "mssql": "dbo"}
_PORTS = {"kafka": "9092", "rabbitmq": "5672", "pulsar": "6650"}


class DatasetUse(NamedTuple):
    """A dataset that a span reads or writes."""

    namespace: str
    name: str
    is_write: bool


def dataset_uses(span: Span) -> Iterator[DatasetUse]:
    """Return the datasets that a span reads or writes; none if its attributes name none."""
    attributes = span.attributes
    named = [*_by_urn(attributes), *_by_name(attributes)] or _by_convention(attributes)
    is_write = _is_write(span)
    for namespace, name in named:
        if 0 < len(namespace) <= NAME_CHARACTERS_MAX and 0 < len(name) <= NAME_CHARACTERS_MAX:
            yield DatasetUse(namespace, name, is_write)


def _is_write(span: Span) -> bool:
    """Return True for an operation that writes, or else by the kind of the span."""
    operation = _first(
        span.attributes,
        "dataset.operation",
        "db.operation.name",
        "db.operation",
        "messaging.operation.type",
        "messaging.operation.name",
        "messaging.operation",
    ).lower()
    if operation in _WRITES:
        return True
    if operation in _READS or span.kind == CONSUMER:
        return False
    return span.kind == PRODUCER


def _by_urn(attributes: Attributes) -> Iterator[tuple[str, str]]:
    urns = attributes.get("dataset.urn", [])
    for urn in [urns] if isinstance(urns, str) else urns:
        try:
            kind, parts = parse_urn(urn)
        except QueryError:
            continue
        if kind == "dataset" and len(parts) == 2:
            yield parts[0], parts[1]


def _by_name(attributes: Attributes) -> Iterator[tuple[str, str]]:
    namespace, name = _first(attributes, "dataset.namespace"), _first(attributes, "dataset.name")
    if namespace and name:
        yield namespace, name


def _by_convention(attributes: Attributes) -> list[tuple[str, str]]:
    host = _first(attributes, "server.address", "net.peer.name")
    port = _first(attributes, "server.port", "net.peer.port")
    topic = _first(attributes, "messaging.destination.name", "messaging.destination")
    system = _first(attributes, "messaging.system")
    if not host:
        return []
    if topic and system:
        return [(f"{system}://{host}:{port or _PORTS.get(system, '')}".rstrip(":"), topic)]
    system = _first(attributes, "db.system.name", "db.system")
    table = _first(attributes, "db.collection.name", "db.sql.table", "db.mongodb.collection")
    if not table or system not in _DATABASES:
        return []
    scheme, default_port = _DATABASES[system]
    name = _table_name(system, _first(attributes, "db.namespace", "db.name"), table)
    return [(f"{scheme}://{host}:{port or default_port}", name)]


def _table_name(system: str, database: str, table: str) -> str:
    """Return the name of a table with its database, and its schema where there are schemas."""
    database, _, schema = database.partition("|")
    parts = [part.strip('"`[]') for part in table.split(".")]
    if system in _SCHEMAS and len(parts) == 1:
        parts.insert(0, schema or _SCHEMAS[system])
    full = 3 if system in _SCHEMAS else 2
    return ".".join([database, *parts] if database and len(parts) < full else parts)


def _first(attributes: Attributes, *keys: str) -> str:
    """Return the first of these attributes that is a text; "" without any."""
    texts = (attributes.get(key) for key in keys)
    return next((text for text in texts if isinstance(text, str) and text), "")
