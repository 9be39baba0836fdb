"""Column measures of versions that left the baseline of earlier versions.

Runs report measures of the columns that they read or wrote (dataQualityMetrics). Three of them are
compared: the mean (sum over count), the share of nulls, and the number of distinct values. The
baseline of a version is the newest ten earlier complete versions of its dataset with that measure.
A source has no versions, so its baseline is the newest ten earlier runs that measured it.

A measure changed if it is more than two standard deviations from the mean of the baseline, or more
than 5% (of that mean; a share of nulls: 5 percentage points). The standard deviation is that of a
sample and needs three values. If all values of the baseline are equal, 1% counts as a change. If
the mean is within two standard deviations of 0, a share of it means nothing and does not count.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean, stdev

from headwater.cypher.driver.database import Row
from headwater.lineage.questions.outliers import EARLIER_MAX, EARLIER_MIN
from headwater.lineage.view import GraphView
from headwater.schema.facets.dataset import ColumnMetrics, DataQualityMetrics
from headwater.schema.facets.kinds import salvage

MEAN, NULL_SHARE, DISTINCT_COUNT = "mean", "null share", "distinct count"
DEVIATIONS_MAX = 2.0
SHARE_MAX = 0.05
# The smallest change against a baseline of equal values.
SHARE_OF_CONSTANT = 0.01
SUBJECTS_MAX = 500
_REPORTS_MAX = 60
# Values that differ by less are equal but for rounding.
_ROUNDING = 1e-9
_EARLIEST = datetime.min.replace(tzinfo=UTC)

# (column, measure) -> value.
Measures = dict[tuple[str, str], float]


@dataclass(frozen=True)
class MeasureChange:
    """A measure of a column that left its baseline.

    mean, deviation: the mean and the standard deviation of the baseline; the latter is None for
    fewer than three values.
    """

    column: str
    measure: str
    value: float
    mean: float
    deviation: float | None
    version_count: int

    @property
    def deviations(self) -> float | None:
        """Return the distance to the mean in standard deviations, or None without any."""
        return (self.value - self.mean) / self.deviation if self.deviation else None

    @property
    def share(self) -> float | None:
        """Return the change as a share of the mean, or of all rows for a share of nulls.

        None for a mean of 0.
        """
        scale = _scale(self.measure, self.mean)
        return (self.value - self.mean) / scale if scale else None

    @property
    def rank(self) -> tuple[float, float, str, str]:
        """Return the key by which the largest changes come first."""
        share = math.inf if self.share is None else abs(self.share)
        return -share, -abs(self.deviations or math.inf), self.column, self.measure


@dataclass(frozen=True)
class MeasuredVersion:
    """A version, or a source as one run read it.

    run: the run that read the source; "" for a version of known origin.
    at: when the version was made, or when the run started.
    """

    urn: str
    dataset: str
    run: str
    at: datetime


@dataclass(frozen=True)
class ChangedMeasures:
    """The measures of a version that left their baseline, the largest change first.

    baseline: the urns of the earlier versions, or of the earlier runs that read the source.
    """

    subject: MeasuredVersion
    changes: tuple[MeasureChange, ...]
    baseline: tuple[str, ...]


def find_changed_measures(
    view: GraphView, subjects: Iterable[MeasuredVersion]
) -> list[ChangedMeasures]:
    """Return the versions whose measures left their baseline, by reports of visible runs."""
    listed = list(subjects)[:SUBJECTS_MAX]
    rows = [
        {"number": number, "dataset": one.dataset, "at": one.at}
        for number, one in enumerate(listed)
    ]
    if not rows:
        return []
    visible = view.visibility.regexes
    found = []
    for row in view.read(
        "read/failures/measure_reports", rows=rows, visible=visible, limit=_REPORTS_MAX
    ):
        changed = _compare(listed[row["number"]], [*row["before"], *row["since"]])
        if changed is not None:
            found.append(changed)
    return found


def _compare(subject: MeasuredVersion, reports: Sequence[Row]) -> ChangedMeasures | None:
    own = [one for one in reports if _is_own(subject, one)]
    if not own:
        return None
    earlier: dict[str, list[Row]] = defaultdict(list)
    made: dict[str, datetime] = {}
    for one in reports:
        urn, at = (one["run"], one["at"]) if subject.run else (one["version"], one["made"])
        if _is_earlier(subject, one):
            earlier[urn].append(one)
            made[urn] = max(made.get(urn, _EARLIEST), at)
    newest_first = sorted(earlier, key=lambda urn: (made[urn], urn), reverse=True)[:EARLIER_MAX]
    baseline = {urn: _merge(earlier[urn]) for urn in newest_first}
    changes = []
    for (column, measure), value in _merge(own).items():
        values = [one[column, measure] for one in baseline.values() if (column, measure) in one]
        change = find_change(column, measure, value, values)
        if change is not None:
            changes.append(change)
    if not changes:
        return None
    ordered = sorted(changes, key=lambda one: one.rank)
    return ChangedMeasures(subject, tuple(ordered), tuple(baseline))


def _is_own(subject: MeasuredVersion, report: Row) -> bool:
    if subject.run:
        return bool(report["run"] == subject.run and report["version"] == subject.urn)
    return bool(report["version"] == subject.urn)


def _is_earlier(subject: MeasuredVersion, report: Row) -> bool:
    if subject.run:
        return bool(report["run"] != subject.run and report["at"] < subject.at)
    if report["version"] == subject.urn or report["complete"] is not True:
        return False
    return report["made"] is not None and bool(report["made"] < subject.at)


def _merge(reports: Iterable[Row]) -> Measures:
    """Return the measures of several reports on one version; the newest report counts."""
    merged: Measures = {}
    ordered = sorted(reports, key=lambda one: (one["at"], one["run"]), reverse=True)
    for report in ordered:
        merged = {**measures_in(report["metrics"]), **merged}
    return merged


def measures_in(metrics: str) -> Measures:
    """Return the measures of all columns in a dataQualityMetrics facet, given as JSON."""
    facet = salvage(DataQualityMetrics, metrics)
    found: Measures = {}
    if facet is None:
        return found
    for column, one in facet.column_metrics.items():
        values = {
            MEAN: _mean(one, facet.row_count),
            NULL_SHARE: _null_share(one, facet.row_count),
            DISTINCT_COUNT: one.distinct_count,
        }
        for measure, value in values.items():
            if value is not None and math.isfinite(value):
                found[column, measure] = float(value)
    return found


def _mean(metrics: ColumnMetrics, row_count: float | None) -> float | None:
    count = metrics.count
    if count is None and row_count is not None:
        count = row_count - (metrics.null_count or 0)
    if metrics.sum is None or not count or count < 0:
        return None
    return metrics.sum / count


def _null_share(metrics: ColumnMetrics, row_count: float | None) -> float | None:
    nulls = metrics.null_count
    if nulls is None:
        return None
    # Without the number of rows, `count` has the values that are not null.
    rows = row_count if row_count is not None else nulls + (metrics.count or 0)
    return min(nulls / rows, 1.0) if rows > 0 else None


def find_change(
    column: str, measure: str, value: float, earlier: Sequence[float]
) -> MeasureChange | None:
    """Return the change of a measure against earlier values, newest first; None within bounds."""
    change = compare_measure(column, measure, value, earlier)
    return change if change and (_is_far(change) or _is_large(change)) else None


def find_shift(
    column: str, measure: str, value: float, earlier: Sequence[float]
) -> MeasureChange | None:
    """Return the change if it exceeds both bounds, of deviations and of the share.

    A change that exceeds one of them is a sign for somebody who searches. One that exceeds both is
    worth telling somebody who does not. A baseline of equal values has no deviations, and a mean
    near 0 no share; then the other bound decides.
    """
    change = compare_measure(column, measure, value, earlier)
    return change if change and _is_shift(change) else None


def compare_measure(
    column: str, measure: str, value: float, earlier: Sequence[float]
) -> MeasureChange | None:
    """Return a measure with its baseline, of earlier values, newest first; None without any."""
    known = earlier[:EARLIER_MAX]
    if not known:
        return None
    deviation = stdev(known) if len(known) >= EARLIER_MIN else None
    mean = fmean(known)
    if deviation is not None and deviation <= _ROUNDING * abs(mean):
        deviation = 0.0
    return MeasureChange(column, measure, value, mean, deviation, len(known))


def _is_shift(change: MeasureChange) -> bool:
    distance, scale = abs(change.value - change.mean), _scale(change.measure, change.mean)
    usual = DEVIATIONS_MAX * (change.deviation or 0.0)
    if distance <= max(usual, _ROUNDING * abs(change.value)):
        return False
    return scale <= usual or distance > SHARE_MAX * scale


def _is_far(change: MeasureChange) -> bool:
    """Return True if the value is too many standard deviations from the mean."""
    return change.deviations is not None and abs(change.deviations) > DEVIATIONS_MAX


def _is_large(change: MeasureChange) -> bool:
    """Return True if the change is too large a share of the mean."""
    distance, scale = abs(change.value - change.mean), _scale(change.measure, change.mean)
    if change.deviation == 0.0:
        return distance > max(SHARE_OF_CONSTANT * scale, _ROUNDING * abs(change.value))
    if change.deviation is not None and scale <= DEVIATIONS_MAX * change.deviation:
        return False
    return distance > max(SHARE_MAX * scale, _ROUNDING * abs(change.value))


def _scale(measure: str, mean: float) -> float:
    """Return the number that a change is divided by."""
    return 1.0 if measure == NULL_SHARE else abs(mean)
