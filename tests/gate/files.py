"""One file before and after, and the changes that the gate finds in it."""

from __future__ import annotations

from typing import Any

from headwater.code_analysis.model import TableChange
from headwater.gate.changes import find_changes
from headwater.gate.repository import FileChange


def one_file(
    before: str | None, after: str | None, path: str = "models/m.sql", *, was: str = ""
) -> FileChange:
    return FileChange(
        (was or path) if before is not None else None,
        path if after is not None else None,
        before,
        after,
    )


def table_changes(*changes: FileChange, dialect: str = "") -> list[TableChange]:
    found = find_changes(changes, dialect)
    assert found.problems == []
    return found.changes


def changes_of(
    before: str | None, after: str | None, path: str = "models/m.sql"
) -> list[dict[str, Any]]:
    return [dict(delta.change) for delta in table_changes(one_file(before, after, path))]


def problem(text: str, path: str = "models/m.sql", before: str | None = None) -> tuple[str, int]:
    found = find_changes([one_file(before, text, path)])
    assert (found.changes, len(found.problems)) == ([], 1)
    return found.problems[0].message, found.problems[0].line
