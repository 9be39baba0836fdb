"""dbt's artifacts in a few lines: a folder with a manifest, results, a catalog and freshness."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

INVOCATION = "0198c2f4-0000-7000-8000-000000000001"
GENERATED = "2026-11-01T02:00:00Z"
FINISHED = "2026-11-01T03:00:10Z"
MANIFEST_VERSION = "https://schemas.getdbt.com/dbt/manifest/v12.json"

Fields = dict[str, Any]


def node(unique_id: str, *parents: str, sql: str = "", **fields: Any) -> Fields:
    """Return a node of the project `shop`, in the schema `main` of the database `shop`."""
    kind, package, name = unique_id.split(".")[:3]
    return {
        "unique_id": unique_id,
        "name": name,
        "resource_type": kind,
        "package_name": package,
        "database": "shop",
        "schema": "main",
        "alias": name,
        "original_file_path": f"models/{name}.sql",
        "depends_on": {"macros": [], "nodes": list(parents)},
        "compiled_code": sql or None,
        "language": "sql",
        "columns": {},
        "config": {"materialized": "table"},
        **fields,
    }


def source(name: str, **fields: Any) -> Fields:
    """Return a source of the schema `raw`."""
    return {
        "unique_id": f"source.shop.raw.{name}",
        "name": name,
        "resource_type": "source",
        "database": "shop",
        "schema": "raw",
        "identifier": name,
        **fields,
    }


def generic_test(kind: str, table: str, column: str, **fields: Any) -> Fields:
    """Return a generic test of a column of a model."""
    short = table.rpartition(".")[2]
    return node(
        f"test.shop.{kind}_{short}_{column}.abc",
        table,
        attached_node=table,
        column_name=column,
        test_metadata={"name": kind, "kwargs": {"column_name": column}},
        **fields,
    )


def result(unique_id: str, status: str = "success", second: int = 1, **fields: Any) -> Fields:
    """Return the result of a node that ran for one second; a skipped one has no times."""
    span = {
        "name": "execute",
        "started_at": f"2026-11-01T03:00:{second:02}Z",
        "completed_at": f"2026-11-01T03:00:{second + 1:02}Z",
    }
    timing = [] if status == "skipped" else [span]
    return {"unique_id": unique_id, "status": status, "timing": timing, **fields}


def write_artifacts(
    folder: Path,
    *nodes: Fields,
    results: list[Fields] | None = None,
    command: str = "build",
    catalog: dict[str, dict[str, str]] | None = None,
    adapter: str = "postgres",
    **sections: Any,
) -> Path:
    """Write the artifacts of a project; without `results` it was only parsed."""
    by_kind: dict[str, dict[str, Fields]] = {"nodes": {}, "sources": {}, "exposures": {}}
    for one in nodes:
        section = {"source": "sources", "exposure": "exposures"}.get(one["resource_type"], "nodes")
        by_kind[section][one["unique_id"]] = one
    metadata = {
        "dbt_schema_version": MANIFEST_VERSION,
        "generated_at": GENERATED,
        "adapter_type": adapter,
        "project_name": "shop",
    }
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "manifest.json", {"metadata": metadata, **by_kind, **sections})
    if results is not None:
        run = {"invocation_id": INVOCATION, "generated_at": FINISHED, "dbt_version": "1.11.0"}
        content = {"args": {"which": command}, "results": results, "elapsed_time": 10.0}
        _write(folder / "run_results.json", {"metadata": run, **content})
    if catalog is not None:
        tables = {
            unique_id: {
                "columns": {
                    name: {"name": name, "type": type, "index": index}
                    for index, (name, type) in enumerate(columns.items())
                }
            }
            for unique_id, columns in catalog.items()
        }
        _write(folder / "catalog.json", {"nodes": tables, "sources": {}})
    return folder


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content))
