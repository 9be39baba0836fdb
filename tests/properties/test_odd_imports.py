"""A value of an odd type or size in a source stops the import of nothing else.

Each test takes a source that can be read, and puts one odd value in the place of each of its values
in turn. The import ends, or fails with a HeadwaterError; what was not touched is read.
"""

from __future__ import annotations

import copy
import io
import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headwater.code_analysis.dbt.manifest import read_catalog
from headwater.code_analysis.dbt.manifest import read_manifest as read_models
from headwater.code_analysis.model import UnreadableError
from headwater.code_analysis.notebooks import parse_jupyter
from headwater.errors import HeadwaterError
from headwater.importers.atlas_messages import events_of_message
from headwater.importers.dbt.artifacts import read_artifacts
from headwater.importers.dbt.importer import DbtOptions, read_dbt
from headwater.importers.inventory.dbt_manifest import read_manifest
from headwater.importers.report import ImportReport
from headwater.importers.schema_registry.fields import read_fields, record_name
from headwater.importers.sql.importer import SqlOptions, read_sql
from headwater.importers.sql.logs import SqlFile
from headwater.importers.sql.names import NameRules
from headwater.schema.stored_json import encode
from tests.importers.dbt.artifact_builders import (
    FINISHED,
    generic_test,
    node,
    result,
    source,
    write_artifacts,
)

DEEP = "a list in 500 others"
HUGE = "a number of 5,000 digits"
ODD: list[Any] = [
    None,
    True,
    -1,
    10**400,
    1e308,
    float("inf"),
    float("nan"),
    "",
    "x",
    "a \ud800 surrogate",
    "\0",
    "infinity",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59Z",
    [],
    [None],
    [["x"]],
    {},
    {"a": 1},
    {"a": [1]},
    DEEP,
    HUGE,
]
NAMESPACE = "postgres://w:5432"
MODEL, OTHER, RAW = "model.shop.stg", "model.shop.other", "source.shop.raw.orders"

JsonPath = tuple[str | int, ...]


def paths(value: Any, path: JsonPath = ()) -> Iterator[JsonPath]:
    """Yield the path of each value in JSON, but for the whole."""
    items: Any = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else items:
        yield (*path, key)
        yield from paths(item, (*path, key))


def text_with(value: Any, path: JsonPath, odd: Any) -> str:
    """Return JSON with an odd value at a path."""
    changed = copy.deepcopy(value)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = odd
    text = json.dumps(changed)
    for odd_text, written in ((DEEP, "[" * 500 + "]" * 500), (HUGE, "9" * 5_000)):
        text = text.replace(json.dumps(odd_text), written)
    return text


def cases(value: Any, count: int) -> Iterator[tuple[JsonPath, str]]:
    """Yield paths, and the JSON with an odd value there: `count` of all cases, or all."""
    pairs = [(path, odd) for path in paths(value) for odd in ODD]
    chosen = random.Random(count).sample(pairs, min(count, len(pairs)))
    return ((path, text_with(value, path, odd)) for path, odd in chosen)


def check_events(events: list[dict[str, Any]]) -> None:
    """Check that the events can be sent; the receiver names those that it refuses."""
    for event in events:
        msgspec.json.decode(encode(event))


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    stg = node(
        MODEL,
        RAW,
        sql="select id, amount from shop.raw.orders",
        description="d",
        meta={"owner": "x", "lineage": {"upstream": ["orders.id"]}, "tier": 1},
        tags=["t"],
        group="g",
        columns={
            "id": {
                "name": "id",
                "description": "x",
                "data_type": "int",
                "meta": {"a": 1, "lineage": "raw.a -> stg.id"},
                "config": {"meta": {"b": 2}, "tags": ["u"]},
            }
        },
    )
    exposure = {
        "unique_id": "exposure.shop.e",
        "name": "e",
        "resource_type": "exposure",
        "type": "dashboard",
        "url": "http://x",
        "owner": {"name": "n", "email": "e"},
        "depends_on": {"nodes": [MODEL]},
        "label": "l",
    }
    test = generic_test("not_null", MODEL, "id")
    response = {"rows_affected": 5, "query_id": "q", "bytes_processed": 3}
    folder = write_artifacts(
        tmp_path_factory.mktemp("target"),
        stg,
        node(OTHER, RAW, sql="select id from shop.raw.orders"),
        source("orders", description="o"),
        exposure,
        test,
        results=[
            result(MODEL, execution_time=1.0, adapter_response=response, message="m"),
            result(test["unique_id"], "fail", failures=3, message="x"),
            result(OTHER),
        ],
        catalog={MODEL: {"id": "int", "amount": "int"}, OTHER: {"id": "int"}},
        groups={"group.shop.g": {"name": "g", "owner": {"name": "o", "email": "m"}}},
    )
    catalog = json.loads((folder / "catalog.json").read_text())
    for unique_id, table in catalog["nodes"].items():
        name = unique_id.rpartition(".")[2]
        table["metadata"] = {"database": "shop", "schema": "main", "name": name}
    (folder / "catalog.json").write_text(json.dumps(catalog))
    freshness = {"unique_id": RAW, "max_loaded_at": FINISHED, "snapshotted_at": FINISHED}
    (folder / "sources.json").write_text(json.dumps({"results": [freshness]}))
    results = json.loads((folder / "run_results.json").read_text())
    results["metadata"]["invocation_started_at"] = "2026-11-01T03:00:00Z"
    (folder / "run_results.json").write_text(json.dumps(results))
    return folder


