"""Series of one number of a dataset over its versions, and the spells outside their baselines.

Only values that mean the same are compared. The rows of a write are compared with those of writes
by the same job in the same mode: an append counts what it adds, an overwrite everything. A measure
that a reader reports is compared with those that the same job reported. A dataset without versions
is a source; each run that measured it is a point.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any

from headwater.health.findings.datasets.baseline import (
    LOOKBACK,
    ROW_COUNT,
    Point,
    find_baseline_shift,
    is_judged,
)
from headwater.health.findings.datasets.history import DatasetHistory, Report, Version
from headwater.health.findings.datasets.spells import Spell
from headwater.lineage.questions.measure_changes import MeasureChange

_DIGITS = 6


@dataclass(frozen=True)
class Measured:
    """The numbers of one version as one job reported them, or of one reading of a source.

    urn: the version, or the run that read the source.
    at: when the version was made, or the source was read; seen_at: when it was reported.
    """

    urn: str
    run: str
    job: str
    at: datetime
    seen_at: datetime
    values: Mapping[tuple[str, str], float]


@dataclass
class Series:
    """Numbers of the same meaning."""

    job: str
    points: list[Measured] = field(default_factory=list)


def row_count_series(history: DatasetHistory) -> list[Series]:
    """Return the series of numbers of rows."""
    found: dict[tuple[str, ...], Series] = {}
    counted: set[str] = set()
    for version in history.complete_versions:
        if version.row_count is not None:
            counted.add(version.urn)
            values = {("", ROW_COUNT): float(version.row_count)}
            _add(found, _writer_key(version), _of_version(version, values))
    for report, read in _reports_on_data(history):
        if report.row_count is None or (read is not None and read.urn in counted):
            continue
        values = {("", ROW_COUNT): report.row_count}
        _add(found, _key(report, read), _of_report(report, read, values))
    return _ordered(found)


def column_series(history: DatasetHistory) -> list[Series]:
    """Return the series of measures of columns."""
    found: dict[tuple[str, ...], Series] = {}
    for report, version in _reports_on_data(history):
        if report.measures:
            _add(found, _key(report, version), _of_report(report, version, report.measures))
    return _ordered(found)


def spells_outside(series: Series, kind: str) -> Iterator[Spell]:
    """Yield the spells in which a measure of this kind was outside its baseline.

    A spell begins with the first version outside and ends with the next one within bounds.
    """
    keys = {*chain.from_iterable(one.values for one in series.points)}
    for column, measure in sorted(keys):
        if measure.startswith(kind):
            yield from _spells(series, column, measure)


def _spells(series: Series, column: str, measure: str) -> Iterator[Spell]:
    earlier: list[Point] = []
    spell: Spell | None = None
    for one, value in _newest(series, (column, measure)):
        point = Point(one.at, value)
        shift = find_baseline_shift(column, measure, point, earlier)
        if shift is not None and spell is None:
            evidence = _evidence(one, shift.change, is_weekday=shift.is_weekday)
            item = (column, measure, series.job)
            spell = Spell(one.urn, item, one.seen_at, one.seen_at, evidence)
        elif spell is not None and (shift is not None or not is_judged(point, earlier)):
            spell = replace(spell, last_seen=max(spell.last_seen, one.seen_at))
        elif spell is not None:
            yield _ended(spell, one)
            spell = None
        earlier = [*earlier[-LOOKBACK + 1 :], point]
    if spell is not None:
        yield spell


def _ended(spell: Spell, one: Measured) -> Spell:
    ended_at = max(one.seen_at, spell.last_seen)
    return replace(spell, resolved_at=ended_at, resolved_by=one.urn)


def _evidence(one: Measured, change: MeasureChange, *, is_weekday: bool) -> dict[str, Any]:
    return {
        "column": change.column,
        "measure": change.measure,
        "value": round(change.value, _DIGITS),
        "mean": round(change.mean, _DIGITS),
        "deviation": None if change.deviation is None else round(change.deviation, _DIGITS),
        "share": None if change.share is None else round(change.share, _DIGITS),
        "compared": change.version_count,
        "sameWeekday": is_weekday,
        "job": one.job,
        "run": one.run,
    }


def _reports_on_data(history: DatasetHistory) -> Iterator[tuple[Report, Version | None]]:
    """Yield the reports of runs on complete versions, or on a dataset without versions."""
    versions = {version.urn: version for version in history.complete_versions}
    for report in history.reports:
        version = versions.get(report.version)
        if report.run and (version is not None or not history.versions):
            yield report, version


def _writer_key(version: Version) -> tuple[str, ...]:
    return ("write", version.job, version.write_mode or "")


def _key(report: Report, version: Version | None) -> tuple[str, ...]:
    if report.is_write and version is not None:
        return _writer_key(version)
    return ("read", report.job)


def _of_version(version: Version, values: Mapping[tuple[str, str], float]) -> Measured:
    at = version.created_at
    return Measured(version.urn, version.run, version.job, at, at, values)


def _of_report(
    report: Report, version: Version | None, values: Mapping[tuple[str, str], float]
) -> Measured:
    if version is None:
        return Measured(report.run, report.run, report.job, report.at, report.at, values)
    seen_at = max(report.at, version.created_at)
    return Measured(version.urn, report.run, report.job, version.created_at, seen_at, values)


def _add(found: dict[tuple[str, ...], Series], key: tuple[str, ...], one: Measured) -> None:
    found.setdefault(key, Series(one.job)).points.append(one)


def _ordered(found: Mapping[tuple[str, ...], Series]) -> list[Series]:
    return [series for _, series in sorted(found.items())]


def _newest(series: Series, key: tuple[str, str]) -> list[tuple[Measured, float]]:
    """Return the values of a measure; of several reports on one version the newest counts."""
    newest = {
        one.urn: one
        for one in sorted(series.points, key=lambda point: (point.seen_at, point.run))
        if key in one.values
    }
    return [(one, one.values[key]) for one in sorted(newest.values(), key=_order)]


def _order(one: Measured) -> tuple[datetime, str]:
    return one.at, one.urn


def all_spells(series: Iterable[Series], kind: str) -> list[Spell]:
    """Return the spells of all series for measures of one kind."""
    found: list[Spell] = []
    for one in series:
        found += spells_outside(one, kind)
    return found
