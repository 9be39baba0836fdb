"""Loading the dependency model of an assessment from the lineage graph and from files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from headwater.chunks import chunks
from headwater.code_analysis.files import SOURCE_LANGUAGES, CodeFile
from headwater.code_analysis.model import (
    References,
    TableName,
    merge_references,
    unknown_references,
)
from headwater.code_analysis.names import KnownColumns, fold_case, name_parts
from headwater.code_analysis.repository_files import is_code_path
from headwater.code_analysis.sql.parse import dialect_of
from headwater.code_analysis.suffix_index import SuffixIndex
from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.impact.model import ColumnEdgeReader, Consumer, DependencyModel, Table
from headwater.impact.read_source import read_source
from headwater.ingest.fold.canonical_facets import is_cut
from headwater.lineage.questions.downstream import ColumnEdge, DownstreamGraph, column_edges
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

_UNKNOWN_TABLE_PREFIX = "table:"
_COLUMNS_PER_QUERY = 500
# The tables that the files of one assessment may read, summed over the files.
READS_MAX = 1_000_000


def load_model(
    edges: ColumnEdgeReader,
    down: DownstreamGraph,
    changed: Mapping[str, Iterable[str]],
    codes: list[CodeFile],
    hidden: set[str],
) -> DependencyModel:
    """Return the dependency model.

    changed: columns that a dataset has, even if the graph does not know them.
    hidden: nodes that may be neither named nor matched by name. Files come from the caller, and a
    match would confirm a guess of a hidden name."""
    return _Loader(down, changed, codes, hidden).load(edges)


def load_writers(
    model: DependencyModel, down: DownstreamGraph, codes: list[CodeFile], hidden: set[str]
) -> dict[str, list[Consumer]]:
    """Return the jobs that make each changed dataset."""
    loader = _Loader(down, {}, codes, hidden, model.tables)
    writers: dict[str, list[Consumer]] = {}
    for table, jobs in down.writers.items():
        writers[table] = [loader.job(urn) for urn in jobs]
    return writers


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
    known_tables: Mapping[str, Table] | None = None

    def __post_init__(self) -> None:
        # The numbers of the files, by the tables that they make and by their paths.
        self._makers: SuffixIndex[int] = SuffixIndex()
        self._paths: SuffixIndex[int] = SuffixIndex()
        for number, code in enumerate(self.codes):
            self._paths.add(_path_parts(code.path), number)
            for make in code.makes:
                self._makers.add(name_parts(".".join(make)), number)
        if self.known_tables is not None:
            self.tables = dict(self.known_tables)
            return
        self.tables = {
            urn: _table(urn, row, self.changed.get(urn, ()))
            for urn, row in self.down.rows.items()
            if urn.startswith("dataset:")
        }

    def load(self, edges: ColumnEdgeReader) -> DependencyModel:
        """Return the model of all downstream jobs, datasets and files."""
        jobs = {urn: self.job(urn) for urn in self.down.rows if urn.startswith("job:")}
        consumers: dict[str, list[Consumer]] = defaultdict(list)
        for table, targets in self.down.reads.items():
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
        return DependencyModel(self.tables, consumers, edges)

    def job(self, urn: str) -> Consumer:
        """Return a job with its code: that of a file, else the code that a producer sent."""
        row = self.down.rows.get(urn, {})
        outputs = self.down.outputs.get(urn, {})
        is_hidden = urn in self.hidden
        own_codes = [] if is_hidden else self._codes_of_job(row, outputs)
        near = [*self.down.inputs.get(urn, ()), *outputs]
        near_tables = [self.tables[urn] for urn in near if urn in self.tables]
        if urn in self.down.reads:
            # It hands data to other jobs with no known dataset between.
            outputs = {**outputs, urn: None}
        is_covered = urn in self.down.covered
        job = Consumer(urn, "JOB", outputs, covered=is_covered, is_hidden=is_hidden)
        if own_codes:
            return _with_code(job, own_codes)
        dialect = self.down.dialects.get(urn, "")
        return replace(job, load_code=partial(_producer_code, row, dialect, urn, near_tables))

    def _codes_of_job(self, row: Row, outputs: Iterable[str]) -> list[CodeFile]:
        """Return the files at the path that a job reports, or that make one of its outputs."""
        written = [self.tables[urn] for urn in outputs if urn in self.tables]
        numbers = set(self._paths.all(_path_parts(str(row.get("codePath") or ""))))
        numbers.update(*(self._makers_of(table) for table in written))
        return [self.codes[number] for number in sorted(numbers)]

    def _makers_of(self, table: Table) -> set[int]:
        """Return the numbers of the files that make a table; none for a hidden one."""
        if table.urn in self.hidden:
            return set()
        return set(chain.from_iterable(self._makers.all(name_parts(name)) for name in table.names))

    def _dataset(self, urn: str) -> Consumer:
        """Return a dataset that an unknown job makes of others."""
        is_hidden = urn in self.hidden
        numbers = self._makers_of(self.tables[urn]) if urn in self.tables else ()
        codes = [self.codes[number] for number in sorted(numbers)]
        dataset = Consumer(urn, "DATASET", {urn: None}, is_hidden=is_hidden)
        return _with_code(dataset, codes) if codes else dataset

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
        for code in loose:
            outputs = {self._written_table(make, named): None for make in code.makes}
            urn = f"file:{code.path}"
            load_code = partial(_references_of, code)
            files.append(Consumer(urn, "FILE", outputs, load_code, path=code.path))
        count = 0
        for code, file in zip(loose, files, strict=True):
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
    names = sorted(code.references.tables)
    return dict.fromkeys(
        chain.from_iterable(named.all(name_parts(".".join(name))) for name in names)
    )


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


def _with_code(consumer: Consumer, codes: list[CodeFile]) -> Consumer:
    """Return a consumer with the code of files."""
    references = merge_references(code.references for code in codes)
    return replace(consumer, load_code=lambda: references, path=codes[0].path)


def _path_parts(path: str) -> list[str]:
    """Return the folders and the file of a path; two paths with equal ends may be the same."""
    return [part for part in path.replace("\\", "/").strip("/").split("/") if part]


def _references_of(code: CodeFile) -> References:
    return code.references


def _producer_code(row: Row, dialect: str, urn: str, near: list[Table]) -> References | None:
    """Return the references of the code that a producer sent, or None without any."""
    parts = parse_urn(urn).parts
    near_parts = [parse_urn(table.urn).parts for table in near]
    namespaces = [parts[0] for parts in near_parts if parts]
    own_namespace = parts[0] if parts else ""
    dialect = dialect_of(dialect, row.get("integration"), own_namespace, *namespaces)
    pieces = []
    if row.get("sql"):
        pieces += _references_in_source(row["sql"], "sql", dialect, near)
    source = row.get("sourceCode")
    language = fold_case(str(row.get("language") or ""))
    if source and not (language == "sql" and row.get("sql")):
        pieces += _references_in_source(source, language, dialect, near)
    return merge_references(pieces) if pieces else None


def _references_in_source(
    source: str, language: str, dialect: str, near: list[Table]
) -> list[References]:
    """Return the references of source code; none in a language that is not read."""
    if is_cut(source):
        return [unknown_references("only the beginning of its code is stored")]
    if language not in SOURCE_LANGUAGES:
        return []
    return [read_source(source, language, dialect, columns_in(near))]
