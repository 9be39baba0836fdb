"""Rules `row-count`, `null-share`, `distinct-count`, `mean` and `quantile`: a number of a version
left the baseline of the versions before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from headwater.health.findings.datasets.baseline import ROW_COUNT
from headwater.health.findings.datasets.history import DatasetHistory
from headwater.health.findings.datasets.reports import QUANTILE
from headwater.health.findings.datasets.series import (
    all_spells,
    column_series,
    row_count_series,
)
from headwater.health.findings.datasets.spells import episodes_of
from headwater.health.findings.models import Episode
from headwater.lineage.questions.measure_changes import DISTINCT_COUNT, MEAN, NULL_SHARE

# Rule -> the measure of a column, or the beginning of its name.
_MEASURES = {
    "null-share": NULL_SHARE,
    "distinct-count": DISTINCT_COUNT,
    "mean": MEAN,
    "quantile": QUANTILE,
}


def detect_row_count(history: DatasetHistory, _: datetime) -> Iterator[Episode]:
    """Yield the episodes in which versions had far more or fewer rows than those before them.

    A stream writes what arrives, so its micro-batches have no usual size.
    """
    if history.is_gone or any(producer.is_streaming for producer in history.producers):
        return
    spells = all_spells(row_count_series(history), ROW_COUNT)
    yield from episodes_of("row-count", history.urn, spells, "counts")


def detect_column_measures(history: DatasetHistory, _: datetime) -> Iterator[Episode]:
    """Yield the episodes in which a measure of a column left its baseline."""
    if history.is_gone:
        return
    series = column_series(history)
    for rule, kind in _MEASURES.items():
        yield from episodes_of(rule, history.urn, all_spells(series, kind), "columns")
