"""Read the facets of a report on the quality of data: checks, measures, the last update. Pure."""

from __future__ import annotations

import math
from datetime import datetime

from headwater.errors import EventError
from headwater.health.findings.datasets.history import Check, Report
from headwater.lineage.questions.measure_changes import measures_in
from headwater.schema.events import parse_instant, to_datetime
from headwater.schema.facets.dataset import DataQualityMetrics
from headwater.schema.facets.kinds import salvage
from headwater.schema.facets.usage import DataQualityAssertions

# A measure of this kind is followed by its share: `quantile 0.5`.
QUANTILE = "quantile"
_TEXT_MAX = 200


def report_of(
    *,
    at: datetime,
    run: str,
    job: str,
    version: str,
    is_write: bool,
    assertions: str | None,
    metrics: str | None,
) -> Report:
    """Return the report of a run from its facets, given as JSON."""
    facet = salvage(DataQualityMetrics, metrics) if metrics else None
    return Report(
        at=at,
        run=run,
        job=job,
        version=version,
        is_write=is_write,
        checks=checks_in(assertions),
        measures={**measures_in(metrics), **_quantiles(facet)} if metrics else {},
        row_count=_finite(facet.row_count) if facet else None,
        last_updated=last_updated_in(metrics),
    )


def checks_in(assertions: str | None) -> tuple[Check, ...]:
    """Return the checks of a dataQualityAssertions facet, given as JSON, by name and column.

    A check that is listed twice succeeds only if both results are successes.
    """
    facet = salvage(DataQualityAssertions, assertions) if assertions else None
    found: dict[tuple[str, str], Check] = {}
    for one in facet.assertions if facet else ():
        check = Check(
            name=one.name or one.assertion,
            column=one.column or "",
            success=one.success,
            severity=(one.severity or "").casefold(),
            expected=(one.expected or "")[:_TEXT_MAX],
            actual=(one.actual or "")[:_TEXT_MAX],
        )
        key = (check.name, check.column)
        if key not in found or found[key].success:
            found[key] = check
    return tuple(found[key] for key in sorted(found))


def last_updated_in(metrics: str | None) -> datetime | None:
    """Return `lastUpdated` of a dataQualityMetrics facet; None if it is missing or malformed."""
    facet = salvage(DataQualityMetrics, metrics) if metrics else None
    if facet is None or not facet.last_updated:
        return None
    try:
        return to_datetime(parse_instant(facet.last_updated))
    except EventError:
        return None


def _quantiles(facet: DataQualityMetrics | None) -> dict[tuple[str, str], float]:
    """Return the quantiles of all columns; the measure is `quantile` with its share."""
    found: dict[tuple[str, str], float] = {}
    for column, metrics in facet.column_metrics.items() if facet else ():
        for share, value in (metrics.quantiles or {}).items():
            if math.isfinite(value):
                found[column, f"{QUANTILE} {share}"] = float(value)
    return found


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
