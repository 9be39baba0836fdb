"""What a node does not keep because something else that it keeps says it, and how it is told all
the same.

Of what there is by the million every property costs, a long one a record of its own. So a run keeps
how often it was begun only when that was more than once, and when it was last seen only when that
was not when it ended; a version keeps the id of its run, which spells the urn, of the datasets that
it came from those that its edges do not tell, and when it was begun only when that was not when its
run was.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from headwater.schema.urns import run_urn

Properties = Mapping[str, Any]
# label -> what its nodes may spare -> the properties that say it
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
    """The properties of a node with those that it spares. `came_from`: the datasets of the versions
    that a version is known to come from, `began`: when the run that made it did, where anybody
    asks.
    """
    whole = dict(properties)
    if label == "PipelineRun":
        if whole.get("attempts") is None:
            whole["attempts"] = 1
        if whole.get("lastSeen") is None and whole.get("finishedAt") is not None:
            whole["lastSeen"] = whole["finishedAt"]
    elif label == "Artifact":
        # Of one that is only named nobody said that its run made it.
        if whole.get("complete") is not None and whole.get("runId"):
            whole["run"] = run_urn(whole["runId"])
        if began is not None and whole.get("startedAt") is None:
            whole["startedAt"] = began
        if came_from:
            whole["derivedFrom"] = sorted({*came_from, *(whole.get("derivedFrom") or ())})
    return whole
