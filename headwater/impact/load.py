"""The scene of an assessment, from the map of the graph and from files: who reads what, by which code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache, partial

from headwater.code_analysis.files import CodeFile
from headwater.code_analysis.model import References, TableName, fold_case, same_table, together
from headwater.code_analysis.sql.parse import Columns, dialect_of, references_in_sql
from headwater.cypher.driver.database import Row
from headwater.impact.model import Consumer, DependencyModel, Table
from headwater.lineage.questions.downstream import ColumnEdge, DownstreamGraph, column_edges
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

_TABLE = "table:"
_COLUMNS_PER_QUERY = 500
# How many texts of SQL are kept as read, and how long they may be: some tens of megabytes at most.
_KEPT_MAX = 1_000
_KEPT_CHARACTERS_MAX = 10_000


def gather(
    edges: ColumnEdges,
    down: DownstreamGraph,
    changed: Mapping[str, Iterable[str]],
    codes: list[CodeFile],
    unseen: set[str],
) -> DependencyModel:
    """The scene. `changed`: dataset -> columns that it has, whatever the graph knows; `unseen` may not be named, nor
    met by name: files come from whoever asks, and would tell which guess of a hidden name is right."""
    places = {
        urn: _place(urn, row, changed.get(urn, ()))
        for urn, row in down.rows.items()
        if _is_place(urn)
    }
    jobs = {urn for urn in down.rows if urn.startswith("job:")}
    made = {urn: _job(urn, down, places, codes, unseen) for urn in jobs}
    readers: dict[str, list[Consumer]] = defaultdict(list)
    for place, listed in down.reads.items():
        for target in listed:
            if target in made:
                readers[place].append(made[target])
            elif not any(target in made[job].outputs for job in listed if job in made):
                readers[place].append(_dataset(target, places, codes, unseen))
    _add_files(places, readers, made, codes, unseen)
    return DependencyModel(places, readers, edges)


def writers(
    scene: DependencyModel, down: DownstreamGraph, codes: list[CodeFile], unseen: set[str]
) -> dict[str, list[Consumer]]:
    """The jobs that make what changes, by dataset."""
    return {
        place: [_job(urn, down, scene.places, codes, unseen) for urn in listed]
        for place, listed in down.writers.items()
    }


def columns_in(places: Iterable[Table]) -> Columns:
    """What columns a table has that code names: those of the one place that may be meant."""
    listed = list(places)

    def columns(table: TableName) -> list[str] | None:
        found = [place for place in listed if same_table(table, place.name)]
        return list(found[0].columns) if len(found) == 1 and found[0].columns else None

    return columns


class ColumnEdges:
    """Where columns go, asked for as an assessment comes to them. `whole`: nothing was cut off so far."""

    def __init__(self, view: GraphView) -> None:
        self.whole = True
        self._view = view

    def __call__(self, columns: Iterable[str]) -> dict[str, list[ColumnEdge]]:
        found: dict[str, list[ColumnEdge]] = {}
        wanted = sorted(urn for urn in columns if urn.startswith("column:"))
        for start in range(0, len(wanted), _COLUMNS_PER_QUERY):
            edges, is_whole = column_edges(self._view, wanted[start : start + _COLUMNS_PER_QUERY])
            found.update(edges)
            self.whole = self.whole and is_whole
        return found


def _is_place(urn: str) -> bool:
    return urn.startswith("dataset:")


def _place(urn: str, row: Row, more: Iterable[str]) -> Table:
    known = row.get("columns")
    columns = tuple(known) if known else None
    if columns is not None:
        names = {fold_case(column) for column in columns}
        columns += tuple(column for column in more if fold_case(column) not in names)
    return Table(urn, str(row.get("name") or urn), columns)


def _job(
    urn: str,
    down: DownstreamGraph,
    places: Mapping[str, Table],
    codes: list[CodeFile],
    unseen: set[str],
) -> Consumer:
    row = down.rows.get(urn, {})
    outputs = down.outputs.get(urn, {})
    near = [places[one] for one in (*down.inputs.get(urn, ()), *outputs) if one in places]
    makes = [places[one] for one in outputs if one in places and one not in unseen]
    own = [code for code in codes if urn not in unseen and _is_code_of(code, row, makes)]
    if urn in down.reads:
        # Data goes from it to other jobs with nothing known between.
        outputs = {**outputs, urn: None}
    reader = Consumer(urn, "JOB", outputs, covered=urn in down.covered, is_hidden=urn in unseen)
    if own:
        found = together(code.references for code in own)
        return replace(reader, source=lambda: found, path=own[0].path)
    return replace(reader, source=partial(_code_of, row, down.dialects.get(urn, ""), urn, near))


def _dataset(
    urn: str, places: Mapping[str, Table], codes: list[CodeFile], unseen: set[str]
) -> Consumer:
    """A dataset that is made of others, by nobody knows which job."""
    own = (
        [code for code in codes if any(same_table(make, places[urn].name) for make in code.makes)]
        if urn in places and urn not in unseen
        else []
    )
    reader = Consumer(urn, "DATASET", {urn: None}, is_hidden=urn in unseen)
    found = together(code.references for code in own)
    return replace(reader, source=lambda: found, path=own[0].path) if own else reader


def _is_code_of(code: CodeFile, row: Row, outputs: list[Table]) -> bool:
    """Whether a file is the code of a job: it stands where the job says, or makes what the job makes."""
    told = str(row.get("codePath") or "").strip("/")
    path = code.path.replace("\\", "/").strip("/")
    if told and (told == path or told.endswith(f"/{path}") or path.endswith(f"/{told}")):
        return True
    return any(same_table(make, place.name) for make in code.makes for place in outputs)


def _code_of(row: Row, dialect: str, urn: str, near: list[Table]) -> References | None:
    """What the code that a producer sent refers to."""
    parts = parse_urn(urn).parts
    namespaces = [parse_urn(place.urn).parts[0] for place in near if parse_urn(place.urn).parts]
    speaks = dialect_of(dialect, row.get("integration"), parts[0] if parts else "", *namespaces)
    found = []
    if row.get("sql"):
        found.append(_of_sql(row["sql"], speaks, tuple(near)))
    language = fold_case(str(row.get("language") or ""))
    if row.get("sourceCode") and language == "sql" and not row.get("sql"):
        found.append(_of_sql(row["sourceCode"], speaks, tuple(near)))
    elif row.get("sourceCode") and language in ("python", "py", "pyspark"):
        from headwater.code_analysis.pyspark.references import references_in_python

        found.append(
            references_in_python(row["sourceCode"], dialect=speaks, columns=columns_in(near))
        )
    return together(found) if found else None


def _of_sql(text: str, dialect: str, near: tuple[Table, ...]) -> References:
    if len(text) > _KEPT_CHARACTERS_MAX:
        return references_in_sql(text, dialect=dialect, columns=columns_in(near))
    return _of_short_sql(text, dialect, near)


@lru_cache(maxsize=_KEPT_MAX)
def _of_short_sql(text: str, dialect: str, near: tuple[Table, ...]) -> References:
    """Kept, since a gate asks change by change, and of every one the same jobs are downstream."""
    return references_in_sql(text, dialect=dialect, columns=columns_in(near))


def _add_files(
    places: dict[str, Table],
    readers: dict[str, list[Consumer]],
    made: dict[str, Consumer],
    codes: list[CodeFile],
    unseen: set[str],
) -> None:
    """Files that are the code of no job read what they name, and make what they say."""
    named = {urn: place for urn, place in places.items() if urn not in unseen}
    known = {reader.path for reader in made.values()} | {
        one.path for listed in readers.values() for one in listed
    }
    loose = [code for code in codes if code.path not in known]
    files = []
    for code in loose:
        outputs = {_made_by(make, named): None for make in code.makes}
        files.append(
            Consumer(f"file:{code.path}", "FILE", outputs, partial(_given, code), path=code.path)
        )
    places.update(named)
    for code, reader in zip(loose, files, strict=True):
        for urn, place in named.items():
            if urn not in reader.outputs and any(
                same_table(table, place.name) for table in code.references.tables
            ):
                readers[urn].append(reader)


def _given(code: CodeFile) -> References:
    return code.references


def _made_by(make: TableName, places: dict[str, Table]) -> str:
    """The place that a file makes: one of the graph, or a new one."""
    name = ".".join(make)
    found = next(
        (urn for urn, place in places.items() if same_table(make, place.name)), f"{_TABLE}{name}"
    )
    places.setdefault(found, Table(found, name))
    return found
