"""What dbt knows of a project: the models, snapshots and seeds of `manifest.json`, the columns of `catalog.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headwater.code_analysis.model import TableName
from headwater.errors import QueryError

_MODELS = ("model", "snapshot")
_RELATIONS = (*_MODELS, "seed", "source")
FILE_BYTES_MAX = 200_000_000


@dataclass(frozen=True)
class Model:
    """A model as the manifest tells of it: its SQL, compiled where dbt compiled it, and the table it makes."""

    name: str
    path: str
    sql: str
    is_compiled: bool
    makes: TableName
    columns: tuple[str, ...]
    upstream: tuple[TableName, ...]
    tags: tuple[str, ...]


def is_manifest(text: str) -> bool:
    return "/dbt/manifest/" in text[:2_000] or ('"parent_map"' in text and '"nodes"' in text)


def is_catalog(text: str) -> bool:
    return "/dbt/catalog/" in text[:2_000]


def read_manifest(text: str) -> list[Model]:
    """The models of a manifest. Raises QueryError when it is none."""
    manifest = _object(text, "manifest.json")
    relations = {unique_id: _relation(node) for unique_id, node in _nodes(manifest)}
    return [
        Model(
            name=str(node.get("name") or unique_id),
            path=str(node.get("original_file_path") or node.get("path") or unique_id),
            sql=_sql(node),
            is_compiled=bool(node.get("compiled_code") or node.get("compiled_sql")),
            makes=relations[unique_id],
            columns=tuple(map(str, node.get("columns") or {})),
            upstream=tuple(relations[one] for one in _depends(node) if one in relations),
            tags=tuple(tag for tag in node.get("tags") or () if isinstance(tag, str)),
        )
        for unique_id, node in _nodes(manifest)
        if node.get("resource_type") in _MODELS
    ]


def read_catalog(text: str) -> dict[TableName, list[str]]:
    """The columns of each table of a catalog, in order. Raises QueryError when it is none."""
    found = {}
    for _, node in _nodes(_object(text, "catalog.json")):
        metadata = node.get("metadata")
        columns = node.get("columns")
        if isinstance(metadata, dict) and isinstance(columns, dict):
            parts = (metadata.get("database"), metadata.get("schema"), metadata.get("name"))
            listed = [one for one in columns.values() if isinstance(one, dict)]
            in_order = sorted(listed, key=lambda one: one.get("index") or 0)
            found[tuple(str(part) for part in parts if part)] = [
                str(one.get("name")) for one in in_order
            ]
    return found


def _object(text: str, name: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise QueryError(
            f"{name} is not JSON", hint="Make it again with `dbt docs generate`."
        ) from error
    if not isinstance(found, dict) or not isinstance(found.get("nodes"), dict):
        raise QueryError(f"{name} has no nodes", hint="Make it again with `dbt docs generate`.")
    return found


def _nodes(found: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in ("nodes", "sources"):
        nodes = found.get(part)
        for unique_id, node in nodes.items() if isinstance(nodes, dict) else ():
            if isinstance(node, dict) and node.get("resource_type", "model") in _RELATIONS:
                yield unique_id, node


def _relation(node: dict[str, Any]) -> TableName:
    name = node.get("alias") or node.get("identifier") or node.get("name")
    return tuple(str(part) for part in (node.get("database"), node.get("schema"), name) if part)


def _sql(node: dict[str, Any]) -> str:
    for key in ("compiled_code", "compiled_sql", "raw_code", "raw_sql"):
        if isinstance(node.get(key), str) and node[key]:
            return str(node[key])
    return ""


def _depends(node: dict[str, Any]) -> list[str]:
    depends = node.get("depends_on")
    listed = depends.get("nodes") if isinstance(depends, dict) else None
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
