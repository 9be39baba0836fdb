"""CodeFile by what kind of file it is: which tables each piece of it makes, and what it refers to.

Known are .sql (plain, or a model of dbt with its Jinja), .py, .ipynb, and dbt's manifest.json and catalog.json. What is
of another kind is unknown, and so is what cannot be read.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from headwater.code_analysis.dbt import manifest as dbt
from headwater.code_analysis.dbt.jinja import UNKNOWN, has_jinja, render
from headwater.code_analysis.model import References, TableName, nothing_known, same_table, together
from headwater.code_analysis.sql.parse import (
    TEXT_BYTES_MAX,
    Columns,
    references_in_sql,
    unknown_columns,
)

SECONDS_MAX = 20.0


@dataclass(frozen=True)
class CodeFile:
    """A piece of code: `path` says where it stands, `makes` which tables it makes as far as the code says."""

    path: str
    makes: frozenset[TableName]
    references: References


def read_files(
    files: Mapping[str, str],
    *,
    dialect: str = "",
    columns: Columns = unknown_columns,
    seconds: float = SECONDS_MAX,
) -> list[CodeFile]:
    """The code in some files, by path. `columns` tells those of a table; a catalog among the files tells more.

    Raises QueryError for a manifest or catalog that is none. What time does not suffice for is unknown."""
    deadline = time.monotonic() + seconds
    known = _catalogs(files, columns)
    found = []
    for path, text in files.items():
        if time.monotonic() > deadline:
            found.append(CodeFile(path, frozenset(), nothing_known("there was no time to read it")))
        elif path.endswith(".json") and dbt.is_manifest(text):
            found += [_model(model, dialect, known, deadline) for model in dbt.read_manifest(text)]
        elif not (path.endswith(".json") and dbt.is_catalog(text)):
            found.append(read_file(path, text, dialect=dialect, columns=known))
    return found


def read_file(
    path: str, text: str, *, dialect: str = "", columns: Columns = unknown_columns
) -> CodeFile:
    """The code in one file. A file that only asks makes the table of its own name, as a model of dbt does."""
    suffix = PurePosixPath(path).suffix.casefold()
    if suffix == ".sql":
        references = references_in_model(text, dialect=dialect, columns=columns)
    elif suffix in (".py", ".ipynb"):
        references = _script(text, suffix, dialect, columns)
    else:
        references = nothing_known(f"files like *{suffix} are not read")
    asks = suffix == ".sql" and not references.targets
    makes = frozenset({(PurePosixPath(path).stem,)}) if asks else references.targets - {()}
    return CodeFile(path, makes, references)


def references_in_model(
    text: str, *, dialect: str = "", columns: Columns = unknown_columns
) -> References:
    """What SQL refers to that may be a model of dbt."""
    if not has_jinja(text):
        return references_in_sql(text, dialect=dialect, columns=columns)
    if len(text) > TEXT_BYTES_MAX:
        return nothing_known(f"the SQL is longer than {TEXT_BYTES_MAX} characters")
    rendered = render(text)
    found = together(
        references_in_sql(one, dialect=dialect, columns=columns) for one in rendered.texts
    )
    lines = text.splitlines()
    read = tuple(
        replace(one, text=lines[one.line - 1].strip() if one.line <= len(lines) else one.text)
        for one in found.read
        if one.table != (UNKNOWN,) and one.column != UNKNOWN
    )
    tables = found.tables - {(UNKNOWN,)}
    return replace(found, read=read, tables=tables, unknown=(*found.unknown, *rendered.unknown))


def _script(text: str, suffix: str, dialect: str, columns: Columns) -> References:
    from headwater.code_analysis.notebooks import (
        is_databricks,
        references_in_databricks,
        references_in_notebook,
    )
    from headwater.code_analysis.pyspark.references import references_in_python

    if suffix == ".ipynb":
        return references_in_notebook(text, dialect=dialect, columns=columns)
    if is_databricks(text):
        return references_in_databricks(text, dialect=dialect, columns=columns)
    return references_in_python(text, dialect=dialect, columns=columns)


def _model(model: dbt.Model, dialect: str, columns: Columns, deadline: float) -> CodeFile:
    if time.monotonic() > deadline:
        return CodeFile(
            model.path, frozenset({model.makes}), nothing_known("there was no time to read it")
        )
    if model.path.endswith(".py"):
        references = _script(model.sql, ".py", dialect, columns)
    elif not model.sql.strip():
        references = nothing_known("the manifest has no code of it")
    else:
        references = references_in_model(model.sql, dialect=dialect, columns=columns)
    references = replace(references, tables=references.tables | set(model.upstream))
    return CodeFile(model.path, frozenset({model.makes}), references)


def _catalogs(files: Mapping[str, str], columns: Columns) -> Columns:
    told: dict[TableName, list[str]] = {}
    for path, text in files.items():
        if path.endswith(".json") and dbt.is_catalog(text):
            told.update(dbt.read_catalog(text))
    if not told:
        return columns

    def known(table: TableName) -> list[str] | None:
        found = columns(table)
        matching = (
            [names for one, names in told.items() if same_table(table, ".".join(one))]
            if found is None
            else []
        )
        return matching[0] if len(matching) == 1 else found

    return known
