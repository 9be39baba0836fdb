"""The answer of a command in every form, and how it is written.

| format | form |
|---|---|
| table | for people: what `show` prints, or else the rows as a table |
| json | `data`, one JSON value |
| jsonl | one JSON object a line: `records`, or else the rows |
| csv, tsv | the rows, with a header; cells that a spreadsheet would run get a quote before them |
| markdown | the rows as a table |
| mermaid, dot, svg, png | the picture |
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.cells import to_json
from headwater.cli.output import tables
from headwater.cli.output.standard_output import standard_output
from headwater.errors import QueryError

if TYPE_CHECKING:
    from rich.console import Console

    from headwater.pictures.picture import Picture


class Format(StrEnum):
    """The formats of every question."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    MARKDOWN = "markdown"


class PictureFormat(StrEnum):
    """The formats of a question whose answer is a graph."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    MARKDOWN = "markdown"
    MERMAID = "mermaid"
    DOT = "dot"
    SVG = "svg"
    PNG = "png"


Show = Callable[["Console"], None]


@dataclass(frozen=True)
class Result:
    """An answer: JSON for programs, rows for tables, and what people see.

    `records` are the entries of the answer with everything in them, for JSON lines. `note` goes
    to standard error. `exit_code` is that of the command.
    """

    data: Any
    columns: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    records: Sequence[Any] | None = None
    show: Show | None = None
    picture: Picture | None = None
    note: str = ""
    exit_code: int = 0
    # The columns of prose, which a terminal may break into lines; names and urns stay whole.
    prose: frozenset[str] = field(default_factory=frozenset)


def write(result: Result, format: str, output: str | None) -> None:
    """Write a result to a file or to standard output. Raises QueryError."""
    if format == PictureFormat.PNG and output is None and sys.stdout.isatty():
        raise QueryError("a png is not for a terminal", hint="Name a file with --output FILE.")
    if format == Format.TABLE and output is None:
        from headwater.cli.render import console

        _show(result, console())
    else:
        _write_bytes(_render(result, format), output)
    if result.note:
        print(f"headwater: {result.note}", file=sys.stderr)


def write_stream(results: Iterable[Result], format: str, output: str | None) -> None:
    """Write results as they come, each at once: one table, with its header once."""
    if format not in set(Format):
        raise QueryError(f"--watch has no format {format}", hint="Use jsonl.")
    stream = _open(output)
    try:
        for number, result in enumerate(results):
            # A JSON array would never end.
            one_line = Format.JSONL if format == Format.JSON else format
            stream.write(_render(result, one_line, has_header=number == 0))
            stream.flush()
    finally:
        if output is not None:
            stream.close()


def _open(output: str | None) -> Any:
    if output is None:
        stdout = standard_output()
        sys.stdout.flush()
        return stdout
    try:
        return Path(output).open("wb")
    except OSError as error:
        raise QueryError(f"--output {output} cannot be written: {error.strerror}") from error


def _render(result: Result, format: str, *, has_header: bool = True) -> bytes:
    """Return a result as bytes in a format."""
    if format in set(PictureFormat) - set(Format):
        return _render_picture(result, format)
    if format == Format.TABLE:
        return _render_for_people(result)
    if format == Format.JSON:
        text = to_json(result.data, indent=2) + "\n"
    elif format == Format.JSONL:
        records = result.rows if result.records is None else result.records
        text = "".join(f"{to_json(record)}\n" for record in records)
    elif format == Format.MARKDOWN:
        text = tables.markdown(result.columns, result.rows, has_header=has_header)
    else:
        delimiter = "\t" if format == Format.TSV else ","
        text = tables.delimited(
            result.columns, result.rows, delimiter=delimiter, has_header=has_header
        )
    return text.encode("utf-8", "replace")


def _render_for_people(result: Result) -> bytes:
    from headwater.cli.render import captured_console

    console, captured = captured_console()
    _show(result, console)
    return captured.getvalue().encode("utf-8", "replace")


def _show(result: Result, console: Console) -> None:
    from headwater.cli.render import print_table, with_noun

    if result.show is not None:
        result.show(console)
        return
    print_table(console, result.columns, result.rows, prose=result.prose)
    console.print(f"[dim]{with_noun(len(result.rows), 'row')}[/]")


def _render_picture(result: Result, format: str) -> bytes:
    from headwater.pictures.picture import render

    if result.picture is None:
        raise QueryError(f"this answer has no picture, so no format {format}")
    return render(result.picture, format)


def _write_bytes(content: bytes, output: str | None) -> None:
    """Write to standard output, or to a file that appears only when it is complete."""
    if output is None:
        if isinstance(sys.stdout, StringIO):
            sys.stdout.write(content.decode())
            return
        stdout = standard_output()
        sys.stdout.flush()
        stdout.write(content)
        stdout.flush()
        return
    path = Path(output)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise QueryError(f"--output {output} cannot be written: {error.strerror}") from error
