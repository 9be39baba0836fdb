"""The tables that files define or change, by the kind of file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from headwater.code_analysis.dbt.jinja import has_jinja, render
from headwater.code_analysis.dbt.project import (
    model_name,
    read_model,
    read_schema_file,
    read_seed,
    read_unresolved_model,
    render_resolved,
)
from headwater.code_analysis.model import CODE, FileContents, TableDefinition, UnreadableError
from headwater.code_analysis.notebooks import is_databricks, read_notebook
from headwater.code_analysis.pyspark.writes import read_script
from headwater.code_analysis.sql.ddl import read_statements
from headwater.code_analysis.sql.parse import TEXT_LENGTH_MAX

ENDINGS = (".sql", ".yml", ".yaml", ".csv", ".py", ".ipynb")
_MODEL_FOLDERS = {"models", "snapshots"}
# Folders whose templates are queries, but define no table.
_QUERY_FOLDERS = {"tests", "analyses", "analysis"}
_PYTHON_MODEL = re.compile(r"^def model\(\s*dbt\b", re.MULTILINE)


def kind_of(path: str) -> str:
    """Return the kind of a file, one of the keys of `_READERS`, or "" for any other file."""
    file = PurePosixPath(path.lower())
    folders, ending = set(file.parts[:-1]), file.suffix
    if ending in {".yml", ".yaml"}:
        return "schema" if folders & (_MODEL_FOLDERS | {"seeds"}) else ""
    if ending == ".csv":
        return "seed" if "seeds" in folders else ""
    if ending == ".sql":
        if folders & _MODEL_FOLDERS:
            return "model"
        return "macro" if "macros" in folders else "sql"
    return {".py": "python", ".ipynb": "notebook"}.get(ending, "")


def read_definitions(
    path: str | None, text: str | None, dialect: str, *, is_name_enough: bool = False
) -> FileContents:
    """Return the tables that one version of a file defines or changes. Raises UnreadableError.

    is_name_enough: the file is only moved or deleted, so that a model need not be readable."""
    kind = kind_of(path) if path else ""
    if not path or text is None or not kind:
        return FileContents()
    try:
        if path.lower().endswith(".sql") and len(text) > TEXT_LENGTH_MAX:
            raise UnreadableError(f"it is longer than {TEXT_LENGTH_MAX:,} characters")
        return _READERS[kind](text, path, dialect)
    except UnreadableError:
        if kind == "model" and is_name_enough:
            return read_unresolved_model(text, path)
        raise


def _read_schema(text: str, path: str, _dialect: str) -> FileContents:
    return read_schema_file(text, path)


def _read_seed(text: str, path: str, _dialect: str) -> FileContents:
    return read_seed(text, path)


def _read_sql(text: str, path: str, dialect: str) -> FileContents:
    if has_jinja(text):
        if render(text).is_model:
            # A model, a test or an analysis: the folders of a dbt project can be set.
            is_query = set(PurePosixPath(path.lower()).parts) & _QUERY_FOLDERS
            return FileContents() if is_query else read_model(text, path, dialect)
        text = render_resolved(text).texts[-1]
    contents = FileContents()
    read_statements(text, contents, path, dialect)
    return contents


def _read_macro(_text: str, _path: str, _dialect: str) -> FileContents:
    raise UnreadableError("a macro changed, and only dbt knows which models use it")


def _read_python(text: str, path: str, dialect: str) -> FileContents:
    folders = set(PurePosixPath(path.lower()).parts)
    if folders & _MODEL_FOLDERS and _PYTHON_MODEL.search(text):
        table = TableDefinition(model_name(path, {}), CODE, {}, True, text, path)
        return FileContents({table.key: table})
    if is_databricks(text):
        return read_notebook(text, path, is_python=True)
    return read_script(text, path, dialect) if _may_write(text) else FileContents()


def _read_notebook(text: str, path: str, _dialect: str) -> FileContents:
    return read_notebook(text, path, is_python=False) if _may_write(text) else FileContents()


def _may_write(text: str) -> bool:
    """Return True if code may write a table.

    Other code need not be valid in this version of Python."""
    return "spark" in text.lower() or ".write" in text or "alembic" in text


_READERS: dict[str, Callable[[str, str, str], FileContents]] = {
    "model": read_model,
    "seed": _read_seed,
    "schema": _read_schema,
    "sql": _read_sql,
    "macro": _read_macro,
    "python": _read_python,
    "notebook": _read_notebook,
}
