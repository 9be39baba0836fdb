"""Files of a dbt project as table definitions: models, schema files and seeds."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from headwater.code_analysis.dbt.jinja import RenderedTemplate, render
from headwater.code_analysis.model import (
    MODEL,
    SEED,
    SOURCE,
    ColumnDefinition,
    FileContents,
    TableDefinition,
    UnreadableError,
)
from headwater.code_analysis.sql.outputs import parse_query
from headwater.code_analysis.sql.parse import TEXT_LENGTH_MAX


def read_model(text: str, path: str, dialect: str) -> FileContents:
    """Return the table that a model defines.

    Raises UnreadableError if loops or conditions of the template decide its columns: only dbt
    knows the result."""
    template = render_resolved(text)
    if template.config.get("enabled") is False:
        return FileContents()
    queries = [parse_query(sql, dialect) for sql in template.texts]
    first = queries[0]
    for query in queries:
        if query.columns.keys() != first.columns.keys() or query.is_open != first.is_open:
            raise UnreadableError("its columns depend on a condition of its template")
    row_logic = [*(query.row_logic for query in queries), *template.expressions]
    line = next((number for number, row in enumerate(text.splitlines(), 1) if row.strip()), 1)
    return _single(
        TableDefinition(
            template.snapshot or model_name(path, template.config),
            MODEL,
            # The last text enters no condition: the model as a full refresh builds it.
            queries[-1].columns,
            first.is_open,
            "\n".join(row_logic),
            path,
            line,
        )
    )


def read_unresolved_model(text: str, path: str) -> FileContents:
    """Return the table of a moved or deleted model, whose columns need not be known."""
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
    snapshot = render(text).snapshot if len(text) <= TEXT_LENGTH_MAX else ""
    name = snapshot or model_name(path, {})
    return _single(TableDefinition(name, MODEL, {}, True, digest, path))


def render_resolved(text: str) -> RenderedTemplate:
    """Return a template as SQL. Raises UnreadableError if it has parts that only dbt can run."""
    if len(text) > TEXT_LENGTH_MAX:
        raise UnreadableError(f"it is longer than {TEXT_LENGTH_MAX:,} characters")
    template = render(text)
    if template.unresolved:
        raise UnreadableError(f"{template.unresolved[0]}, and only dbt knows the result")
    return template


def model_name(path: str, config: Mapping[str, Any]) -> str:
    """Return the table name of a model: its alias, else the name of its file."""
    alias = config.get("alias")
    return alias if isinstance(alias, str) and alias else PurePosixPath(path).stem


def read_seed(text: str, path: str) -> FileContents:
    """Return the table of a seed, whose columns are the header of its CSV.

    Raises UnreadableError."""
    try:
        header = next(csv.reader(io.StringIO(text)), [])
    except csv.Error as error:
        raise UnreadableError(f"it is not CSV: {error}") from error
    columns = {name.strip().lower(): ColumnDefinition(name.strip()) for name in header}
    return _single(TableDefinition(model_name(path, {}), SEED, columns, file=path))


def read_schema_file(text: str, path: str) -> FileContents:
    """Return the tables that a schema file describes, or whose columns it enforces.

    Raises UnreadableError."""
    try:
        import yaml

        from headwater.bounded_yaml import BoundedAliasLoader
    except ImportError as error:
        message = "PyYAML is not installed, and it reads schema files: pip install pyyaml"
        raise UnreadableError(message) from error
    try:
        content = yaml.load(text, BoundedAliasLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UnreadableError(f"it is not YAML: {str(error)[:200]}") from error
    contents = FileContents()
    for name, kind, entry in _table_entries(content):
        line = _line_of_name(name, text)
        columns: dict[str, ColumnDefinition] = {}
        for column in _dicts(entry.get("columns")):
            if isinstance(column.get("name"), str):
                type = column.get("data_type")
                columns[column["name"].lower()] = ColumnDefinition(
                    column["name"], type=str(type) if type else None, line=line
                )
        is_enforced = kind != MODEL or _has_enforced_contract(entry)
        table = TableDefinition(name, kind, columns, file=path, line=line, is_enforced=is_enforced)
        contents.tables[table.key] = table
    return contents


def _single(table: TableDefinition) -> FileContents:
    return FileContents({table.key: table})


def _line_of_name(name: str, text: str) -> int:
    pattern = re.compile(rf"name:\s*.?{re.escape(name.rpartition('.')[2])}\b")
    rows = enumerate(text.splitlines(), 1)
    return next((number for number, row in rows if pattern.search(row)), 1)


def _table_entries(content: Any) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the name, kind and entry of each table of a schema file."""
    if not isinstance(content, dict):
        return
    for section, kind in (("models", MODEL), ("seeds", SEED), ("snapshots", MODEL)):
        for entry in _dicts(content.get(section)):
            if isinstance(entry.get("name"), str):
                yield entry["name"], kind, entry
    for source in _dicts(content.get("sources")):
        schema = source.get("schema") or source.get("name")
        for entry in _dicts(source.get("tables")):
            name = entry.get("identifier") or entry.get("name")
            if isinstance(name, str):
                yield f"{schema}.{name}", SOURCE, entry


def _dicts(content: Any) -> list[dict[str, Any]]:
    return [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []


def _has_enforced_contract(entry: Mapping[str, Any]) -> bool:
    config = entry.get("config")
    in_config = config.get("contract") if isinstance(config, dict) else None
    contract = entry.get("contract") or in_config
    return isinstance(contract, dict) and contract.get("enforced") is True
