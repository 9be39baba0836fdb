"""Results as data frames of pandas and as HTML for notebooks.

pandas is imported only here, and only when a frame is made. Names come from events and are not
trusted: each cell is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from headwater.cells import text_of
from headwater.errors import QueryError
from headwater.pictures.html_escape import escape

if TYPE_CHECKING:
    import pandas

HTML_ROWS_MAX = 50
_CELL_CHARACTERS_MAX = 200
_CAPITAL = re.compile(r"(?<!^)([A-Z])")
Rows = Sequence[Mapping[str, Any]]


class Frames(NamedTuple):
    """The nodes and the edges of a graph as data frames of pandas."""

    nodes: pandas.DataFrame
    edges: pandas.DataFrame


def to_frame(records: Iterable[msgspec.Struct], kind: type[msgspec.Struct]) -> pandas.DataFrame:
    """Return records of one type as a data frame with a column for each field."""
    names = [field.name for field in msgspec.structs.fields(kind)]
    return frame_of_rows(rows_of(records, names), names)


def rows_of(records: Iterable[msgspec.Struct], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the fields of these names of each record."""
    return [_row(record, names) for record in records]


def _row(record: msgspec.Struct, names: Sequence[str]) -> dict[str, Any]:
    return {name: _cell(getattr(record, name)) for name in names}


def _cell(value: Any) -> Any:
    """Return a value for one cell: a node as its urn, other records as dictionaries."""
    if isinstance(value, tuple):
        return [_cell(one) for one in value]
    if not isinstance(value, msgspec.Struct):
        return value
    fields = msgspec.structs.asdict(value)
    if fields.keys() == {"urn"}:
        return fields["urn"]
    return {name: _cell(one) for name, one in fields.items()}


def frame_of_rows(rows: Rows, columns: Sequence[str] | None = None) -> pandas.DataFrame:
    """Return rows as a data frame, keys in the spelling of Python. Raises QueryError without
    pandas.
    """
    try:
        import pandas
    except ImportError as error:
        raise QueryError(
            "a data frame needs pandas, which is not installed", hint="pip install pandas"
        ) from error
    if columns is not None:
        return pandas.DataFrame(list(rows), columns=list(columns))
    return pandas.DataFrame([_in_python_spelling(row) for row in rows])


def _in_python_spelling(row: Mapping[str, Any]) -> dict[str, Any]:
    return {_snake(key): value for key, value in row.items()}


def _snake(name: str) -> str:
    return _CAPITAL.sub(r"_\1", name).lower()


def html_table(records: Sequence[msgspec.Struct], columns: Sequence[str], *, caption: str) -> str:
    """Return these fields of the first records as an HTML table."""
    return html_of_rows(rows_of(records, columns), columns, caption=caption)


def html_of_rows(rows: Rows, columns: Sequence[str], *, caption: str) -> str:
    """Return the first rows as an HTML table, without the columns that are empty."""
    shown = rows[:HTML_ROWS_MAX]
    names = [name for name in columns if not shown or _is_filled(shown, name)]
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(_html_row(row, names) for row in shown)
    more = len(rows) - len(shown)
    rest = f"<p>and {more:,} more rows</p>" if more else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div><p>{escape(caption)}</p>{table}{rest}</div>"


def _is_filled(rows: Rows, name: str) -> bool:
    return any(text_of(row.get(name)) for row in rows)


def _html_row(row: Mapping[str, Any], names: Iterable[str]) -> str:
    cells = [f"<td>{escape(_clipped(text_of(row.get(name))))}</td>" for name in names]
    return f"<tr>{''.join(cells)}</tr>"


def _clipped(text: str) -> str:
    if len(text) <= _CELL_CHARACTERS_MAX:
        return text
    return f"{text[: _CELL_CHARACTERS_MAX - 1]}…"


def html_picture(drawing: str, caption: str) -> str:
    """Return a drawing with its caption, which scrolls if it is wide."""
    return f'<div><p>{escape(caption)}</p><div style="overflow-x:auto">{drawing}</div></div>'
