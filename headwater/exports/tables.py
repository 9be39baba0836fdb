"""The graph as tables in one SQLite or DuckDB file, for Superset, Metabase and other SQL tools.

`TABLES` is the schema, which docs/how-to/export.md explains. Times are texts in ISO 8601, UTC, in
SQLite, which has no type for them, and TIMESTAMP in DuckDB. The file appears, or replaces its
predecessor, only when it is complete, so a tool that reads it meanwhile sees the old tables.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from headwater.errors import QueryError
from headwater.exports.part import Part
from headwater.exports.rows import (
    Node,
    column_edges,
    dataset_of,
    job_edges,
    job_of,
    nodes,
    visible_runs,
)
from headwater.health.findings.listing import findings
from headwater.health.service_levels.definitions import SERVICE_LEVELS
from headwater.health.service_levels.evaluation import evaluate
from headwater.lineage.pagination import PageRequest
from headwater.lineage.view import GraphView

TEXT, TIME, INTEGER, REAL, BOOLEAN = "TEXT", "TIMESTAMP", "BIGINT", "DOUBLE", "BOOLEAN"
_ROWS_PER_INSERT = 2_000
_FINDINGS_PER_PAGE = 100

SqlRow = tuple[Any, ...]


class Table(NamedTuple):
    """A table: the names and types of its columns, in order."""

    name: str
    columns: tuple[tuple[str, str], ...]


def _table(name: str, /, **columns: str) -> Table:
    return Table(name, tuple(columns.items()))


_NAMED = {"urn": TEXT, "namespace": TEXT, "name": TEXT, "type": TEXT}
_SEEN = {"first_seen": TIME, "last_seen": TIME}
TABLES = (
    _table("datasets", **_NAMED, description=TEXT, storage=TEXT, deprecated_at=TIME, **_SEEN),
    _table("columns", urn=TEXT, dataset=TEXT, name=TEXT, type=TEXT, is_current=BOOLEAN),
    _table("jobs", **_NAMED, integration=TEXT, processing=TEXT, description=TEXT, **_SEEN),
    _table(
        "runs",
        urn=TEXT,
        run_id=TEXT,
        job=TEXT,
        status=TEXT,
        started_at=TIME,
        finished_at=TIME,
        seconds=REAL,
        error=TEXT,
        code_version=TEXT,
    ),
    _table("edges", job=TEXT, dataset=TEXT, direction=TEXT, is_current=BOOLEAN, **_SEEN),
    _table("column_edges", source=TEXT, target=TEXT, job=TEXT, transformation=TEXT),
    _table(
        "findings",
        urn=TEXT,
        rule=TEXT,
        subject=TEXT,
        tier=TEXT,
        is_open=BOOLEAN,
        first_seen=TIME,
        last_seen=TIME,
        resolved_at=TIME,
        affected_datasets=INTEGER,
        affected_jobs=INTEGER,
        affected_answers=INTEGER,
    ),
    _table(
        "service_levels",
        id=TEXT,
        name=TEXT,
        title=TEXT,
        value=REAL,
        target=REAL,
        verdict=TEXT,
        budget_left=REAL,
        measured_at=TIME,
    ),
    _table("owners", subject=TEXT, owner=TEXT),
    _table("tags", subject=TEXT, tag=TEXT, value=TEXT),
    _table("export", exported_at=TIME, is_whole=BOOLEAN),
)


class _File(Protocol):
    """A database file that is being written."""

    def create(self, table: Table) -> None: ...

    def insert(self, table: Table, rows: Sequence[SqlRow]) -> None: ...

    def close(self) -> None: ...


class _SqliteFile:
    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute("BEGIN")

    def create(self, table: Table) -> None:
        types = {TIME: TEXT}
        columns = ", ".join(f"{name} {types.get(type, type)}" for name, type in table.columns)
        self._connection.execute(f"create table {table.name} ({columns})")

    def insert(self, table: Table, rows: Sequence[SqlRow]) -> None:
        marks = ", ".join("?" for _ in table.columns)
        texts = [tuple(map(_iso, row)) for row in rows]
        self._connection.executemany(f"insert into {table.name} VALUES ({marks})", texts)

    def close(self) -> None:
        self._connection.execute("COMMIT")
        self._connection.close()


class _DuckdbFile:
    def __init__(self, path: Path) -> None:
        try:
            import duckdb
        except ImportError as error:
            raise QueryError(
                "--duckdb needs the package duckdb", hint="pip install 'headwater[export]'"
            ) from error
        self._connection = duckdb.connect(str(path))
        self._connection.execute("BEGIN")

    def create(self, table: Table) -> None:
        types = {TEXT: "VARCHAR"}
        columns = ", ".join(f"{name} {types.get(type, type)}" for name, type in table.columns)
        self._connection.execute(f"create table {table.name} ({columns})")

    def insert(self, table: Table, rows: Sequence[SqlRow]) -> None:
        # One statement for many rows: duckdb plans each statement, which takes longer than a row.
        marks = f"({', '.join('?' for _ in table.columns)})"
        values = list(map(_naive, chain.from_iterable(rows)))
        statement = f"insert into {table.name} VALUES {', '.join([marks] * len(rows))}"
        self._connection.execute(statement, values)

    def close(self) -> None:
        self._connection.execute("COMMIT")
        self._connection.close()


def write_sqlite(view: GraphView, part: Part, path: Path) -> dict[str, int]:
    """Write the tables to a SQLite file; return the number of rows of each."""
    return _write(view, part, path, _SqliteFile)


def write_duckdb(view: GraphView, part: Part, path: Path) -> dict[str, int]:
    """Write the tables to a DuckDB file. Raises QueryError without the package duckdb."""
    return _write(view, part, path, _DuckdbFile)


def _write(
    view: GraphView, part: Part, path: Path, open_file: Callable[[Path], _File]
) -> dict[str, int]:
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    unfinished.unlink(missing_ok=True)
    try:
        if not path.parent.is_dir():
            raise QueryError(f"the folder {path.parent} does not exist")
        file = open_file(unfinished)
        try:
            counts = _fill(file, view, part)
        finally:
            file.close()
        os.replace(unfinished, path)
    except OSError as error:
        raise QueryError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return counts


def _fill(file: _File, view: GraphView, part: Part) -> dict[str, int]:
    """Create all tables and fill them; the urns of the columns stay in memory."""
    tables = {table.name: table for table in TABLES}
    counts = dict.fromkeys(tables, 0)
    for table in TABLES:
        file.create(table)

    def insert(name: str, rows: Iterable[SqlRow]) -> None:
        iterator = iter(rows)
        while some := list(islice(iterator, _ROWS_PER_INSERT)):
            file.insert(tables[name], some)
            counts[name] += len(some)

    database = view.database
    datasets_of: dict[str, str] = {}
    for label, name, row_of in (
        ("Dataset", "datasets", _dataset_row),
        ("Job", "jobs", _job_row),
        ("Column", "columns", _column_row),
    ):
        batch: list[Node] = []
        for node in nodes(database, part, label):
            batch.append(node)
            if label == "Column":
                datasets_of[node.urn] = dataset_of(node)
            if len(batch) == _ROWS_PER_INSERT:
                _insert_nodes(insert, name, batch, row_of)
                batch = []
        _insert_nodes(insert, name, batch, row_of)
    insert("runs", _runs(view, part))
    insert("edges", _edges(view, part))
    insert("column_edges", _column_edges(view, part, datasets_of))
    insert("findings", _findings(view, part))
    if part.is_whole:
        insert("service_levels", _service_levels(view))
    insert("export", [(datetime.now(UTC), part.is_whole)])
    return counts


def _insert_nodes(
    insert: Callable[[str, Iterable[SqlRow]], None],
    name: str,
    batch: list[Node],
    row_of: Callable[[Node], SqlRow],
) -> None:
    insert(name, map(row_of, batch))
    for node in batch:
        insert("owners", [(node.urn, owner) for owner in node.properties.get("owners") or ()])
        # Tags of columns stand on their columns; those of a dataset repeat them after a colon.
        own = node.properties.get("tags") or ()
        insert("tags", [(node.urn, *_tag(tag)) for tag in own if _is_own(node, tag)])


def _is_own(node: Node, tag: str) -> bool:
    key = tag.partition("=")[0]
    columns = node.properties.get("columns") or ()
    return node.label != "Dataset" or not any(key.startswith(f"{one}:") for one in columns)


def _tag(text: str) -> tuple[str, str | None]:
    key, equals, value = text.partition("=")
    return key, value if equals else None


def _get(node: Node, *names: str) -> SqlRow:
    return (node.urn, *(node.properties.get(name) for name in names))


def _dataset_row(node: Node) -> SqlRow:
    return _get(
        node,
        *("namespace", "name", "type", "description", "storage", "deprecatedAt"),
        *("firstSeen", "lastSeen"),
    )


def _job_row(node: Node) -> SqlRow:
    names = ("namespace", "name", "type", "integration", "processing", "description")
    return _get(node, *names, "firstSeen", "lastSeen")


def _column_row(node: Node) -> SqlRow:
    name, type = node.properties.get("name"), node.properties.get("type")
    return node.urn, dataset_of(node), name, type, bool(node.properties.get("current"))


def _runs(view: GraphView, part: Part) -> Iterator[SqlRow]:
    for run in visible_runs(view, part):
        job = job_of(run)
        started, ended = run.properties.get("startedAt"), run.properties.get("finishedAt")
        seconds = (ended - started).total_seconds() if started and ended else None
        values = run.properties
        yield (
            *(run.urn, values.get("runId"), job or None, values.get("status"), started, ended),
            *(seconds, values.get("error"), values.get("version")),
        )


def _edges(view: GraphView, part: Part) -> Iterator[SqlRow]:
    for edge in job_edges(view.database, part):
        direction = "reads" if edge.type == "FEEDS" else "writes"
        current = bool(edge.properties.get("current"))
        seen = edge.properties.get("firstSeen"), edge.properties.get("lastSeen")
        yield edge.job, edge.dataset, direction, current, *seen


def _column_edges(view: GraphView, part: Part, datasets_of: dict[str, str]) -> Iterator[SqlRow]:
    for edge in column_edges(view.database, part, datasets_of):
        for transformation in edge.transformations or (None,):
            yield edge.source, edge.target, edge.job or None, transformation


def _findings(view: GraphView, part: Part) -> Iterator[SqlRow]:
    limited = view.visible_to(part.visibility)
    cursor: str | None = None
    while True:
        page = findings(limited, page=PageRequest(_FINDINGS_PER_PAGE, cursor))
        for found in page.entries:
            episode, affected = found.episode, found.affected
            subject = episode.subject
            is_lineage = subject.startswith(("dataset:", "job:"))
            if not part.is_whole and not (is_lineage and part.includes_urn(subject)):
                continue
            yield (
                *(found.id, episode.rule, subject, str(found.tier), found.is_open),
                *(episode.first_seen, episode.last_seen, episode.resolved_at),
                *(affected.datasets, affected.jobs, affected.answers),
            )
        if not page.has_next:
            return
        cursor = page.cursors[-1]


def _service_levels(view: GraphView) -> Iterator[SqlRow]:
    for level in SERVICE_LEVELS.values():
        state = evaluate(view, level)
        yield (
            *(level.id, level.name, level.title, state.value, level.target),
            *(str(state.verdict), state.budget_left, state.as_of),
        )


def _iso(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value


def _naive(value: Any) -> Any:
    return value.astimezone(UTC).replace(tzinfo=None) if isinstance(value, datetime) else value
