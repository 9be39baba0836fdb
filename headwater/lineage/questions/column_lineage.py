"""Column lineage: the origin and the use of the values of a column, with their transformations.

Each edge of the lineage carries its derivations: the job, and transformations such as
`DIRECT:IDENTITY` or `INDIRECT:FILTER`, followed by `:masked` if the values were masked. A hidden
job is not named.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.questions.lineage import Lineage, lineage
from headwater.lineage.traversal.request import DEPTH_DEFAULT, LineageRequest
from headwater.lineage.view import GraphView
from headwater.schema.urns import column_urn

MASKED = "masked"
DERIVATIONS_MAX = 50_000


@dataclass(frozen=True)
class ColumnDerivation:
    """How a job derives one column from another.

    `dataset_level`: the source column feeds the whole dataset of the target column.
    """

    job: str | None
    transformations: list[str]
    dataset_level: bool

    @property
    def masked(self) -> bool:
        """Return True if every transformation masks the values."""
        return bool(self.transformations) and all(
            MASKED in transformation.split(":") for transformation in self.transformations
        )


@dataclass(frozen=True)
class ColumnLineage:
    """A lineage of columns with the derivations of its edges.

    Edges to an answer or a hidden node have none.
    """

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
    """Return the lineage of a column of a dataset, which may be given by any of its names.

    `fresh` and the errors are those of `lineage`.
    """
    request = LineageRequest(
        (column_urn(namespace, dataset, column),), direction=direction, depth=depth, fresh=fresh
    )
    result = lineage(view, request)
    pairs = [
        {"source": edge.source, "target": edge.target}
        for edge in result.edges
        if edge.source.startswith("column:") and edge.target.startswith("column:")
    ]
    return ColumnLineage(result, _read_derivations(view, pairs) if pairs else {})


def _read_derivations(
    view: GraphView, pairs: list[dict[str, str]]
) -> dict[Edge, list[ColumnDerivation]]:
    rows = view.read("read/nodes/column_transformations", pairs=pairs, limit=DERIVATIONS_MAX)
    hidden_jobs = find_hidden(view, {row["job"] for row in rows if row["job"]})
    derivations: dict[Edge, list[ColumnDerivation]] = defaultdict(list)
    for row in rows:
        derivation = ColumnDerivation(
            job=str(row["job"]) if row["job"] and row["job"] not in hidden_jobs else None,
            transformations=list(row["transformations"] or ()),
            dataset_level=bool(row["datasetLevel"]),
        )
        of_edge = derivations[Edge(row["source"], row["target"], "FEEDS")]
        if derivation not in of_edge:
            of_edge.append(derivation)
    return dict(derivations)
