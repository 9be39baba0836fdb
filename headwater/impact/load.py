"""Loading the dependency model of an assessment from the lineage graph and from files.

Code is read or merged when it is first needed. A model that is loaded after the deadline lacks
consumers; the propagation then reports that it had no time.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TypeVar

from headwater.chunks import chunks
from headwater.code_analysis.files import SOURCE_LANGUAGES, CodeFile
from headwater.code_analysis.model import (
    References,
    TableName,
)
from headwater.code_analysis.names import KnownColumns, fold_case, name_parts
from headwater.code_analysis.repository_files import is_code_path
from headwater.code_analysis.sql.parse import dialect_of
from headwater.code_analysis.suffix_index import SuffixIndex
from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.impact.consumer_files import ConsumerFiles, FileGroup
from headwater.impact.model import ColumnEdgeReader, Consumer, DependencyModel, Table
from headwater.impact.read_source import SourceReader
from headwater.ingest.fold.canonical_facets import is_cut
from headwater.lineage.questions.downstream import ColumnEdge, DownstreamGraph, column_edges
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

_UNKNOWN_TABLE_PREFIX = "table:"
_COLUMNS_PER_QUERY = 500
# The tables that the files of one assessment may read, summed over the files.
READS_MAX = 1_000_000
# The time that remains for the propagation if reading code takes all that it may.
PROPAGATION_SECONDS = 2.0

T = TypeVar("T")


def load_model(
    edges: ColumnEdgeReader,
    down: DownstreamGraph,
    changed: Mapping[str, Iterable[str]],
    codes: list[CodeFile],
    hidden: set[str],
    deadline: float,
) -> DependencyModel:
    """Return the dependency model.

    changed: columns that a dataset has, even if the graph does not know them.
    hidden: nodes that may be neither named nor matched by name. Files come from the caller, and a
    match would confirm a guess of a hidden name.
    deadline: the reading of time.monotonic() at which the assessment ends."""
    return _Loader(down, changed, codes, hidden, deadline).load(edges)


def columns_in(tables: Iterable[Table]) -> KnownColumns:
    """Return a lookup of the columns of these tables; a name that may mean several has none."""
    return KnownColumns(tuple((one.names, one.columns) for one in tables))


class ColumnEdges:
    """Column edges from the graph, read as an assessment reaches the columns.

    is_complete: no read was cut off by a bound so far."""

    def __init__(self, view: GraphView) -> None:
        self.is_complete = True
        self._view = view

    def __call__(self, columns: Iterable[str]) -> dict[str, list[ColumnEdge]]:
        edges: dict[str, list[ColumnEdge]] = {}
        urns = sorted(urn for urn in columns if urn.startswith("column:"))
        for chunk in chunks(urns, _COLUMNS_PER_QUERY):
            edges_of_chunk, is_complete = column_edges(self._view, chunk)
            edges.update(edges_of_chunk)
            self.is_complete = self.is_complete and is_complete
        return edges


@dataclass
class _Loader:
    """Builds consumers from the rows of the graph and from files."""

    down: DownstreamGraph
    changed: Mapping[str, Iterable[str]]
    codes: list[CodeFile]
    hidden: set[str]
    deadline: float

    def __post_init__(self) -> None:
        code_deadline = self.deadline - PROPAGATION_SECONDS
        self._files = ConsumerFiles(self.codes, code_deadline)
        self._reader = SourceReader(code_deadline)
        self.tables = {
            urn: _table(urn, row, self.changed.get(urn, ()))
            for urn, row in self.down.rows.items()
            if urn.startswith("dataset:")
        }

    def load(self, edges: ColumnEdgeReader) -> DependencyModel:
        """Return the model of all downstream jobs, datasets and files."""
        urns = [urn for urn in self.down.rows if urn.startswith("job:")]
        jobs = {urn: self._job(urn) for urn in self._in_time(urns)}
        consumers: dict[str, list[Consumer]] = defaultdict(list)
        for table, targets in self._in_time(self.down.reads.items()):
            written_by_jobs: set[str] = set()
            for target in targets:
                if target in jobs:
                    written_by_jobs.update(jobs[target].outputs)
            for target in targets:
                if target in jobs:
                    consumers[table].append(jobs[target])
                elif target not in written_by_jobs:
                    consumers[table].append(self._dataset(target))
        self._add_files(consumers, jobs)
        writers: dict[str, list[Consumer]] = {}
        for table, urns in self._in_time(self.down.writers.items()):
            writers[table] = [jobs.get(urn) or self._job(urn) for urn in urns]
        return DependencyModel(self.tables, consumers, edges, writers)

    def _in_time(self, items: Iterable[T]) -> Iterator[T]:
        """Yield items until the deadline."""
        for item in items:
            if time.monotonic() > self.deadline:
                return
            yield item

    def _job(self, urn: str) -> Consumer:
        """Return a job with its code: that of a file, else the code that a producer sent."""
        row = self.down.rows.get(urn, {})
        made = outputs = self.down.outputs.get(urn, {})
        is_hidden = urn in self.hidden
        near = [*self.down.inputs.get(urn, ()), *outputs]
        near_tables = [self.tables[urn] for urn in near if urn in self.tables]
        if urn in self.down.reads:
            # It hands data to other jobs with no known dataset between.
            outputs = {**outputs, urn: None}
        is_covered = urn in self.down.covered
        job = Consumer(urn, "JOB", outputs, covered=is_covered, is_hidden=is_hidden)
        path = "" if is_hidden else str(row.get("codePath") or "")
        files = self._files_of(path, () if is_hidden else made)
        if files is not None:
            return files.as_code_of(job)
        dialect = self.down.dialects.get(urn, "")
        return replace(job, load_code=partial(self._producer_code, row, dialect, job, near_tables))

    def _producer_code(
        self, row: Row, dialect: str, job: Consumer, near: list[Table]
    ) -> References | None:
        """Return the references of the code that a producer sent, or None without any."""
        parts = parse_urn(job.urn).parts
        near_parts = [parse_urn(table.urn).parts for table in near]
        namespaces = [parts[0] for parts in near_parts if parts]
        own_namespace = parts[0] if parts else ""
        dialect = dialect_of(dialect, row.get("integration"), own_namespace, *namespaces)
        sql, source = row.get("sql"), row.get("sourceCode")
        language = fold_case(str(row.get("language") or ""))
        sources = [(sql, "sql")] if sql else []
        is_read = language in SOURCE_LANGUAGES or is_cut(source or "")
        if source and is_read and not (language == "sql" and sql):
            sources.append((source, language))
        if not sources:
            return None
        return self._reader.read(sources, dialect, columns_in(near), is_hidden=job.is_hidden)

    def _dataset(self, urn: str) -> Consumer:
        """Return a dataset that an unknown job makes of others."""
        is_hidden = urn in self.hidden
        dataset = Consumer(urn, "DATASET", {urn: None}, is_hidden=is_hidden)
        files = self._files_of("", [urn])
        return dataset if files is None else files.as_code_of(dataset)

    def _files_of(self, path: str, made: Iterable[str]) -> FileGroup | None:
        """Return the files at a path, or that make one of these tables if it is visible."""
        visible = [urn for urn in made if urn in self.tables and urn not in self.hidden]
        names = chain.from_iterable(self.tables[urn].names for urn in visible)
        return self._files.find(path, names)

    def _add_files(self, consumers: dict[str, list[Consumer]], jobs: dict[str, Consumer]) -> None:
        """Add the files that are not the code of a job, as consumers of the tables they name."""
        used = {job.path for job in jobs.values()}
        for listed in consumers.values():
            used |= {consumer.path for consumer in listed}
        loose = [code for code in self.codes if code.path not in used]
        named: SuffixIndex[str] = SuffixIndex()
        for urn, table in self.tables.items():
            if urn not in self.hidden:
                _add_table(named, table)
        files = []
        for code in self._in_time(loose):
            outputs = {self._written_table(make, named): None for make in code.makes}
            urn = f"file:{code.path}"
            load_code = partial(_references_of, code)
            files.append((code, Consumer(urn, "FILE", outputs, load_code, path=code.path)))
        count = 0
        for code, file in self._in_time(files):
            read = _tables_read(code, named)
            count += len(read)
            if count > READS_MAX:
                raise QueryError(
                    f"the names in the files may mean more than {READS_MAX} tables",
                    hint="Send fewer files, or write the names of tables in full.",
                )
            for urn in read:
                if urn not in file.outputs:
                    consumers[urn].append(file)

    def _written_table(self, make: TableName, named: SuffixIndex[str]) -> str:
        """Return the urn of the table that a file makes; a table not in the graph is added."""
        name = ".".join(make)
        found = named.first(name_parts(name))
        if found is not None:
            return found
        table = Table(f"{_UNKNOWN_TABLE_PREFIX}{name}", name)
        self.tables.setdefault(table.urn, table)
        _add_table(named, table)
        return table.urn


def _add_table(named: SuffixIndex[str], table: Table) -> None:
    for name in table.names:
        named.add(name_parts(name), table.urn)


def _tables_read(code: CodeFile, named: SuffixIndex[str]) -> dict[str, None]:
    """Return the urns of the tables that a file may read."""
    matching: dict[int, Mapping[int, str]] = {}
    for name in sorted(code.references.tables):
        # Many names may mean the same tables.
        matching |= {id(urns): urns for urns in named.matching(name_parts(".".join(name)))}
    return dict.fromkeys(chain.from_iterable(urns.values() for urns in matching.values()))


def _table(urn: str, row: Row, changed: Iterable[str]) -> Table:
    reported = row.get("columns")
    columns = tuple(reported) if reported else None
    if columns is not None:
        names = {fold_case(column) for column in columns}
        columns += tuple(column for column in changed if fold_case(column) not in names)
    place = str(row.get("sourceRef") or "")
    # The place of a registered table is a name of it; the file of a model is not.
    other_name = "" if is_code_path(place) else place
    return Table(urn, str(row.get("name") or urn), columns, other_name)


def _references_of(code: CodeFile) -> References:
    return code.references
