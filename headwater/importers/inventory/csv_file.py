"""Inventories in CSV: a header with `namespace` and `name`, and a line for each asset."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TextIO

from headwater.errors import QueryError
from headwater.importers.inventory.assets import Asset
from headwater.importers.report import ImportReport

REQUIRED = ("namespace", "name")
OPTIONAL = ("type", "owner", "description")
_HINT = f"The first line names the columns: {','.join((*REQUIRED, *OPTIONAL))}."


def read_csv(stream: TextIO, file: str, report: ImportReport) -> Iterator[Asset]:
    """Yield the assets of a CSV file; a line that cannot be read is a problem of the report.

    Several owners are separated by `;`. Raises QueryError for a header that is no header.
    """
    rows = csv.reader(stream, strict=True)
    try:
        header = [name.strip().lower() for name in next(rows, [])]
    except csv.Error as error:
        raise QueryError(f"{file}:1: {error}", hint=_HINT) from error
    _require_header(header, file)
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            report.add_problem(f"{file}:{rows.line_num}", str(error))
            return
        if row is None:
            return
        if row:
            yield from _assets(header, row, f"{file}:{rows.line_num}", report)


def _require_header(header: list[str], file: str) -> None:
    for name in REQUIRED:
        if name not in header:
            raise QueryError(f"{file}:1: the column `{name}` is missing", hint=_HINT)
    for name in header:
        if name not in (*REQUIRED, *OPTIONAL):
            raise QueryError(f"{file}:1: `{name[:80]}` is an unknown column", hint=_HINT)
        if header.count(name) > 1:
            raise QueryError(f"{file}:1: the column `{name}` occurs twice", hint=_HINT)


def _assets(header: list[str], row: list[str], place: str, report: ImportReport) -> Iterator[Asset]:
    if len(row) != len(header):
        report.add_problem(place, f"{len(row)} columns, but the header has {len(header)}")
        return
    values = dict(zip(header, (value.strip() for value in row), strict=True))
    for name in REQUIRED:
        if not values[name]:
            report.add_problem(place, f"the column `{name}` is empty")
            return
    owners = values.get("owner", "").split(";")
    yield Asset(
        namespace=values["namespace"],
        name=values["name"],
        type=values.get("type", "").upper(),
        owners=tuple(owner.strip() for owner in owners if owner.strip()),
        description=values.get("description", ""),
    )
