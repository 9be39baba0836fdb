"""The data quality of a dataset or of one version: results of checks, and measures.

A run that reads a version may report assertions about it (dataQualityAssertions) and measures
(dataQualityMetrics). A run that writes one may report measures of its output. Both stand on the
edges between versions and runs, also if the run sends them as facets of the dataset. Reports on a
dataset itself, outside a run, are among its facets and count from the time of their last event.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from headwater.lineage.node_visibility import select_visible
from headwater.lineage.nodes import read_registers
from headwater.lineage.view import GraphView
from headwater.schema.events import to_datetime
from headwater.schema.facets.dataset import ColumnMetrics, DataQualityMetrics
from headwater.schema.facets.kinds import salvage
from headwater.schema.facets.usage import DataQualityAssertions

# The newest reads and writes of one node whose reports are read.
REPORTS_MAX = 200
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_QUERIES = {
    "dataset:": "read/estate/dataset_quality",
    "artifact:": "read/estate/version_quality",
}


@dataclass(frozen=True)
class Assertion:
    """The newest result of one check; `run` and `version` are None for a report outside a run."""

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
    """The measures of one column."""

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
    """The measures of one version in one report."""

    row_count: int | None
    bytes: int | None
    file_count: int | None
    columns: list[ColumnMeasure]
    reported_at: datetime | None
    run: str | None
    version: str | None


@dataclass(frozen=True)
class Quality:
    """The newest result of every check, failures first, and all measures, newest first."""

    assertions: list[Assertion] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """Return the number of failed checks."""
        return sum(not assertion.success for assertion in self.assertions)


@dataclass(frozen=True)
class _Report:
    """The facets that one run, or one event outside a run, reported; each as JSON or None."""

    reported_at: datetime | None
    run: str | None
    version: str | None
    assertions: str | None
    metrics: str | None


def quality(view: GraphView, urns: Iterable[str]) -> dict[str, Quality]:
    """Return the quality of each visible dataset and version, from the reports of visible runs."""
    visible_urns = select_visible(view, dict.fromkeys(urns))
    reports: dict[str, list[_Report]] = defaultdict(list)
    for prefix, query in _QUERIES.items():
        of_kind = [urn for urn in visible_urns if urn.startswith(prefix)]
        if of_kind:
            visible = view.visibility.regexes
            for row in view.read(query, urns=of_kind, visible=visible, limit=REPORTS_MAX):
                reports[row["urn"]] += [_run_report(entry) for entry in row["reports"]]
    datasets = [urn for urn in visible_urns if urn.startswith("dataset:")]
    for urn, registers in read_registers(view, datasets).items():
        # A run that sends the facet of the dataset reports on the version as well.
        by_runs = {report.metrics for report in reports[urn]}
        reports[urn] += [
            one
            for one in _dataset_reports(registers)
            if one.metrics is None or one.metrics not in by_runs
        ]
    return {urn: _merge(reports[urn]) for urn in visible_urns}


def failed_assertions(
    text: str | None, *, reported_at: datetime | None, run: str | None, version: str | None
) -> list[Assertion]:
    """Return the failed results in a facet of assertions, given as JSON."""
    report = _Report(reported_at, run, version, text, None)
    return [result for result in _assertions(report) if not result.success]


def _merge(reports: Iterable[_Report]) -> Quality:
    """Return the newest result of every check and all measures of some reports."""
    newest_first = sorted(
        reports,
        key=lambda report: (report.reported_at or _EARLIEST, report.run or ""),
        reverse=True,
    )
    results: dict[tuple[str, str | None], Assertion] = {}
    measures: dict[tuple[str | None, str | None], list[Measure]] = {}
    for report in newest_first:
        for assertion in _assertions(report):
            results.setdefault((assertion.name, assertion.column), assertion)
        # A run that read a complete version and a later incomplete one reports once for both.
        measures.setdefault((report.run, report.metrics), _measures(report))
    ordered = sorted(
        results.values(),
        key=lambda result: (result.success, result.name, result.column or ""),
    )
    return Quality(ordered, list(chain.from_iterable(measures.values())))


def _run_report(entry: Mapping[str, Any]) -> _Report:
    return _Report(
        reported_at=entry["at"],
        run=entry["run"],
        version=entry["version"],
        assertions=entry["assertions"],
        metrics=entry["metrics"],
    )


def _dataset_reports(registers: Mapping[str, list[Any]]) -> list[_Report]:
    """Return the reports in the facets of a dataset itself, each from the time of its event."""
    reports = []
    assertions = registers.get("dataQualityAssertions")
    if assertions and assertions[2]:
        reports.append(_Report(to_datetime(assertions[0]), None, None, assertions[2], None))
    metrics = registers.get("dataQualityMetrics")
    if metrics and metrics[2]:
        reports.append(_Report(to_datetime(metrics[0]), None, None, None, metrics[2]))
    return reports


def _assertions(report: _Report) -> list[Assertion]:
    """Return the results in a report; a check reported twice succeeds only if both succeed."""
    facet = salvage(DataQualityAssertions, report.assertions) if report.assertions else None
    results: dict[tuple[str, str | None], Assertion] = {}
    for assertion in facet.assertions if facet else ():
        result = Assertion(
            name=assertion.name or assertion.assertion,
            column=assertion.column,
            success=assertion.success,
            severity=assertion.severity,
            expected=assertion.expected,
            actual=assertion.actual,
            reported_at=report.reported_at,
            run=report.run,
            version=report.version,
        )
        previous = results.get((result.name, result.column))
        if previous is None or previous.success:
            results[(result.name, result.column)] = result
    return list(results.values())


def _measures(report: _Report) -> list[Measure]:
    facet = salvage(DataQualityMetrics, report.metrics) if report.metrics else None
    if facet is None:
        return []
    measure = Measure(
        row_count=_to_integer(facet.row_count),
        bytes=_to_integer(facet.bytes),
        file_count=_to_integer(facet.file_count),
        columns=[_column(name, metrics) for name, metrics in sorted(facet.column_metrics.items())],
        reported_at=report.reported_at,
        run=report.run,
        version=report.version,
    )
    return [measure]


def _column(name: str, metrics: ColumnMetrics) -> ColumnMeasure:
    return ColumnMeasure(
        column=name,
        null_count=_to_integer(metrics.null_count),
        distinct_count=_to_integer(metrics.distinct_count),
        sum=metrics.sum,
        count=metrics.count,
        min=metrics.min,
        max=metrics.max,
        quantiles=metrics.quantiles or {},
    )


def _to_integer(count: int | float | None) -> int | None:
    """Return a count as an integer of 64 bits; None if it does not fit."""
    return None if count is None or abs(count) >= 2**63 else int(count)
