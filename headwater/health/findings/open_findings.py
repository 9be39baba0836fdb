"""How many findings of each node are open, and how urgent they are, for pictures of many nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.chunks import chunks
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.view import GraphView

_URNS_PER_QUERY_MAX = 2_000


@dataclass(frozen=True)
class OpenFindings:
    """The number of open findings of a node, and their most urgent tier; "" without one."""

    count: int
    tier: str


NO_OPEN_FINDINGS = OpenFindings(0, "")


def open_findings_of(view: GraphView, urns: Sequence[str]) -> dict[str, OpenFindings]:
    """Return the open findings of those of these nodes that have some and are visible."""
    found: dict[str, OpenFindings] = {}
    for some in chunks(select_visible(view, urns), _URNS_PER_QUERY_MAX):
        rows = view.read(
            "read/findings/open_of_subjects", urns=some, visible=view.visibility.regexes
        )
        for row in rows:
            found[row["subject"]] = OpenFindings(row["count"], row["tier"])
    return found
