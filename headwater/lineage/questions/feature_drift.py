"""How far the features of a model are from its training data: measures of columns, compared.

The baseline of a feature is its measure in the version that the training read, and in up to nine
versions before it. The bounds are those of `measure_changes.find_shift`: more than two standard
deviations and more than 5 %. A feature is the column of the same
name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from headwater.cypher.driver.database import Row
from headwater.lineage.questions.measure_changes import (
    MeasureChange,
    Measures,
    find_shift,
    measures_in,
)
from headwater.lineage.questions.outliers import EARLIER_MAX
from headwater.lineage.view import GraphView

REPORTS_MAX = 200


@dataclass(frozen=True)
class MeasuredData:
    """What a run reported of one version of a dataset; `made_at` is None for a source."""

    dataset: str
    version: str
    at: datetime
    made_at: datetime | None
    run: str
    measures: Measures

    @property
    def order(self) -> tuple[datetime, str]:
        """Return the key of the order in time."""
        return self.made_at or self.at, self.version


def read_measures(view: GraphView, datasets: Iterable[str]) -> dict[str, list[MeasuredData]]:
    """Return what runs that the caller may see reported of these datasets, latest first."""
    urns = sorted(set(datasets))
    found: dict[str, list[MeasuredData]] = {}
    if not urns:
        return found
    rows = view.read(
        "read/models/measures", urns=urns, visible=view.visibility.regexes, limit=REPORTS_MAX
    )
    for row in rows:
        found[row["urn"]] = [_measured(row["urn"], one) for one in row["reports"]]
    return found


def _measured(dataset: str, report: Row) -> MeasuredData:
    return MeasuredData(
        dataset,
        report["version"],
        report["at"],
        report["made"],
        report["run"],
        measures_in(report["metrics"]),
    )


def training_baseline(
    inputs: Iterable[tuple[str, str]],
    reports: Mapping[str, Sequence[MeasuredData]],
    features: Iterable[str],
) -> dict[tuple[str, str], list[float]]:
    """Return the values of each measure of each feature, those of the training first.

    inputs: the dataset and the version of everything that the training read.
    """
    wanted = set(features)
    baseline: dict[tuple[str, str], list[float]] = {}
    for dataset, version in sorted(inputs):
        of_version = _newest_of_versions(reports.get(dataset, ()))
        trained = of_version.get(version)
        if trained is None:
            continue
        earlier = [one for one in of_version.values() if one.order < trained.order]
        ordered = sorted(earlier, key=lambda one: one.order, reverse=True)
        for key in trained.measures:
            if key[0] in wanted and key not in baseline:
                values = [one.measures[key] for one in (trained, *ordered) if key in one.measures]
                baseline[key] = values[:EARLIER_MAX]
    return baseline


def _newest_of_versions(reports: Sequence[MeasuredData]) -> dict[str, MeasuredData]:
    """Return one report for each version, in which the newest value of each measure counts."""
    found: dict[str, MeasuredData] = {}
    for one in sorted(reports, key=lambda each: (each.at, each.run)):
        before = found.get(one.version)
        measures = {**before.measures, **one.measures} if before else one.measures
        found[one.version] = MeasuredData(
            one.dataset, one.version, one.at, one.made_at, one.run, measures
        )
    return found


def find_drift(
    baseline: Mapping[tuple[str, str], Sequence[float]], measures: Measures
) -> list[MeasureChange]:
    """Return the measures that left the baseline of the training, by feature and measure."""
    changes = (
        find_shift(column, measure, value, baseline[column, measure])
        for (column, measure), value in sorted(measures.items())
        if (column, measure) in baseline
    )
    return [change for change in changes if change is not None]


def newest_measures(reports: Sequence[MeasuredData]) -> Measures:
    """Return the measures of the newest version that has some."""
    of_version = _newest_of_versions(reports)
    known = [one for one in of_version.values() if one.measures]
    return max(known, key=lambda one: one.order).measures if known else {}
