"""Queries as OpenLineage events.

A query with a time is a run. A query without one proves no run: the script that holds it declares
what it reads and writes. So the two never mix, and a script that is imported again, unchanged or
not, replaces its declaration.

The names of jobs decide which edges stay current:

- a statement that replaces a table is the job of the table, so that the newest one counts;
- a statement that adds to a table is a job of its own, by the hash of its text without literals;
- in a script there is one job for each table that it writes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from headwater.code_analysis.sql.script import Kind, Statement, read_script
from headwater.importers.events import (
    DatasetName,
    Field,
    column_lineage,
    dataset,
    dataset_event,
    facets,
    job_event,
    run_event,
    stable_run_id,
    to_time,
)
from headwater.importers.report import ImportReport
from headwater.importers.sql.logs import LoggedQuery, SqlFile, read_queries
from headwater.importers.sql.names import NameRules
from headwater.importers.sql.session import KnownColumns, Session, Write
from headwater.schema.headwater_facets import Event

_UNKNOWN_USER = "unknown"


@dataclass(frozen=True)
class SqlOptions:
    """How SQL is read: the names of its tables, and what becomes of queries that write nothing.

    job_namespace: of the jobs; by default that of the datasets.
    reads: queries that write nothing are runs, too.
    at: the time of the statements of scripts, in microseconds; None declares them."""

    names: NameRules
    job_namespace: str = ""
    reads: bool = False
    at: int | None = None


def read_sql(
    files: Iterable[SqlFile], options: SqlOptions, report: ImportReport
) -> Iterator[Event]:
    """Yield the events of files of SQL, in order. `report` is complete at the end."""
    importer = _SqlImporter(options, report)
    for file in files:
        yield from importer.read(file)


@dataclass
class _Declared:
    """What a script declares about one table that it writes."""

    queries: list[str] = field(default_factory=list)
    inputs: set[DatasetName] = field(default_factory=set)
    direct: dict[str, set[Field]] = field(default_factory=lambda: defaultdict(set))
    indirect: set[Field] = field(default_factory=set)
    columns: tuple[tuple[str, str], ...] = ()

    def add(self, write: Write) -> None:
        self.queries.append(write.statement.text)
        self.inputs |= write.inputs | ({write.previous} if write.previous else set())
        self.indirect |= write.indirect
        self.columns = self.columns or write.columns
        for column, sources in write.direct.items():
            self.direct[column] |= sources


class _SqlImporter:
    """Reads files one after another; the columns of their tables are known to the later ones."""

    def __init__(self, options: SqlOptions, report: ImportReport) -> None:
        self._options = options
        self._report = report
        self._known: KnownColumns = {}
        # When the file that is read was last changed: the time of its declarations.
        self._modified = 0

    def read(self, file: SqlFile) -> Iterator[Event]:
        """Yield the events of one file."""
        sessions: dict[tuple[str, str, str], Session] = {}
        last: dict[int, LoggedQuery] = {}
        declared: dict[DatasetName, _Declared] = {}
        self._report.counts["files"] += 1
        self._modified = file.modified
        for query in read_queries(file, self._report):
            if query.is_script and self._options.at is not None:
                query = replace(query, time=self._options.at)
            key = (query.session, query.user, query.database)
            session = sessions.setdefault(key, self._session(query))
            last[id(session)] = query
            for number, statement in enumerate(self._statements(query)):
                for write in session.run(statement):
                    yield from self._events(query, write, number, declared)
        for session in sessions.values():
            for number, write in enumerate(session.end()):
                yield from self._events(last[id(session)], write, number, declared)
        for target, declaration in declared.items():
            yield self._declaration(file.name, target, declaration)

    def _session(self, query: LoggedQuery) -> Session:
        names = self._options.names
        database = query.database or names.database
        schema = query.schema or names.schema
        return Session(replace(names, database=database, schema=schema), self._known)

    def _statements(self, query: LoggedQuery) -> Iterator[Statement]:
        """Yield the statements of a query that can be read, and count all of them."""
        counts = self._report.counts
        for statement in read_script(query.text, self._options.names.dialect):
            counts["statements"] += 1
            if statement.kind is Kind.UNREADABLE:
                self._report.add_problem(_place(query, statement), statement.reason)
            else:
                yield statement

    def _events(
        self,
        query: LoggedQuery,
        write: Write,
        number: int,
        declared: dict[DatasetName, _Declared],
    ) -> Iterator[Event]:
        """Yield the events of a write; in a script without a time, add it to what is declared."""
        if write.unknown and not write.inputs:
            self._report.add_problem(_place(query, write.statement), write.unknown[0])
            return
        if write.target is None:
            self._report.counts["queries that only read"] += 1
            if self._options.reads and write.inputs and query.time is not None:
                yield from self._run(query, write, number)
        elif query.error and write.lifecycle:
            self._report.counts["failed definitions"] += 1
        elif write.lifecycle == "CREATE":
            yield self._definition(query, write)
        elif not write.inputs and not write.lifecycle:
            self._report.counts["writes without a source"] += 1
        elif query.time is not None:
            self._report.counts["writes"] += 1
            yield from self._run(query, write, number)
        elif write.lifecycle in ("", "RENAME"):
            self._report.counts["writes"] += 1
            declared.setdefault(write.target, _Declared()).add(write)

    def _definition(self, query: LoggedQuery, write: Write) -> Event:
        """Return the event of CREATE TABLE, which describes a dataset."""
        assert write.target is not None
        self._report.counts["tables defined"] += 1
        time = self._modified if query.time is None else query.time
        return dataset_event(to_time(time), dataset(write.target, self._schema(write.columns)))

    def _run(self, query: LoggedQuery, write: Write, number: int) -> Iterator[Event]:
        """Yield the START and the end of the run of one statement."""
        assert query.time is not None
        # Statements of one query follow each other.
        start = query.time + number
        end = max(query.end or 0, query.time) + number
        parts = (query.id, query.session, query.user, query.database, query.text, str(number))
        run_id = stable_run_id(self._options.names.namespace, str(query.time), *parts)
        outputs = [] if write.target is None else [self._output(write)]
        named: dict[str, Any] = {
            "job": self._job(self._job_name(query, write), [write.statement.text]),
            "inputs": [dataset(name) for name in sorted(write.inputs)],
            "outputs": outputs,
        }
        own = facets(headwater_run={"triggeredBy": query.user or None})
        yield run_event("START", to_time(start), run_id, run_facets=own, **named)
        if query.error:
            message = {"message": query.error, "programmingLanguage": "SQL"}
            own |= facets(errorMessage=message)
            # A database undoes what a failed statement wrote.
            named["outputs"] = []
        kind = "FAIL" if query.error else "COMPLETE"
        yield run_event(kind, to_time(end), run_id, run_facets=own, **named)

    def _job_name(self, query: LoggedQuery, write: Write) -> str:
        statement = write.statement
        if write.target is None:
            return f"{query.user or _UNKNOWN_USER}.select.{statement.fingerprint}"
        if query.is_script:
            return _script_job(query.file, write.target)
        if statement.replaces:
            return write.target[1]
        return f"{write.target[1]}.{statement.verb}.{statement.fingerprint}"

    def _job(self, name: str, queries: list[str]) -> Event:
        namespace = self._options.job_namespace or self._options.names.namespace
        sql = {"query": ";\n".join(queries), "dialect": self._options.names.dialect or None}
        kind = {"processingType": "BATCH", "integration": "SQL", "jobType": "QUERY"}
        return {"namespace": namespace, "name": name, "facets": facets(sql=sql, jobType=kind)}

    def _output(self, write: Write) -> Event:
        assert write.target is not None
        state = "OVERWRITE" if write.statement.replaces else write.lifecycle
        change: dict[str, Any] = {"lifecycleStateChange": state or None}
        if write.previous:
            namespace, name = write.previous
            change["previousIdentifier"] = {"namespace": namespace, "name": name}
        own = facets(
            columnLineage=column_lineage(write.direct, write.indirect), lifecycleStateChange=change
        )
        return dataset(write.target, own | self._schema(write.columns))

    def _schema(self, columns: tuple[tuple[str, str], ...]) -> Event:
        fields = [{"name": name} | ({"type": type} if type else {}) for name, type in columns]
        return facets(schema={"fields": fields or None})

    def _declaration(self, file: str, target: DatasetName, declared: _Declared) -> Event:
        """Return the event in which a script declares what it reads for one table."""
        own = facets(columnLineage=column_lineage(declared.direct, declared.indirect))
        output = dataset(target, own | self._schema(declared.columns))
        job = self._job(_script_job(file, target), declared.queries)
        inputs = [dataset(name) for name in sorted(declared.inputs)]
        return job_event(to_time(self._modified), job, inputs, [output])


def _place(query: LoggedQuery, statement: Statement) -> str:
    """Return the file and line of a statement. One row of a log may have several lines."""
    return f"{query.file}:{query.line + statement.line - 1}"


def _script_job(file: str, target: DatasetName) -> str:
    return f"{file}:{target[1]}"
