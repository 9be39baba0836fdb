"""The table changes of a branch: files are read before and after, and compared together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from headwater.code_analysis.definitions import kind_of, read_definitions
from headwater.code_analysis.model import FileContents, TableChange, UnreadableError
from headwater.gate.diff import diff, diff_documented, merge
from headwater.gate.repository import FileChange


@dataclass(frozen=True)
class Problem:
    """Something that cannot be assessed, and so blocks. `line` is 0 if it is about no line."""

    file: str
    message: str
    line: int = 0


@dataclass(frozen=True)
class ChangedTables:
    """The changes of tables in changed files; `files` are the files that were read."""

    changes: list[TableChange] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


@dataclass
class _Version:
    """All files before or after, and the schema files apart from them."""

    code: dict[str, FileContents] = field(default_factory=dict)
    schemas: FileContents = field(default_factory=FileContents)


def find_changes(files: Iterable[FileChange], dialect: str = "") -> ChangedTables:
    """Return every change to a table in the changed files.

    A file that cannot be read is a problem."""
    before, after = _Version(), _Version()
    # The new names of tables whose files were renamed.
    moved: dict[str, str] = {}
    result = ChangedTables()
    for file in sorted(files, key=lambda file: file.path):
        kinds = [kind_of(path) for path in (file.before_path, file.after_path) if path]
        if not any(kinds):
            continue
        try:
            old, new = _read_versions(file, dialect)
        except UnreadableError as error:
            line = re.search(r"\bline (\d+)", str(error))
            result.problems.append(Problem(file.path, str(error), int(line[1]) if line else 0))
            continue
        except Exception as error:
            # A file that a parser fails on must not pass, whatever the error.
            message = f"it cannot be read: {type(error).__name__}: {error}"
            result.problems.append(Problem(file.path, message))
            continue
        result.files.append(file.path)
        if "schema" in kinds:
            before.schemas.tables |= old.tables
            after.schemas.tables |= new.tables
            continue
        before.code[file.path], after.code[file.path] = old, new
        is_renamed = file.before_path != file.after_path
        if is_renamed and len(old.tables) == len(new.tables) == 1:
            (old_key,), (table,) = old.tables, new.tables.values()
            moved[old_key] = table.name
    result.changes.extend(_diff_versions(before, after, moved))
    return result


def _read_versions(file: FileChange, dialect: str) -> tuple[FileContents, FileContents]:
    """Return the contents of a file before and after. Raises UnreadableError."""
    if file.problem:
        raise UnreadableError(file.problem)
    is_same = file.before == file.after
    is_deleted = file.after is None
    old = read_definitions(
        file.before_path, file.before, dialect, is_name_enough=is_same or is_deleted
    )
    new = read_definitions(file.after_path, file.after, dialect, is_name_enough=is_same)
    return old, new


def _diff_versions(before: _Version, after: _Version, moved: dict[str, str]) -> list[TableChange]:
    changes = diff(merge(before.code), merge(after.code), moved)
    defined: set[str] = set()
    for contents in after.code.values():
        defined |= {key for key, table in contents.tables.items() if not table.is_open}
    changes += diff_documented(before.schemas, after.schemas, defined)
    return sorted(changes, key=lambda change: (change.table.lower(), change.file))