def import_dbt(folder: Path) -> tuple[list[dict[str, Any]], ImportReport]:
    report = ImportReport()
    found = read_artifacts(folder, report)
    list(read_manifest(found, NAMESPACE, ImportReport()))
    return list(read_dbt(found, DbtOptions(NAMESPACE), report)), report


FILES = ("manifest.json", "run_results.json", "catalog.json", "sources.json")
# What decides over all nodes: a file without it is refused, or names no node.
WHOLE: set[JsonPath] = {
    ("metadata",),
    ("metadata", "dbt_schema_version"),
    ("metadata", "invocation_id"),
    ("metadata", "generated_at"),
    ("nodes",),
}


@pytest.mark.parametrize("name", FILES)
def test_dbt(artifacts: Path, name: str, tmp_path: Path) -> None:
    for file in FILES:
        (tmp_path / file).write_bytes((artifacts / file).read_bytes())
    whole, _ = import_dbt(tmp_path)
    assert f"shop.main.shop.{OTHER.rpartition('.')[2]}" in json.dumps(whole)
    content = json.loads((artifacts / name).read_text())
    for path, text in cases(content, 120):
        (tmp_path / name).write_text(text)
        try:
            events, _ = import_dbt(tmp_path)
        except HeadwaterError:
            assert path in WHOLE, path
            continue
        check_events(events)
        if path not in WHOLE and OTHER not in path:
            jobs = [one["job"]["name"] for one in events if "job" in one]
            assert "shop.main.shop.other" in jobs, path


@pytest.mark.parametrize(
    ("name", "read"), [("manifest.json", read_models), ("catalog.json", read_catalog)]
)
def test_dbt_as_code(artifacts: Path, name: str, read: Callable[[str], Any]) -> None:
    for path, text in cases(json.loads((artifacts / name).read_text()), 500):
        try:
            found = str(read(text))
        except HeadwaterError:
            assert path == ("nodes",), path
            continue
        assert OTHER in path or path == ("nodes",) or "'other'" in found, path


def test_a_notebook() -> None:
    cell = {"cell_type": "code", "source": ["x = 1"], "metadata": {}, "outputs": []}
    for _, text in cases({"cells": [cell, dict(cell)], "metadata": {}, "nbformat": 4}, 500):
        with suppress(UnreadableError):
            parse_jupyter(text)


def test_a_query_log() -> None:
    row = {
        "query": "insert into a select x from b",
        "time": "2026-11-20T00:00:00Z",
        "end": 1_800_000_000,
        "user": "u",
        "database": "d",
        "schema": "s",
        "session": "1",
        "id": "i",
        "error": "",
        "status": "ok",
    }
    last = '{"query": "insert into c select y from e", "time": "2026-11-20T00:00:00Z"}\n'
    for path, text in cases(row, 500):
        report = ImportReport()
        file = SqlFile("log.jsonl", io.StringIO(f"{text}\n{last}"))
        events = list(read_sql([file], SqlOptions(NameRules(NAMESPACE)), report))
        check_events(events)
        assert any('"c"' in json.dumps(event["outputs"]) for event in events), (path, text[:300])


def test_a_message_of_atlas() -> None:
    attributes = {"qualifiedName": "shop.orders@primary", "name": "orders", "owner": "o"}
    entity = {
        "typeName": "hive_table",
        "guid": "g",
        "status": "ACTIVE",
        "attributes": attributes,
        "classifications": [{"typeName": "PII", "entityGuid": "g"}],
    }
    process = {
        "typeName": "hive_process",
        "guid": "p",
        "attributes": {
            "qualifiedName": "p@primary",
            "name": "p",
            "inputs": [{"typeName": "hive_table", "uniqueAttributes": attributes}],
            "outputs": [{"typeName": "hive_table", "guid": "g"}],
        },
    }
    referred = {"-1": {**entity, "guid": "-1"}}
    message = {
        "type": "ENTITY_CREATE_V2",
        "entities": {"entities": [entity, process], "referredEntities": referred},
        "eventTime": 1_767_268_800_000,
    }
    for _, text in cases({"message": message, "msgCreationTime": 1}, 1_000):
        try:
            check_events(events_of_message(text.encode(), 7))
        except HeadwaterError:
            continue


@pytest.mark.parametrize(
    ("type", "schema"),
    [
        (
            "AVRO",
            {
                "type": "record",
                "name": "Order",
                "namespace": "shop",
                "fields": [
                    {"name": "id", "type": "long", "doc": "d"},
                    {
                        "name": "price",
                        "type": {
                            "type": "bytes",
                            "logicalType": "decimal",
                            "precision": 10,
                            "scale": 2,
                        },
                    },
                    {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A"]}},
                    {"name": "lines", "type": {"type": "array", "items": "string"}},
                    {"name": "notes", "type": ["null", {"type": "map", "values": "int"}]},
                    {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 16}},
                ],
            },
        ),
        (
            "JSON",
            {
                "title": "Order",
                "type": "object",
                "required": ["id"],
                "properties": {
                    "id": {"type": "integer", "description": "d"},
                    "lines": {"type": "array", "items": {"$ref": "#/definitions/line"}},
                    "kind": {"oneOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
                },
                "definitions": {
                    "line": {"type": "object", "properties": {"sku": {"type": "string"}}}
                },
            },
        ),
    ],
)
def test_a_schema_of_a_registry(type: str, schema: dict[str, Any]) -> None:
    for _, text in cases(schema, 1_000):
        record_name(type, text)
        try:
            check_events(read_fields(type, text))
        except HeadwaterError:
            continue
