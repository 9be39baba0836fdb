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

VISIBLE_NAMESPACE, HIDDEN_NAMESPACE = "public", "secret"


def ds(name: str) -> str:
    """Return the URN of a dataset; names that begin with h are in the hidden namespace."""
    return dataset_urn(HIDDEN_NAMESPACE if name.startswith("h") else VISIBLE_NAMESPACE, name)


def job(name: str) -> str:
    return job_urn(HIDDEN_NAMESPACE if name.startswith("h") else VISIBLE_NAMESPACE, name)


@dataclass
class LineageModel:
    """A lineage graph: the inputs and outputs of jobs, derivations, and jobs that feed others.

    `derived` has the sources of an output of a job, if they are recorded. Datasets with an even
    number have the tag `even=true`; jobs with an odd number have the type ODD.
    """

    inputs: dict[str, set[str]] = field(default_factory=dict)
    outputs: dict[str, set[str]] = field(default_factory=dict)
    derived: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    visibility: Visibility = UNRESTRICTED
    feeds: set[tuple[str, str]] = field(default_factory=set)
    # As in a `Database` whose queries are planned.
    planning_seconds: float = 0.0

    def add(
        self,
        name: str,
        inputs: list[str],
        outputs: list[str],
        derived: dict[str, list[str]] | None = None,
    ) -> LineageModel:
        urn = job(name)
        self.inputs.setdefault(urn, set()).update(map(ds, inputs))
        self.outputs.setdefault(urn, set()).update(map(ds, outputs))
        for output, sources in (derived or {}).items():
            self.derived[(urn, ds(output))] = set(map(ds, sources))
        return self

    @property
    def urns(self) -> set[str]:
        return set(self.inputs).union(*self.inputs.values(), *self.outputs.values())

    def restricted(self) -> LineageModel:
        """Return the same graph for a caller who may see only the visible namespace."""
        return replace(self, visibility=Visibility((VISIBLE_NAMESPACE,)))

    def read(self, name: str, *, urns: list[str], **_: Any) -> list[Row]:
        """Answer the named queries of a traversal, as `Database.read` does."""
        match name:
            case "read/traversal/dataset_consumers":
                return self._dataset_consumers(urns)
            case "read/traversal/job_inputs":
                return self._job_inputs(urns)
            case "read/traversal/job_outputs":
                return self._job_outputs(urns)
            case "read/traversal/dataset_producers":
                return self._dataset_producers(urns)
            case "read/nodes/filter_properties":
                return [_filter_properties(urn) for urn in urns]
            case "read/traversal/direct_targets":
                pairs = [pair for pair in self.feeds if pair[0] in urns]
            case "read/traversal/direct_sources":
                pairs = [pair for pair in self.feeds if pair[1] in urns]
            case _:
                raise KeyError(name)
        return [{"source": source, "target": target} for source, target in pairs]

    def _dataset_consumers(self, urns: list[str]) -> list[Row]:
        rows: list[Row] = []
        for urn in urns:
            consumers = [name for name, inputs in self.inputs.items() if urn in inputs]
            rows += [{"datasetOrVersion": urn, "jobOrRun": name} for name in consumers]
        return rows

    def _job_inputs(self, urns: list[str]) -> list[Row]:
        rows: list[Row] = []
        for urn in urns:
            inputs = self.inputs.get(urn, ())
            rows += [{"jobOrRun": urn, "datasetOrVersion": dataset} for dataset in inputs]
        return rows

    def _job_outputs(self, urns: list[str]) -> list[Row]:
        rows: list[Row] = []
        for urn in urns:
            rows += [self._output(urn, dataset) for dataset in self.outputs.get(urn, ())]
        return rows

    def _dataset_producers(self, urns: list[str]) -> list[Row]:
        rows: list[Row] = []
        for urn in urns:
            producers = [name for name, outputs in self.outputs.items() if urn in outputs]
            rows += [self._output(name, urn) for name in producers]
        return rows

    def _output(self, name: str, dataset: str) -> Row:
        derived = list(self.derived.get((name, dataset), ()))
        return {"jobOrRun": name, "datasetOrVersion": dataset, "derived": derived}

    def traverse(
        self,
        start: str,
        *,
        upstream: bool = False,
        depth: int = 50,
        nodes_max: int = 5_000,
        resume_from: Mapping[str, ResumePoint] | None = None,
        filter: Filter = EVERY_NODE,
    ) -> Traversal:
        """Return the traversal from one node."""
        bounds = Bounds.within(60, depth=depth, nodes_max=nodes_max, edges_max=20_000)
        layer = DATASETS_UP if upstream else DATASETS_DOWN
        return traverse(
            GraphView(cast(Database, self), self.visibility),
            TraversalRequest(layer, bounds, resume_from=resume_from or {}, filter=filter),
            {start: [start]},
        )[start]


def _filter_properties(urn: str) -> Row:
    is_even = int(urn[-1], 36) % 2 == 0
    row: Row = dict.fromkeys(["field", "first", "last"])
    return {
        **row,
        "urn": urn,
        "namespace": VISIBLE_NAMESPACE,
        "owners": [],
        "tags": ["even=true"] * is_even,
        "type": "ODD"[is_even * 3 :],
    }
