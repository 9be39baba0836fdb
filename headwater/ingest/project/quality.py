"""What a run says of the quality of what it read and wrote, and by which marks that is found.

Most runs say nothing of it. A dataset, or one version of it, may be read by a million runs of which a few do, so the
edges of these carry what they are asked for by: `qualityDataset` the dataset, the others the version, where there is something
to find, and `reportedAt` the order in which it is told.
"""

from __future__ import annotations

from headwater.ingest.project.values import Properties, time_at
from headwater.schema.facts import Usage

_FACETS = {"assertions": "dataQualityAssertions", "metrics": "dataQualityMetrics"}
# A run says something of the version's quality; tells when its source was updated; saw tests fail, of whatever it read.
_OF_VERSION = ("checkedVersion", "updatedVersion", "failingVersion")
_UNMARKED: Properties = dict.fromkeys(("qualityDataset", "reportedAt", *_OF_VERSION))


def quality_written(usage: Usage, dataset: str, said: int | None) -> Properties:
    """What a run says it found in what it wrote, as it was sent, and the marks of that; `said`: when it ended or was
    last heard of."""
    found = _found(usage)
    is_said = any(found.values())
    return {
        **found,
        "qualityDataset": dataset if is_said else None,
        "reportedAt": time_at(said or 0) if is_said else None,
    }


def quality_read(usage: Usage, dataset: str, said: int | None, *, failing: bool) -> Properties:
    """The same of what it read. Of which version, is told when that is known, by `marked`."""
    found = _found(usage)
    is_said = any(found.values())
    if not is_said and not failing:
        return {**found, **_UNMARKED}
    return {
        **found,
        "qualityDataset": dataset if is_said else None,
        "reportedAt": time_at(said or 0),
        "checkedVersion": is_said or None,
        "updatedVersion": '"lastUpdated"' in (found["metrics"] or "") or None,
        "failingVersion": failing or None,
    }


def mark_version(version: str, properties: Properties) -> Properties:
    """The properties of the edge from this version to its reader."""
    if properties.get("reportedAt") is None:
        return properties
    return {**properties, **{key: version for key in _OF_VERSION if properties[key]}}


def _found(usage: Usage) -> Properties:
    registers = {key: usage.facets.get(name) for key, name in _FACETS.items()}
    return {
        key: register.value or None if register else None for key, register in registers.items()
    }
