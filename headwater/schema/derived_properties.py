"""Properties that a node omits because another property implies them.

A graph has millions of runs and versions, and each property costs space. A run keeps its number of
attempts only if it is more than one, and its last-seen time only if it differs from its end. A
version keeps the id of its run, which gives the urn; of the datasets that it came from, only those
without an edge; and its start only if it differs from the start of its run.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from headwater.schema.urns import run_urn

Properties = Mapping[str, Any]
# By label: each property that a node may omit, and the properties that imply it.
DERIVED_PROPERTIES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "PipelineRun": {"attempts": (), "lastSeen": ("finishedAt",)},
    "Artifact": {"run": ("complete", "runId"), "derivedFrom": (), "startedAt": ()},
}


def with_derived_properties(
    label: str,
    properties: Properties,
    came_from: list[str] | None = None,
    began: datetime | None = None,
) -> dict[str, Any]:
    """Return the properties of a node with those that it omits.

    Args:
        label: Label of the node.
        properties: Stored properties.
        came_from: Datasets of the versions that a version came from, if requested.
        began: Start of the run that made a version, if requested.
    """
    whole = dict(properties)
    if label == "PipelineRun":
        if whole.get("attempts") is None:
            whole["attempts"] = 1
        if whole.get("lastSeen") is None and whole.get("finishedAt") is not None:
            whole["lastSeen"] = whole["finishedAt"]
    elif label == "Artifact":
        # No event states that the run made a version that is only referred to.
        if whole.get("complete") is not None and whole.get("runId"):
            whole["run"] = run_urn(whole["runId"])
        if began is not None and whole.get("startedAt") is None:
            whole["startedAt"] = began
        if came_from:
            whole["derivedFrom"] = sorted({*came_from, *(whole.get("derivedFrom") or ())})
    return whole
