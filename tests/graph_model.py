"""A lineage graph in memory that answers traversals as Neo4j does, for laws over many graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from headwater.cypher.driver.database import Database, Row
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.filters import EVERY_NODE, Filter
from headwater.lineage.traversal.layers import DATASETS_DOWN, DATASETS_UP
from headwater.lineage.traversal.request import Bounds, ResumePoint, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView
from headwater.schema.urns import dataset_urn, job_urn
from headwater.schema.visibility import UNRESTRICTED, Visibility

SEEN, UNSEEN = "seen", "unseen"


def ds(name: str) -> str:
    """A dataset of that name: one that begins with h lies out of sight."""
    return dataset_urn(UNSEEN if name.startswith("h") else SEEN, name)


def job(name: str) -> str:
    return job_urn(UNSEEN if name.startswith("h") else SEEN, name)


@dataclass
class Map:
    """Jobs with the datasets they read and produce, what some outputs are known to come from,
    and which jobs feed others. Datasets of an even number are tagged even, jobs of an odd one
    are of the type ODD.
    """

    inputs: dict[str, set[str]] = field(default_factory=dict)
    outputs: dict[str, set[str]] = field(default_factory=dict)
    derived: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    visibility: Visibility = UNRESTRICTED
    feeds: set[tuple[str, str]] = field(default_factory=set)

    def add(
        self,
        name: str,
        inputs: list[str],
        outputs: list[str],
        derived: dict[str, list[str]] | None = None,
    ) -> Map:
        urn = job(name)
        self.inputs.setdefault(urn, set()).update(map(ds, inputs))
        self.outputs.setdefault(urn, set()).update(map(ds, outputs))
        for output, sources in (derived or {}).items():
            self.derived[(urn, ds(output))] = set(map(ds, sources))
        return self

    @property
    def urns(self) -> set[str]:
        return {
            *self.inputs,
            *(one for some in (*self.inputs.values(), *self.outputs.values()) for one in some),
        }

    def seen(self) -> Map:
        """The same map for somebody who sees only a part."""
        return replace(self, visibility=Visibility((SEEN,)))

    def read(self, name: str, *, urns: list[str], **_: Any) -> list[Row]:
        known = self.derived
        if name == "read/traversal/dataset_consumers":
            return [
                {"datasetOrVersion": u, "jobOrRun": j}
                for u in urns
                for j, some in self.inputs.items()
                if u in some
            ]
        if name == "read/traversal/job_inputs":
            return [
                {"jobOrRun": j, "datasetOrVersion": d} for j in urns for d in self.inputs.get(j, ())
            ]
        if name == "read/traversal/job_outputs":
            return [
                {"jobOrRun": j, "datasetOrVersion": d, "derived": list(known.get((j, d), ()))}
                for j in urns
                for d in self.outputs.get(j, ())
            ]
        if name == "read/traversal/dataset_producers":
            return [
                {"datasetOrVersion": u, "jobOrRun": j, "derived": list(known.get((j, u), ()))}
                for u in urns
                for j, some in self.outputs.items()
                if u in some
            ]
        if name == "read/nodes/filter_properties":
            return [_judged_by(urn) for urn in urns]
        at = {"read/traversal/direct_targets": 0, "read/traversal/direct_sources": 1}[name]
        return [{"source": pair[0], "target": pair[1]} for pair in self.feeds if pair[at] in urns]

    def walk(
        self,
        start: str,
        *,
        upstream: bool = False,
        depth: int = 50,
        nodes_max: int = 5_000,
        marks: Mapping[str, ResumePoint] | None = None,
        where: Filter = EVERY_NODE,
    ) -> Traversal:
        bounds = Bounds.within(60, depth=depth, nodes_max=nodes_max, edges_max=20_000)
        layer = DATASETS_UP if upstream else DATASETS_DOWN
        return traverse(
            GraphView(cast(Database, self), self.visibility),
            TraversalRequest(layer, bounds, resume_from=marks or {}, filter=where),
            {start: [start]},
        )[start]


def _judged_by(urn: str) -> Row:
    is_even = int(urn[-1], 36) % 2 == 0
    row: Row = dict.fromkeys(["field", "first", "last"])
    return {
        **row,
        "urn": urn,
        "namespace": SEEN,
        "owners": [],
        "tags": ["even=true"] * is_even,
        "type": "ODD"[is_even * 3 :],
    }
