"""Notebooks: Jupyter's .ipynb, and the .py files in which Databricks stores its notebooks.

Python cells are read as one script, in order, so that a frame of one cell is known in the next.
Cells and lines of SQL (`%%sql`, `%sql`) are read as SQL. Other magics and shell lines are
ignored. A whole cell in another language is unknown. Lines are counted through all cells.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from headwater.code_analysis.model import (
    ColumnLookup,
    FileContents,
    References,
    UnreadableError,
    merge_references,
    no_columns,
    unknown_references,
)
from headwater.code_analysis.pyspark.references import references_in_python
from headwater.code_analysis.pyspark.writes import read_script
from headwater.code_analysis.sql.ddl import read_statements
from headwater.code_analysis.sql.parse import TEXT_LENGTH_MAX
from headwater.code_analysis.sql.references import references_in_sql
from headwater.code_analysis.steps import Steps

# A notebook holds outputs too; only its code is bounded by TEXT_LENGTH_MAX.
NOTEBOOK_LENGTH_MAX = 8 * TEXT_LENGTH_MAX
# Their repeats are possessive: a line of spaces takes no longer than a line of code.
_SQL_LINE = re.compile(r"(\s*+)(?:\w++\s*+=\s*+)?%sql\s++(.+)")
_MAGIC_LINE = re.compile(r"(\s*+)(?:(?:[\w, ]++\s*+=\s*+)?[%!].*|\?.*|[\w.]++\?{1,2}\s*+)")
_SQL_START = re.compile(r"(select|with|insert|create|merge|update|delete|alter|drop)\b", re.I)
_WRITING_WORDS = re.compile(r"\bwrite\b|insert|create|drop|alter", re.IGNORECASE)
_PYTHON_MAGICS = ("time", "timeit", "capture", "python", "python3", "pyspark", "prun", "spark")
_TEXT_MAGICS = ("html", "markdown", "md", "latex", "javascript", "js", "svg", "writefile")
# Magics that Databricks and Jupyter also accept with one `%` for a whole cell.
_SHORT_CELL_MAGICS = ("sql", "md", "sh", "scala", "r")
_DATABRICKS_START = "# Databricks notebook source"


@dataclass
class Notebook:
    """The code of a notebook.

    script: all Python, with empty lines in place of other cells and `pass` in place of magics.
    sql: the texts of SQL cells and lines.
    others: the language and source of cells in other languages."""

    script: list[str] = field(default_factory=list)
    sql: list[str] = field(default_factory=list)
    others: list[tuple[str, str]] = field(default_factory=list)


def is_databricks(text: str) -> bool:
    """Return True for a notebook that Databricks stored as Python."""
    return text.lstrip("\ufeff").startswith(_DATABRICKS_START)


def parse_jupyter(text: str) -> Notebook:
    """Return the code of an .ipynb of any version. Raises UnreadableError."""
    if len(text) > NOTEBOOK_LENGTH_MAX:
        raise UnreadableError("the notebook is too long")
    text = text.removeprefix("\ufeff")
    try:
        content = json.loads(text)
        if "worksheets" in content:
            content = _upgrade(text)
        if not isinstance(content["cells"], list):
            raise TypeError("its cells are no list")
        cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
        sources = [_cell_source(cell) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise UnreadableError(f"it is not a notebook: {problem}") from error
    return _split_cells(sources)


def parse_databricks(text: str) -> Notebook:
    """Return the code of a Databricks notebook, whose magics are comments."""
    sources = []
    for cell in re.split(r"^# COMMAND -+\s*$", text, flags=re.MULTILINE):
        magic = [line for line in cell.splitlines() if line.startswith("# MAGIC")]
        lines = [line.removeprefix("# MAGIC").removeprefix(" ") for line in magic]
        sources.append("\n".join(lines) if magic else cell)
    return _split_cells(sources)


def references_in_notebook(
    text: str, *, is_python: bool, dialect: str = "", columns: ColumnLookup = no_columns
) -> References:
    """Return the references of a notebook. `is_python`: Databricks stored it as Python."""
    try:
        notebook = parse_databricks(text) if is_python else parse_jupyter(text)
    except UnreadableError as error:
        return unknown_references(str(error))
    if is_python:
        dialect = dialect or "databricks"
    script = "\n".join(notebook.script)
    steps = Steps()
    pieces = [references_in_python(script, dialect=dialect, columns=columns, steps=steps)]
    sql_dialect = dialect or "spark"
    pieces += [
        references_in_sql(sql, dialect=sql_dialect, columns=columns, steps=steps)
        for sql in notebook.sql
    ]
    pieces += [
        unknown_references(f"a cell of {language} is not read") for language, _ in notebook.others
    ]
    return merge_references(pieces)


def read_notebook(text: str, path: str, *, is_python: bool) -> FileContents:
    """Return the tables that a notebook writes and changes.

    Raises UnreadableError, also for a cell in another language that seems to write tables."""
    notebook = parse_databricks(text) if is_python else parse_jupyter(text)
    for language, source in notebook.others:
        if _WRITING_WORDS.search(source):
            raise UnreadableError(f"the effect of a cell of {language} is not known")
    contents = read_script("\n".join(notebook.script), path)
    for sql in notebook.sql:
        read_statements(sql, contents, path, "spark")
    return contents


def _upgrade(text: str) -> Any:
    """Return a notebook of an old version in version 4."""
    import nbformat

    try:
        return nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    except Exception as error:  # its parsers and its validation raise errors of many types
        raise ValueError(str(error)) from error


def _cell_source(cell: dict[str, Any]) -> str:
    """Return the code of a cell. Raises TypeError if it is neither a text nor a list of texts."""
    source = cell["source"]
    if not isinstance(source, str | list):
        raise TypeError("the source of a cell is no text")
    return source if isinstance(source, str) else "".join(source)


def _split_cells(sources: Iterable[str]) -> Notebook:
    """Return the code of cells by language."""
    notebook = Notebook()
    for source in sources:
        first, _, rest = source.lstrip().partition("\n")
        magic = first.lstrip("%").partition(" ")[0].strip().casefold()
        is_short = magic in _SHORT_CELL_MAGICS and bool(rest.strip())
        if not first.startswith("%%") and not (first.startswith("%") and is_short):
            notebook.script += _without_magics(source, notebook)
            continue
        if magic in _PYTHON_MAGICS:
            notebook.script += _without_magics(rest, notebook)
            continue
        if magic.endswith("sql"):
            notebook.sql.append(_sql_of_cell(first, rest))
        elif magic not in _TEXT_MAGICS:
            notebook.others.append((magic or "another language", source))
        notebook.script += [""] * (source.count("\n") + 1)
    return notebook


def _sql_of_cell(first: str, rest: str) -> str:
    """Return the SQL of a cell. The line of the magic may hold SQL, or options of the magic."""
    after = first.lstrip("%").partition(" ")[2].strip()
    return f"{after}\n{rest}" if _SQL_START.match(after) else rest


def _without_magics(source: str, notebook: Notebook) -> list[str]:
    """Return the lines of a Python cell with `pass` for each magic. Collect lines of SQL."""
    lines = []
    for line in source.splitlines():
        sql = _SQL_LINE.fullmatch(line)
        if sql is not None:
            notebook.sql.append(sql[2])
        magic = sql or _MAGIC_LINE.fullmatch(line)
        lines.append(f"{magic[1]}pass" if magic else line)
    return lines
