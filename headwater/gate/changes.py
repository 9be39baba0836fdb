"""From changed files to changes: each file is read as what it is, before and after, and all are compared together."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from sqlglot import exp

from headwater.code_analysis.dbt.project import documented, model_name, render
from headwater.code_analysis.notebooks import is_databricks
from headwater.code_analysis.pyspark.writes import read_databricks, read_notebook, read_python
from headwater.code_analysis.sql.ddl import parse, read_statements
from headwater.code_analysis.sql.outputs import Query, read_outputs
from headwater.code_analysis.sql.parse import TEXT_BYTES_MAX
from headwater.code_analysis.tables import (
    CODE,
    MODEL,
    SEED,
    Column,
    FileContents,
    TableChange,
    TableDefinition,
    UnreadableError,
)
from headwater.gate.diff import diff, diff_documented, merge
from headwater.gate.repository import FileChange

ENDINGS = (".sql", ".yml", ".yaml", ".csv", ".py", ".ipynb")
_MODELS = {"models", "snapshots"}
_NO_MODELS = {"tests", "analyses", "analysis"}
_DBT = re.compile(r"\{\{-?\s*(?:ref|source|config)\s*\(")
_SNAPSHOT = re.compile(r"\{%-?\s*snapshot\s+(\w+)\s*-?%\}")


@dataclass(frozen=True)
class Problem:
    """Something that cannot be assessed, and so blocks. `line` is 0 where it is about no line."""

    file: str
    message: str
    line: int = 0


@dataclass(frozen=True)
class ReferenceCollector:
    """What the changed files change; `files` are those that were read."""

    deltas: list[TableChange] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def find_changes(changes: Iterable[FileChange], dialect: str = "") -> ReferenceCollector:
    """Every change to a table that the changed files make."""
    before: dict[str, FileContents] = {}
    after: dict[str, FileContents] = {}
    promised_before, promised_after = FileContents(), FileContents()
    moved: dict[str, str] = {}
    problems: list[Problem] = []
    files: list[str] = []
    for change in sorted(changes, key=lambda change: change.path):
        kinds = [kind_of(path) for path in (change.before_path, change.after_path) if path]
        if not any(kinds):
            continue
        try:
            if change.problem:
                raise UnreadableError(change.problem)
            old = _read(
                change.before_path,
                change.before,
                dialect,
                alone=change.after is None,
                same=_is_same(change),
            )
            new = _read(
                change.after_path, change.after, dialect, alone=False, same=_is_same(change)
            )
        except UnreadableError as error:
            line = re.search(r"\bline (\d+)", str(error))
            problems.append(Problem(change.path, str(error), int(line[1]) if line else 0))
            continue
        except Exception as error:
            # A parser that stumbles over a file must not let it pass, whatever it stumbles over.
            problems.append(
                Problem(change.path, f"it cannot be read: {type(error).__name__}: {error}")
            )
            continue
        files.append(change.path)
        if "schema" in kinds:
            promised_before.relations |= old.relations
            promised_after.relations |= new.relations
            continue
        before[change.path], after[change.path] = old, new
        if (
            change.before_path != change.after_path
            and len(old.relations) == len(new.relations) == 1
        ):
            moved[next(iter(old.relations))] = next(iter(new.relations.values())).name
    deltas = diff(merge(before), merge(after), moved)
    told = {
        key
        for contents in after.values()
        for key, one in contents.relations.items()
        if not one.open
    }
    deltas += diff_documented(promised_before, promised_after, told)
    return ReferenceCollector(
        sorted(deltas, key=lambda delta: (delta.relation.lower(), delta.file)), problems, files
    )


def _is_same(change: FileChange) -> bool:
    return change.before == change.after


def kind_of(path: str) -> str:
    """What a file is to the gate: model, seed, schema, sql, python, notebook, macro; "" when it is nothing to it."""
    place = PurePosixPath(path.lower())
    folders, ending = set(place.parts[:-1]), place.suffix
    if ending in {".yml", ".yaml"}:
        return "schema" if folders & (_MODELS | {"seeds"}) else ""
    if ending == ".csv":
        return "seed" if "seeds" in folders else ""
    if ending == ".sql":
        return "model" if folders & _MODELS else "macro" if "macros" in folders else "sql"
    return {".py": "python", ".ipynb": "notebook"}.get(ending, "")


def _read(
    path: str | None, text: str | None, dialect: str, *, alone: bool, same: bool
) -> FileContents:
    """What one side of a file says. Where only its name counts (it is gone, or was only moved) a model need not be
    readable. Raises UnreadableError."""
    kind = kind_of(path) if path else ""
    if not path or text is None or not kind:
        return FileContents()
    try:
        if path.lower().endswith(".sql") and len(text) > TEXT_BYTES_MAX:
            raise UnreadableError(f"it is longer than {TEXT_BYTES_MAX:,} characters")
        return _READERS[kind](text, path, dialect)
    except UnreadableError:
        if kind == "model" and (alone or same):
            rest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
            return _one(
                TableDefinition(
                    _snapshot(text) or model_name(path, {}), MODEL, {}, True, rest, path
                )
            )
        raise


def _one(relation: TableDefinition) -> FileContents:
    return FileContents({relation.key: relation})


def _model(text: str, path: str, dialect: str) -> FileContents:
    template = render(text)
    if template.config.get("enabled") is False:
        return FileContents()
    ways = [_query(sql, dialect) for sql in template.texts]
    if any(
        way.columns.keys() != ways[0].columns.keys() or way.open != ways[0].open for way in ways
    ):
        raise UnreadableError("which columns it has depends on a condition of its template")
    # The last way is the one into no condition: what a model is when it is built afresh.
    columns, rest = ways[-1].columns, "\n".join([*(way.rest for way in ways), template.rest])
    line = next((number for number, row in enumerate(text.splitlines(), 1) if row.strip()), 1)
    name = _snapshot(text) or model_name(path, template.config)
    return _one(TableDefinition(name, MODEL, columns, ways[0].open, rest, path, line))


def _query(sql: str, dialect: str) -> Query:
    statements = parse(sql, dialect)
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise UnreadableError("a model is one query, and this is not")
    return read_outputs(statements[0], dialect)


def _snapshot(text: str) -> str:
    found = _SNAPSHOT.search(text)
    return found[1] if found else ""


def _seed(text: str, path: str, _dialect: str) -> FileContents:
    try:
        header = next(csv.reader(io.StringIO(text)), [])
    except csv.Error as error:
        raise UnreadableError(f"it is no CSV: {error}") from error
    columns = {name.strip().lower(): Column(name.strip()) for name in header}
    return _one(TableDefinition(model_name(path, {}), SEED, columns, file=path))


def _schema(text: str, path: str, _dialect: str) -> FileContents:
    return FileContents(documented(text, path))


def _sql(text: str, path: str, dialect: str) -> FileContents:
    if _DBT.search(text):
        # A model, or a test or an analysis, that lies where models do not: where they lie can be set.
        return (
            FileContents()
            if set(PurePosixPath(path.lower()).parts) & _NO_MODELS
            else _model(text, path, dialect)
        )
    if "{{" in text or "{%" in text:
        text = render(text).texts[-1]
    return read_statements(text, path, dialect)


def _macro(_text: str, _path: str, _dialect: str) -> FileContents:
    raise UnreadableError("a macro changed: which models it changes, only dbt knows")


def _python(text: str, path: str, dialect: str) -> FileContents:
    if (
        re.search(r"^def model\(\s*dbt\b", text, re.MULTILINE)
        and set(PurePosixPath(path.lower()).parts) & _MODELS
    ):
        return _one(TableDefinition(model_name(path, {}), CODE, {}, True, text, path))
    if is_databricks(text):
        return read_databricks(text, path)
    return read_python(text, path, dialect) if _may_write(text) else FileContents()


def _notebook(text: str, path: str, _dialect: str) -> FileContents:
    return read_notebook(text, path) if _may_write(text) else FileContents()


def _may_write(text: str) -> bool:
    """Whether it may concern a table at all: other code need not even be of this version of Python."""
    return "spark" in text.lower() or ".write" in text or "alembic" in text


_READERS: dict[str, Callable[[str, str, str], FileContents]] = {
    "model": _model,
    "seed": _seed,
    "schema": _schema,
    "sql": _sql,
    "macro": _macro,
    "python": _python,
    "notebook": _notebook,
}
