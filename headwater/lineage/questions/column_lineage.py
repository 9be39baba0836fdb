"""Where the values of a column come from and go to, and in which ways.

A lineage of columns, and beside each of its edges what is known of it: through which job, and how: `DIRECT:IDENTITY`,
`INDIRECT:FILTER`, with `:masked` where the values were masked on the way. A job that may not be seen is not named.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from headwater.lineage.node_visibility import hidden
from headwater.lineage.questions.lineage import DEPTH_DEFAULT, Lineage, lineage
from headwater.lineage.traversal.bfs import Edge
from headwater.lineage.view import GraphView
from headwater.schema.urns import column_urn

MASKED = "masked"
WAYS_MAX = 50_000


@dataclass(frozen=True)
class ColumnDerivation:
    """How one column comes from another in one job; `dataset_level`: the other feeds the whole of its dataset."""

    job: str | None
    transformations: list[str]
    dataset_level: bool

    @property
    def masked(self) -> bool:
        """Whether no way leads past a mask."""
        return bool(self.transformations) and all(
            MASKED in way.split(":") for way in self.transformations
        )


@dataclass(frozen=True)
class ColumnLineage:
    """A lineage of columns and the ways of its edges; an edge to an answer or to a stub has none."""

    lineage: Lineage
    derivations: dict[Edge, list[ColumnDerivation]]


def column_lineage(
    view: GraphView,
    namespace: str,
    dataset: str,
    column: str,
    *,
    direction: str = "BOTH",
    depth: int = DEPTH_DEFAULT,
    fresh: bool = False,
) -> ColumnLineage:
    """The lineage of a column of a dataset by any of its names. `fresh` and what it raises are as with `lineage`."""
    found = lineage(
        view,
        column_urn(namespace, dataset, column),
        direction=direction,
        depth=depth,
        fresh=fresh,
    )
    pairs = [
        edge
        for edge in found.edges
        if edge.source.startswith("column:") and edge.target.startswith("column:")
    ]
    asked = [{"source": edge.source, "target": edge.target} for edge in pairs]
    rows = (
        view.read("read/nodes/column_transformations", pairs=asked, limit=WAYS_MAX) if asked else []
    )
    unseen = hidden(view, {row["job"] for row in rows if row["job"]})
    derivations: dict[Edge, list[ColumnDerivation]] = defaultdict(list)
    for row in rows:
        job = None if not row["job"] or row["job"] in unseen else str(row["job"])
        way = ColumnDerivation(job, list(row["ways"] or ()), bool(row["whole"]))
        known = derivations[Edge(row["source"], row["target"], "FEEDS")]
        if way not in known:
            known.append(way)
    return ColumnLineage(found, dict(derivations))
