"""What notebooks refer to: Jupyter's .ipynb, and the .py files into which Databricks writes its own.

Cells of Python are read as one script, in order, so that a frame made in one is known in the next; cells and lines of
SQL (`%%sql`, `%sql`) are read as SQL. Other magics and shell lines stand for nothing; a whole cell in another language
is unknown. Lines are counted through all cells.
"""

from __future__ import annotations

import re

from headwater.code_analysis.model import References, nothing_known, together
from headwater.code_analysis.pyspark.references import references_in_python
from headwater.code_analysis.sql.parse import (
    TEXT_BYTES_MAX,
    Columns,
    references_in_sql,
    unknown_columns,
)

_SQL_LINE = re.compile(r"^(\s*)(?:(\w+)\s*=\s*)?%sql\s+(.+)$")
_MAGIC = re.compile(r"^(\s*)(?:(?:[\w, ]+\s*=\s*)?[%!].*|\?.*|[\w.]+\?{1,2}\s*)$")
_PYTHON_CELLS = ("time", "timeit", "capture", "python", "python3", "pyspark", "prun", "spark")
_SILENT_CELLS = ("html", "markdown", "md", "latex", "javascript", "js", "svg", "writefile")
_DATABRICKS = "# Databricks notebook source"
_OUTPUTS_MAX = 8
# A longer line is no magic.
_LINE_CHARACTERS_MAX = 2_000


def references_in_notebook(
    text: str, *, dialect: str = "", columns: Columns = unknown_columns
) -> References:
    """What an .ipynb refers to."""
    if len(text) > TEXT_BYTES_MAX * _OUTPUTS_MAX:
        return nothing_known("the notebook is too long")
    import nbformat

    try:
        cells = nbformat.reads(text, as_version=4).cells  # type: ignore[no-untyped-call]
        sources = [str(cell.source) for cell in cells if cell.cell_type == "code"]
    except Exception as error:  # nbformat raises whatever its parsers and its validation do
        return nothing_known(f"the notebook cannot be read: {type(error).__name__}")
    return _read(sources, dialect, columns)


def is_databricks(text: str) -> bool:
    return text.lstrip("\ufeff").startswith(_DATABRICKS)


def references_in_databricks(
    text: str, *, dialect: str = "", columns: Columns = unknown_columns
) -> References:
    """What a notebook of Databricks refers to that was written as Python, its magics as comments."""
    cells = []
    for cell in re.split(r"^# COMMAND -+\s*$", text, flags=re.MULTILINE):
        magic = [line for line in cell.splitlines() if line.startswith("# MAGIC")]
        if magic:
            lines = (line.removeprefix("# MAGIC").removeprefix(" ") for line in magic)
            cells.append("\n".join(lines))
        else:
            cells.append(cell)
    return _read(cells, dialect or "databricks", columns)


def _read(sources: list[str], dialect: str, columns: Columns) -> References:
    script: list[str] = []
    found = []
    for source in sources:
        first, _, rest = source.lstrip().partition("\n")
        word = (
            first.lstrip("%").partition(" ")[0].strip().casefold() if first.startswith("%") else ""
        )
        is_whole = first.startswith("%%") or (
            word in ("sql", "md", "sh", "scala", "r") and bool(rest.strip())
        )
        if word == "sql" and is_whole:
            found.append(
                references_in_sql(_inside(first, rest), dialect=dialect or "spark", columns=columns)
            )
        elif is_whole and word not in (*_PYTHON_CELLS, *_SILENT_CELLS):
            found.append(nothing_known(f"a cell of {word or 'another language'} is not read"))
        elif not (is_whole and word in _SILENT_CELLS):
            script += _without_magics(rest if is_whole else source, found, dialect, columns)
            continue
        script += [""] * (source.count("\n") + 1)
    return together(
        [references_in_python("\n".join(script), dialect=dialect, columns=columns), *found]
    )


def _inside(first: str, rest: str) -> str:
    """The SQL of a cell: what stands on the line of the magic counts where it is SQL and no option of it."""
    after = first.lstrip("%").partition(" ")[2].strip()
    return (
        f"{after}\n{rest}"
        if re.match(r"(select|with|insert|create|merge|update|delete)\b", after, re.I)
        else rest
    )


def _without_magics(
    source: str, found: list[References], dialect: str, columns: Columns
) -> list[str]:
    lines = []
    for line in source.splitlines():
        sql = _SQL_LINE.match(line)
        if sql is not None:
            found.append(references_in_sql(sql[3], dialect=dialect or "spark", columns=columns))
        magic = sql or (_MAGIC.match(line) if len(line) <= _LINE_CHARACTERS_MAX else None)
        lines.append(f"{magic[1]}pass" if magic else line)
    return lines
