"""What a run says of the quality of what it read and wrote, and by which marks that is found.

Most runs say nothing of it. A dataset, or one version of it, may be read by a million runs of which a few do, so the
edges of these carry what they are asked for by: `quality` the dataset, the others the version, where there is something
to find, and `saidAt` the order in which it is told.
"""

from __future__ import annotations

from headwater.ingest.project.values import Properties, time_at
from headwater.schema.facts import Usage

_FACETS = {"assertions": "dataQualityAssertions", "metrics": "dataQualityMetrics"}
# A run says something of the version's quality; tells when its source was updated; saw tests fail, of whatever it read.
_OF_VERSION = ("checked", "updated", "failing")
_UNMARKED: Properties = dict.fromkeys(("quality", "saidAt", *_OF_VERSION))


def quality_written(usage: Usage, dataset: str, said: int | None) -> Properties:
    """What a run says it found in what it wrote, as it was sent, and the marks of that; `said`: when it ended or was
    last heard of."""
    found = _found(usage)
    is_said = any(found.values())
    return {
        **found,
        "quality": dataset if is_said else None,
        "saidAt": time_at(said or 0) if is_said else None,
    }


def quality_read(usage: Usage, dataset: str, said: int | None, *, failing: bool) -> Properties:
    """The same of what it read. Of which version, is told when that is known, by `marked`."""
    found = _found(usage)
    is_said = any(found.values())
    if not is_said and not failing:
        return {**found, **_UNMARKED}
    return {
        **found,
        "quality": dataset if is_said else None,
        "saidAt": time_at(said or 0),
        "checked": is_said or None,
        "updated": '"lastUpdated"' in (found["metrics"] or "") or None,
        "failing": failing or None,
    }


def marked(version: str, properties: Properties) -> Properties:
    """The properties of the edge from this version to its reader."""
    if properties.get("saidAt") is None:
        return properties
    return {**properties, **{key: version for key in _OF_VERSION if properties[key]}}


def _found(usage: Usage) -> Properties:
    registers = {key: usage.facets.get(name) for key, name in _FACETS.items()}
    return {
        key: register.value or None if register else None for key, register in registers.items()
    }
