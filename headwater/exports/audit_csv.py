"""The lineage audit: one row for each column that a run wrote, and each column that it came from.

| column | content |
|---|---|
| run, job, dataset | urns of the run, its job, and the dataset that it wrote |
| finished_at, status | when the run ended, and how |
| column | a column of the dataset as the run wrote it; empty if no schema is known |
| source_table, source_column | the dataset and the column from which it came, if known |
| transformation | how, for example `DIRECT:IDENTITY`; of many, by a semicolon |
| documented | true if a source is known |

An expectation that no `source_table` is null finds the columns without a documented source.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from headwater.cypher.driver.database import Database
from headwater.exports.part import Part
from headwater.exports.rows import (
    Node,
    column_edges,
    dataset_of,
    job_of,
    nodes,
    visible_runs,
)
from headwater.lineage.view import GraphView

HEADER = (
    "run",
    "job",
    "finished_at",
    "status",
    "dataset",
    "column",
    "source_table",
    "source_column",
    "transformation",
    "documented",
)
_RUNS_PER_QUERY = 200
_OUTPUTS_MAX = 1_000
# A cell that a spreadsheet would read as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Origin(NamedTuple):
    """A source of a column, as the job reported it."""

    job: str
    dataset: str
    column: str
    transformation: str


class _Columns(NamedTuple):
    """The columns by dataset, and the origins by the urn of a column or of a whole dataset."""

    by_dataset: dict[str, list[Node]]
    origins: dict[str, list[_Origin]]


def audit(view: GraphView, part: Part) -> Iterator[str]:
    """Yield the lines of the lineage audit of a part as CSV.

    The columns of the part and their edges stay in memory; runs are read page by page.
    """
    yield _line(HEADER)
    columns = _read_columns(view.database, part)
    runs = visible_runs(view, part)
    while some := list(islice(runs, _RUNS_PER_QUERY)):
        outputs = _read_outputs(view, some)
        for run in some:
            for dataset in outputs[run.urn]:
                if part.includes_urn(dataset):
                    yield from map(_line, _rows_of(run, dataset, columns))


def _rows_of(run: Node, dataset: str, columns: _Columns) -> Iterator[tuple[str, ...]]:
    job, ended = job_of(run), run.properties.get("finishedAt")
    status = run.properties.get("status") or ""
    start = (run.urn, job, ended.isoformat().replace("+00:00", "Z") if ended else "", status)
    known = [one for one in columns.by_dataset.get(dataset, ()) if one.properties.get("current")]
    if not known:
        yield (*start, dataset, "", "", "", "", "false")
    for column in known:
        origins = [one for one in columns.origins.get(column.urn, ()) if one.job in (job, "")]
        for one in origins:
            name = column.properties["name"]
            yield (*(*start, dataset, name, one.dataset, one.column, one.transformation, "true"),)
        if not origins:
            yield (*start, dataset, column.properties["name"], "", "", "", "false")


def _read_columns(database: Database, part: Part) -> _Columns:
    by_dataset: dict[str, list[Node]] = defaultdict(list)
    datasets_of: dict[str, str] = {}
    names: dict[str, str] = {}
    for column in nodes(database, part, "Column"):
        dataset = dataset_of(column)
        by_dataset[dataset].append(column)
        datasets_of[column.urn] = dataset
        names[column.urn] = column.properties["name"]
    origins: dict[str, list[_Origin]] = defaultdict(list)
    for edge in column_edges(database, part, datasets_of):
        # What every row depends on (a filter, a join) is no source of a single column.
        direct = [one for one in edge.transformations if not one.startswith("INDIRECT")]
        if edge.target in datasets_of and (direct or not edge.transformations):
            origins[edge.target].append(
                _Origin(edge.job, datasets_of[edge.source], names[edge.source], ";".join(direct))
            )
    return _Columns(by_dataset, origins)


def _read_outputs(view: GraphView, runs: list[Node]) -> dict[str, list[str]]:
    """Return the datasets that each run wrote."""
    rows = view.read(
        "read/failures/run_inputs_and_outputs", urns=[run.urn for run in runs], limit=_OUTPUTS_MAX
    )
    return {
        row["urn"]: list(dict.fromkeys(map(itemgetter("dataset"), row["outputs"]))) for row in rows
    }


def _line(row: Iterable[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([_cell(value) for value in row])
    return text.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
