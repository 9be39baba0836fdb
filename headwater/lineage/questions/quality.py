"""What checks said of a dataset or of one version of it, and what was measured in it.

A run that reads a dataset may say what it found in that very version: assertions that held or did not
(dataQualityAssertions) and measures (dataQualityMetrics); a run that writes one may measure its output. These stand on
the edges between versions and runs. What is said of the dataset as such, by no run or beside it, is among its facets
and counts as of the time it was last sent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from headwater.lineage.node_visibility import keep_visible
from headwater.lineage.nodes import read_registers
from headwater.lineage.view import GraphView
from headwater.schema.events import to_datetime
from headwater.schema.facets.dataset import ColumnMetrics as SaidOfColumn
from headwater.schema.facets.dataset import DataQualityMetrics
from headwater.schema.facets.kinds import salvage
from headwater.schema.facets.usage import DataQualityAssertions

# So many of the newest readings and writings of one node are looked at.
SAID_MAX = 200
_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Assertion:
    """The newest result of one check. `run` and `version` are urns; None where no run said it."""

    name: str
    column: str | None
    success: bool
    severity: str | None
    expected: str | None
    actual: str | None
    reported_at: datetime | None
    run: str | None
    version: str | None


@dataclass(frozen=True)
class ColumnMeasure:
    column: str
    null_count: int | None
    distinct_count: int | None
    sum: float | None
    count: float | None
    min: float | None
    max: float | None
    quantiles: dict[str, float]


@dataclass(frozen=True)
class Measure:
    """What was measured in one version at one time."""

    row_count: int | None
    bytes: int | None
    file_count: int | None
    columns: list[ColumnMeasure]
    reported_at: datetime | None
    run: str | None
    version: str | None


@dataclass(frozen=True)
class Quality:
    """`assertions`: every check by its newest result, those that failed first. `measures`: the newest first."""

    assertions: list[Assertion] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)

    @property
    def failed(self) -> int:
        return sum(not assertion.success for assertion in self.assertions)


@dataclass(frozen=True)
class _Said:
    at: datetime | None
    run: str | None
    version: str | None
    assertions: str | None
    measures: str | None


def quality(view: GraphView, urns: Iterable[str]) -> dict[str, Quality]:
    """What is said of each of these datasets and versions, by urn; by runs that may be seen."""
    wanted = keep_visible(view, dict.fromkeys(urns))
    said: dict[str, list[_Said]] = defaultdict(list)
    queries = {
        "dataset:": "read/estate/dataset_quality",
        "artifact:": "read/estate/version_quality",
    }
    for prefix, name in queries.items():
        some = [urn for urn in wanted if urn.startswith(prefix)]
        if some:
            for row in view.read(name, urns=some, sees=view.visibility.regexes, limit=SAID_MAX):
                said[row["urn"]].extend(_said(one) for one in row["said"])
    for urn, registers in read_registers(
        view, [urn for urn in wanted if urn.startswith("dataset:")]
    ).items():
        said[urn].extend(_of_dataset(registers))
    return {urn: weigh(said[urn]) for urn in wanted}


def weigh(said: Iterable[_Said]) -> Quality:
    """The newest result of every check, and every measure."""
    newest_first = sorted(said, key=lambda one: (one.at or _EARLIEST, one.run or ""), reverse=True)
    results: dict[tuple[str, str | None], Assertion] = {}
    measures: dict[tuple[str | None, str | None], list[Measure]] = {}
    for one in newest_first:
        for assertion in _assertions(one):
            results.setdefault((assertion.name, assertion.column), assertion)
        # A run that read a whole version and what a failed run left since says one thing of both.
        measures.setdefault((one.run, one.measures), _measures(one))
    ordered = sorted(
        results.values(), key=lambda found: (found.success, found.name, found.column or "")
    )
    return Quality(ordered, [measure for found in measures.values() for measure in found])


def _said(row: Mapping[str, Any]) -> _Said:
    return _Said(row["at"], row["run"], row["version"], row["assertions"], row["metrics"])


def _of_dataset(registers: Mapping[str, list[Any]]) -> list[_Said]:
    """What the facets of a dataset itself say, each as of when it was sent."""
    assertions, measures = (
        registers.get(name) for name in ("dataQualityAssertions", "dataQualityMetrics")
    )
    found = []
    if assertions and assertions[2]:
        found.append(_Said(to_datetime(assertions[0]), None, None, assertions[2], None))
    if measures and measures[2]:
        found.append(_Said(to_datetime(measures[0]), None, None, None, measures[2]))
    return found


def _assertions(said: _Said) -> list[Assertion]:
    """Where one event tells of a check twice, it held only when it held both times."""
    facet = salvage(DataQualityAssertions, said.assertions) if said.assertions else None
    found: dict[tuple[str, str | None], Assertion] = {}
    for one in facet.assertions if facet else ():
        result = Assertion(
            name=one.name or one.assertion,
            column=one.column,
            success=one.success,
            severity=one.severity,
            expected=one.expected,
            actual=one.actual,
            reported_at=said.at,
            run=said.run,
            version=said.version,
        )
        before = found.get((result.name, result.column))
        if before is None or before.success:
            found[(result.name, result.column)] = result
    return list(found.values())


def _measures(said: _Said) -> list[Measure]:
    facet = salvage(DataQualityMetrics, said.measures) if said.measures else None
    if facet is None:
        return []
    columns = [_column(name, of_column) for name, of_column in sorted(facet.column_metrics.items())]
    rows, size, files = (
        _whole(count) for count in (facet.row_count, facet.bytes, facet.file_count)
    )
    return [Measure(rows, size, files, columns, said.at, said.run, said.version)]


def _column(name: str, said: SaidOfColumn) -> ColumnMeasure:
    return ColumnMeasure(
        column=name,
        null_count=_whole(said.null_count),
        distinct_count=_whole(said.distinct_count),
        sum=said.sum,
        count=said.count,
        min=said.min,
        max=said.max,
        quantiles=said.quantiles or {},
    )


def _whole(count: int | float | None) -> int | None:
    return None if count is None or abs(count) >= 2**63 else int(count)
