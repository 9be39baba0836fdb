"""Project the data quality that a run reports of its inputs and outputs, and mark its edges.

Most runs report none. Of the million runs that read a dataset or a version, a few report quality.
So the edges of these few carry markers that an index finds: `qualityDataset` holds the dataset, the
others hold the version, and `reportedAt` gives the order. `failedChecks` and `failedColumns` name
the failed assertions, because Cypher reads no JSON.
"""

from __future__ import annotations

from headwater.ingest.project.values import Properties, read_facet, time_at
from headwater.schema.facets.usage import DataQualityAssertions
from headwater.schema.facts import Registers, Usage

_FACETS = {"assertions": "dataQualityAssertions", "metrics": "dataQualityMetrics"}
# The run reported the quality of the version, reported when its source was updated, or saw a test
# fail on any of its inputs.
_OF_VERSION = ("checkedVersion", "updatedVersion", "failingVersion")
_NO_CHECKS: Properties = dict.fromkeys(("failedChecks", "failedColumns"))
_UNMARKED: Properties = dict.fromkeys(("qualityDataset", "reportedAt", *_OF_VERSION))


def quality_written(usage: Usage, dataset: str, reported: int | None) -> Properties:
    """Return the quality that a run reports of an output, and its markers.

    `reported` is the end of the run or its last event, in microseconds since 1970.
    """
    found = _quality_facets(usage)
    is_reported = any(found.values())
    return {
        **found,
        **failed_checks(usage.facets),
        "qualityDataset": dataset if is_reported else None,
        "reportedAt": time_at(reported or 0) if is_reported else None,
    }


def quality_read(usage: Usage, dataset: str, reported: int | None, *, failing: bool) -> Properties:
    """Return the quality that a run reports of an input, and its markers.

    `mark_version` enters the version once it is known.
    """
    found = _quality_facets(usage)
    is_reported = any(found.values())
    if not is_reported and not failing:
        return {**found, **_NO_CHECKS, **_UNMARKED}
    return {
        **found,
        **failed_checks(usage.facets),
        "qualityDataset": dataset if is_reported else None,
        "reportedAt": time_at(reported or 0),
        "checkedVersion": is_reported or None,
        "updatedVersion": '"lastUpdated"' in (found["metrics"] or "") or None,
        "failingVersion": failing or None,
    }


def mark_version(version: str, properties: Properties) -> Properties:
    """Return the properties of the edge from a version to its reader, with that version entered."""
    if properties.get("reportedAt") is None:
        return properties
    return {**properties, **{key: version for key in _OF_VERSION if properties[key]}}


def failed_checks(facets: Registers) -> Properties:
    """Return the failed assertions among facets as two lists of equal length: checks and columns.

    The column of a check of the whole dataset is "".
    """
    if "dataQualityAssertions" not in facets:
        return _NO_CHECKS
    found = read_facet(DataQualityAssertions, facets, "dataQualityAssertions")
    failed = {
        (one.name or one.assertion, one.column or "")
        for one in (found.assertions if found else ())
        if not one.success
    }
    if not failed:
        return _NO_CHECKS
    checks, columns = zip(*sorted(failed), strict=True)
    return {"failedChecks": list(checks), "failedColumns": list(columns)}


def _quality_facets(usage: Usage) -> Properties:
    registers = {key: usage.facets.get(name) for key, name in _FACETS.items()}
    return {
        key: register.value or None if register else None for key, register in registers.items()
    }
