"""dbt's `manifest.json` and `catalog.json`: models with their SQL, and columns of tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any

from headwater.code_analysis.model import TableName
from headwater.errors import EventError, QueryError
from headwater.schema.stored_json import decode, no_number

FILE_BYTES_MAX = 200_000_000
_MODELS = ("model", "snapshot")
_TABLE_RESOURCES = (*_MODELS, "seed", "source")
_HINT = "Write it again with `dbt docs generate`."


@dataclass(frozen=True)
class DbtModel:
    """A model or snapshot of the manifest.

    sql: compiled if dbt compiled it, else the template.
    table: the table it makes.
    upstream: the tables it depends on."""

    name: str
    path: str
    sql: str
    table: TableName
    upstream: tuple[TableName, ...]


def is_manifest(text: str) -> bool:
    """Return True if a JSON text looks like a manifest."""
    return "/dbt/manifest/" in text[:2_000] or ('"parent_map"' in text and '"nodes"' in text)


def is_catalog(text: str) -> bool:
    """Return True if a JSON text looks like a catalog."""
    return "/dbt/catalog/" in text[:2_000]


def read_manifest(text: str) -> list[DbtModel]:
    """Return the models of a manifest. Raises QueryError if the text is not a manifest."""
    nodes = list(_table_nodes(_parse_object(text, "manifest.json")))
    tables = {unique_id: _table_name(node) for unique_id, node in nodes}
    models = []
    for unique_id, node in nodes:
        if node.get("resource_type") not in _MODELS:
            continue
        path = node.get("original_file_path") or node.get("path") or unique_id
        upstream = [
            tables[dependency] for dependency in _dependencies(node) if dependency in tables
        ]
        name = str(node.get("name") or unique_id)
        model = DbtModel(name, str(path), _sql(node), tables[unique_id], tuple(upstream))
        models.append(model)
    return models


def read_catalog(text: str) -> dict[TableName, list[str]]:
    """Return the columns of each table of a catalog, in order.

    Raises QueryError if it is not a catalog."""
    tables: dict[TableName, list[str]] = {}
    for _, node in _table_nodes(_parse_object(text, "catalog.json")):
        metadata, columns = node.get("metadata"), node.get("columns")
        if not isinstance(metadata, dict) or not isinstance(columns, dict):
            continue
        parts = (metadata.get("database"), metadata.get("schema"), metadata.get("name"))
        listed = [column for column in columns.values() if isinstance(column, dict)]
        listed.sort(key=_index)
        table = tuple(str(part) for part in parts if part)
        names = [column.get("name") for column in listed]
        tables[table] = [name for name in names if isinstance(name, str)]
    return tables


def _index(column: dict[str, Any]) -> float:
    """Return the position of a column in its table; 0 if the catalog has none."""
    index = column.get("index")
    return index if isinstance(index, int | float) else 0


def check_file(path: Path, bytes_max: int) -> None:
    """Raise QueryError if an artifact is no regular file or is too large, and OSError."""
    status = path.stat()
    if not S_ISREG(status.st_mode):
        raise QueryError(f"{path} is no regular file")
    if status.st_size > bytes_max:
        raise QueryError(f"{path} is larger than {bytes_max:,} bytes")


def read_full_names(path: Path) -> dict[str, str]:
    """Return the full table names of models by file path in the dbt project, by alias and by name.

    Raises QueryError if the manifest cannot be read."""
    try:
        check_file(path, FILE_BYTES_MAX)
        models = read_manifest(path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise QueryError(message, hint="`dbt parse` writes target/manifest.json.") from error
    names: dict[str, str] = {}
    models = [model for model in models if model.table]
    for model in models:
        full_name = ".".join(model.table)
        names[model.table[-1].lower()] = full_name
        names[model.name.lower()] = full_name
    return names | {model.path: ".".join(model.table) for model in models}


def _parse_object(text: str, name: str) -> dict[str, Any]:
    try:
        content = decode(text.encode("utf-8", "replace"), out_of_range=no_number)
    except EventError as error:
        raise QueryError(f"{name} is not JSON", hint=_HINT) from error
    if not isinstance(content, dict) or not isinstance(content.get("nodes"), dict):
        raise QueryError(f"{name} has no nodes", hint=_HINT)
    return content


def _table_nodes(content: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the nodes and sources that are tables, by unique id."""
    for section in ("nodes", "sources"):
        nodes = content.get(section)
        for unique_id, node in nodes.items() if isinstance(nodes, dict) else ():
            if isinstance(node, dict) and node.get("resource_type", "model") in _TABLE_RESOURCES:
                yield unique_id, node


def _table_name(node: dict[str, Any]) -> TableName:
    name = node.get("alias") or node.get("identifier") or node.get("name")
    return tuple(str(part) for part in (node.get("database"), node.get("schema"), name) if part)


def _sql(node: dict[str, Any]) -> str:
    for key in ("compiled_code", "compiled_sql", "raw_code", "raw_sql"):
        if isinstance(node.get(key), str) and node[key]:
            return str(node[key])
    return ""


def _dependencies(node: dict[str, Any]) -> list[str]:
    depends_on = node.get("depends_on")
    listed = depends_on.get("nodes") if isinstance(depends_on, dict) else None
    return [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
