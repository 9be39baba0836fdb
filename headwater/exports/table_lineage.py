"""The lineage of a part by tables, as the catalogues of other tools have it."""

from __future__ import annotations

from collections import defaultdict

from headwater.cypher.driver.database import Database
from headwater.exports.part import Part
from headwater.exports.rows import (
    ColumnEdge,
    JobEdge,
    Node,
    column_edges,
    dataset_of,
    job_edges,
    nodes,
)


class TableLineage:
    """The lineage of a part, by urn: a dataset has its upstream datasets, columns and jobs."""

    def __init__(self, database: Database, part: Part) -> None:
        self.datasets = {node.urn: node for node in nodes(database, part, "Dataset")}
        self.columns: dict[str, list[Node]] = defaultdict(list)
        self.dataset_of_column: dict[str, str] = {}
        self.name_of_column: dict[str, str] = {}
        for column in nodes(database, part, "Column"):
            dataset = dataset_of(column)
            self.columns[dataset].append(column)
            self.dataset_of_column[column.urn] = dataset
            self.name_of_column[column.urn] = column.properties["name"]
        self.reads: dict[str, set[str]] = defaultdict(set)
        self.writes: dict[str, set[str]] = defaultdict(set)
        for edge in job_edges(database, part):
            self._add(edge)
        self.column_sources: dict[str, set[str]] = defaultdict(set)
        for found in column_edges(database, part, self.dataset_of_column):
            self._add_column(found)

    def _add(self, edge: JobEdge) -> None:
        if edge.properties.get("current") is False or edge.dataset not in self.datasets:
            return
        side = self.reads if edge.type == "FEEDS" else self.writes
        side[edge.job].add(edge.dataset)

    def _add_column(self, edge: ColumnEdge) -> None:
        if edge.target in self.dataset_of_column:
            self.column_sources[edge.target].add(edge.source)

    def upstreams(self) -> dict[str, set[str]]:
        """Return the datasets that the jobs of each dataset read."""
        upstreams: dict[str, set[str]] = defaultdict(set)
        for job, outputs in self.writes.items():
            for output in outputs:
                upstreams[output] |= self.reads.get(job, set()) - {output}
        return upstreams
