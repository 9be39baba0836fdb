"""The shape of the graph: labels, properties, edges. Times are ZONED DATETIME in UTC.

`labels.toml`, `records.toml` and `edges.toml` list every label, edge and property with its meaning;
`load_graph_types` reads them. docs/reference/graph.md is written from them.

Each node that comes from events has a `urn` and keeps its facts, with every facet as sent, in
`facts`. Facts are packed JSON (`headwater.schema.facts_codec`), because they are most of the size
of a node. No other property is bytes.

A node omits a property that another property or edge implies. Headwater adds it to every answer:
`attempts` and `lastSeen` of every run; `startedAt`, `run` (its urn) and the whole `derivedFrom` of
every version (`headwater.schema.derived_properties`).

Producer, ConformanceFinding, Receipt, Finding, Delivery, Detector, Checkpoint, Migration,
Retention and WriteLock stand outside of lineage.
The pipelines (docs/how-to/pipelines.md) write RunSummary, Analysis and Retention. An Artifact with
`rolledUp` lost its run to a summary: a remaining run has read it, and lineage ends at it as at a
source. Dataset, Symlink and Job have `lineageRevision`: the revision that last changed their edges
in the lineage graph or their displayed properties.

If a run reports the quality of a dataset, its edge has `qualityDataset` (the dataset) and
`reportedAt` (the end of the run or its last event). FEEDS then has `checkedVersion` (the version),
`updatedVersion` (the version, if the report dates its last update) and, if tests failed in the run,
`failingVersion` (the version). Indexes find these few edges among many.

Edges of the lineage graph, which shows how jobs and datasets are wired, are never removed.
`current` is true for the edges that hold now; `firstSeen` and `lastSeen` are the first and last
observation. A path over FEEDS|PRODUCED|CITED_BY stays in its layer.

A job may have a million runs and a dataset a million versions, all attached to one node. Indexes in
the order of time find them: runs by namespace, pipelineName and startedAt; versions by dataset,
complete and createdAt; long-running versions by dataset and longRunningSince. An edge to a node
that these indexes miss has `indexedUnder`, the urn of the job or dataset, and an index of its own:
RUN_OF of a run that has the name of another of its jobs or no startedAt, VERSION_OF of a version
without `complete` or createdAt. CITED_BY has `dataset` (urn) of the cited version, because
citations are few among versions.

The origins of an output: if it is `explicit`, the targets of its DERIVED_FROM edges, even if there
are none; otherwise these targets if there are any and, of a job, the edge has no `fromAllInputs`;
otherwise every input of its run or job.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec

# urn kind -> label. In GraphQL the kind of a node is its label in capitals: PIPELINE_RUN, ...
LABELS = {
    "dataset": "Dataset",
    "job": "Job",
    "run": "PipelineRun",
    "source": "Source",
    "artifact": "Artifact",
    "answer": "Answer",
    "column": "Column",
    "schema": "SchemaVersion",
}

NODE_KINDS = {
    "Dataset": "DATASET",
    "Job": "JOB",
    "PipelineRun": "PIPELINE_RUN",
    "Source": "SOURCE",
    "Artifact": "ARTIFACT",
    "Answer": "ANSWER",
    "Column": "COLUMN",
    "SchemaVersion": "SCHEMA_VERSION",
}

# The sides of a job that a successful run reported (`reportedSides`): its inputs, its outputs, or
# both. FAILED marks a run that failed in an execution of several runs.
READS, WRITES, BOTH, FAILED = "reads", "writes", "both", "failed"
_TABLES = ("labels.toml", "records.toml", "edges.toml")


class Property(msgspec.Struct, array_like=True, frozen=True):
    """A property of a node or an edge, with its type in Cypher, its unit and an example."""

    name: str
    type: str
    unit: str
    meaning: str
    example: str


class Label(msgspec.Struct, frozen=True):
    """A label of nodes, the layer in which they are, and their properties.

    A further label of some nodes names their first label in `of` and has the properties of that.
    """

    name: str
    layer: str
    meaning: str
    properties: tuple[Property, ...] = ()
    of: str = ""


class EdgeType(msgspec.Struct, frozen=True):
    """A type of edges between nodes of some labels, and the properties of these edges."""

    type: str
    source: tuple[str, ...] = msgspec.field(name="from")
    target: tuple[str, ...] = msgspec.field(name="to")
    layer: str
    meaning: str
    properties: tuple[Property, ...] = ()


class GraphTypes(msgspec.Struct, frozen=True):
    """Every label and every type of edge of the graph."""

    labels: tuple[Label, ...] = msgspec.field(name="label")
    edges: tuple[EdgeType, ...] = msgspec.field(name="edge")


@cache
def load_graph_types() -> GraphTypes:
    """Return every label and every type of edge, from the tables beside this module."""
    folder = files("headwater.schema")
    texts = (folder.joinpath(name).read_text(encoding="utf-8") for name in _TABLES)
    labels, records, edges = map(tomllib.loads, texts)
    tables = {"label": labels["label"] + records["label"], "edge": edges["edge"]}
    return msgspec.convert(tables, GraphTypes)
