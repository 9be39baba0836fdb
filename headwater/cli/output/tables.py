"""Rows as CSV, TSV and Markdown, safe for the program that opens them.

A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@`; such text gets a quote before it
(https://owasp.org/www-community/attacks/CSV_Injection). In Markdown each name is a code span, in
which no markup, link or mention is read.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from headwater.cells import one_line, text_of

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
_FULL_WIDTH_STARTS = ("\uff1d", "\uff0b", "\uff0d", "\uff20")
_CELL_CHARACTERS_MAX = 32_000

Rows = Sequence[Mapping[str, Any]]


def delimited(
    columns: Sequence[str], rows: Rows, *, delimiter: str = ",", has_header: bool = True
) -> str:
    """Return rows as lines of cells; a cell with a delimiter or a line break is quoted."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    if has_header:
        writer.writerow(columns)
    for row in rows:
        writer.writerow([_safe_cell(row.get(column)) for column in columns])
    return stream.getvalue()


def _safe_cell(value: Any) -> Any:
    """Return a number as it is, and text that a spreadsheet does not run."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    # A lone carriage return would end the row for most readers.
    text = text_of(value).replace("\r\n", "\n").replace("\r", "\n")
    if text.lstrip(" ").startswith(_FORMULA_STARTS + _FULL_WIDTH_STARTS):
        return f"'{text}"
    return text


def markdown(columns: Sequence[str], rows: Rows, *, has_header: bool = True) -> str:
    """Return rows as a table of GitHub's Markdown."""
    lines = []
    if has_header:
        lines = [_line(columns), _line(["---"] * len(columns))]
    lines += [_line([_markdown_cell(row.get(column)) for column in columns]) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(value: Any) -> str:
    from headwater.gate.reports.markdown import code_span

    if value is None or value == "" or value == []:
        return ""
    if isinstance(value, bool | int | float):
        return text_of(value)
    return code_span(one_line(text_of(value)), _CELL_CHARACTERS_MAX)
