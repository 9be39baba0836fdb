"""The references of files: .sql, .py, .ipynb, dbt's manifest.json and catalog.json.

A file of another kind, or that cannot be read, is unknown.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from headwater.code_analysis.dbt import manifest
from headwater.code_analysis.dbt.references import references_in_model
from headwater.code_analysis.model import (
    ColumnLookup,
    References,
    TableName,
    no_columns,
    unknown_references,
)
from headwater.code_analysis.names import may_be_table

TIMEOUT_SECONDS = 20.0
_NO_TIME = "there was no time to read it"


@dataclass(frozen=True)
class CodeFile:
    """A piece of code: its path, the tables it is known to make, and its references."""

    path: str
    makes: frozenset[TableName]
    references: References


def read_files(
    files: Mapping[str, str],
    *,
    dialect: str = "",
    columns: ColumnLookup = no_columns,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> list[CodeFile]:
    """Return the code in files, by path.

    A catalog among the files adds columns to those of `columns`.

    Raises QueryError for a malformed manifest or catalog. Code that there is no time to read is
    unknown."""
    deadline = time.monotonic() + timeout_seconds
    columns = _with_catalogs(files, columns)
    codes = []
    for path, text in files.items():
        is_json = path.endswith(".json")
        if time.monotonic() > deadline:
            codes.append(CodeFile(path, frozenset(), unknown_references(_NO_TIME)))
        elif is_json and manifest.is_manifest(text):
            models = manifest.read_manifest(text)
            codes += [_read_model(model, dialect, columns, deadline) for model in models]
        elif not (is_json and manifest.is_catalog(text)):
            codes.append(read_file(path, text, dialect=dialect, columns=columns))
    return codes


def read_file(
    path: str, text: str, *, dialect: str = "", columns: ColumnLookup = no_columns
) -> CodeFile:
    """Return the code in one file.

    SQL that writes no table makes the table of its file name, as dbt models do."""
    suffix = PurePosixPath(path).suffix.casefold()
    if suffix == ".sql":
        references = references_in_model(text, dialect=dialect, columns=columns)
    elif suffix in (".py", ".ipynb"):
        references = references_in_script(text, suffix, dialect, columns)
    else:
        references = unknown_references(f"files like *{suffix} are not read")
    is_query = suffix == ".sql" and not references.targets
    makes = {(PurePosixPath(path).stem,)} if is_query else references.targets - {()}
    return CodeFile(path, frozenset(makes), references)


def references_in_script(text: str, suffix: str, dialect: str, columns: ColumnLookup) -> References:
    """Return the references of Python (.py) or of a notebook (.ipynb)."""
    # Imported here: most files are SQL.
    from headwater.code_analysis.notebooks import is_databricks, references_in_notebook
    from headwater.code_analysis.pyspark.references import references_in_python

    is_python = suffix == ".py"
    if not is_python or is_databricks(text):
        return references_in_notebook(text, is_python=is_python, dialect=dialect, columns=columns)
    return references_in_python(text, dialect=dialect, columns=columns)


def _read_model(
    model: manifest.DbtModel, dialect: str, columns: ColumnLookup, deadline: float
) -> CodeFile:
    """Return the code of a dbt model; its dependencies count as tables that it reads."""
    makes = frozenset({model.table})
    if time.monotonic() > deadline:
        return CodeFile(model.path, makes, unknown_references(_NO_TIME))
    if model.path.endswith(".py"):
        references = references_in_script(model.sql, ".py", dialect, columns)
    elif not model.sql.strip():
        references = unknown_references("the manifest has no code of it")
    else:
        references = references_in_model(model.sql, dialect=dialect, columns=columns)
    references = replace(references, tables=references.tables | set(model.upstream))
    return CodeFile(model.path, makes, references)


def _with_catalogs(files: Mapping[str, str], columns: ColumnLookup) -> ColumnLookup:
    """Return a lookup that completes `columns` with the catalogs among the files."""
    catalog: dict[TableName, list[str]] = {}
    for path, text in files.items():
        if path.endswith(".json") and manifest.is_catalog(text):
            catalog.update(manifest.read_catalog(text))
    if not catalog:
        return columns

    def look_up(table: TableName) -> list[str] | None:
        known_columns = columns(table)
        if known_columns is not None:
            return known_columns
        matching = [full_name for full_name in catalog if may_be_table(table, ".".join(full_name))]
        return catalog[matching[0]] if len(matching) == 1 else None

    return look_up
