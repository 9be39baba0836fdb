"""The lineage graph downstream of a change, as an impact assessment needs it.

It holds datasets, jobs, column edges and code. Hidden nodes are read too, because a path may leave
the visible part and return to it; the caller filters with `visible`. `truncated` names the bound
that cut the graph short.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headwater.cypher.driver.database import Row
from headwater.lineage.history_pages import read_history_pages
from headwater.lineage.nodes import read_nodes
from headwater.lineage.pagination import PageRequest
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import CITATIONS_DOWN, DATASETS_DOWN, Layer
from headwater.lineage.traversal.request import EDGES_MAX, NODES_MAX, Bounds, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView
from headwater.schema.visibility import UNRESTRICTED

DEPTH_MAX = 50
ANSWERS_PER_DATASET_MAX = 100
_CITATION_SECONDS_MAX = 5.0
# Includes jobs that once read a dataset.
DATASETS_DOWN_EVER = Layer(
    False,
    producers_or_consumers="read/traversal/dataset_consumers_ever",
    inputs_or_outputs="read/traversal/job_outputs_ever",
    direct_neighbours="read/traversal/direct_targets_ever",
)


@dataclass(frozen=True)
class ColumnEdge:
    """A derivation of a column, or (`column` None) of a whole dataset, from another column.

    `job` is "" if the dataset itself declares the derivation.
    """

    job: str
    transformations: tuple[str, ...]
    target: str
    dataset: str
    column: str | None

    @property
    def is_identity(self) -> bool:
        return self.transformations == ("DIRECT:IDENTITY",)


@dataclass
class DownstreamGraph:
    """The lineage graph downstream of some nodes."""

    # Dataset -> the jobs that read it, and its direct targets.
    reads: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    # Job -> dataset -> the inputs from which it is known to derive (None: any of them).
    outputs: dict[str, dict[str, frozenset[str] | None]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    # The jobs whose column lineage covers every column of their outputs.
    covered: set[str] = field(default_factory=set)
    # Urn -> the properties of the node.
    rows: dict[str, Row] = field(default_factory=dict)
    # Job -> the dialect of its SQL.
    dialects: dict[str, str] = field(default_factory=dict)
    # Changed dataset -> the jobs that produce it.
    writers: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    # Job -> all its inputs, downstream or not.
    inputs: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    truncated: str = ""


def read_downstream(
    view: GraphView, nodes: Iterable[str], *, seconds: float, ever: bool = False
) -> DownstreamGraph:
    """Read the lineage graph downstream of datasets and jobs, hidden nodes included.

    With `ever`, past edges count too. The targets of column lineage are part of the graph.
    """
    layer = DATASETS_DOWN_EVER if ever else DATASETS_DOWN
    everything = view.visible_to(UNRESTRICTED)
    starts = list(dict.fromkeys(nodes))
    bounds = Bounds.within(seconds, depth=DEPTH_MAX, nodes_max=NODES_MAX, edges_max=EDGES_MAX)
    traversal = traverse(everything, TraversalRequest(layer, bounds), {"map": starts})["map"]
    graph = DownstreamGraph(truncated=traversal.truncated)
    for edge in sorted(traversal.edges):
        if edge.type == "FEEDS":
            graph.reads[edge.source].append(edge.target)
    jobs = [urn for urn in traversal.nodes if urn.startswith("job:")]
    _read_outputs(everything, layer, jobs, graph)
    datasets = [urn for urn in starts if urn.startswith("dataset:")]
    for row in everything.read("read/traversal/dataset_producers", urns=datasets, limit=EDGES_MAX):
        graph.writers[row["datasetOrVersion"]].append(row["jobOrRun"])
        if row["jobOrRun"] not in traversal.nodes:
            jobs.append(row["jobOrRun"])
    for row in everything.read("read/traversal/job_inputs", urns=jobs, limit=EDGES_MAX):
        graph.inputs[row["jobOrRun"]].append(row["datasetOrVersion"])
    reached = dict.fromkeys([*traversal.nodes, *jobs])
    for neighbours in (*graph.inputs.values(), *graph.outputs.values()):
        reached.update(dict.fromkeys(neighbours))
    graph.rows = read_nodes(everything, reached)
    with_sql = [job for job in jobs if graph.rows.get(job, {}).get("sql")]
    graph.dialects = _read_dialects(everything, with_sql)
    graph.covered = _covered_jobs(everything, jobs)
    return graph


def _read_outputs(view: GraphView, layer: Layer, jobs: list[str], graph: DownstreamGraph) -> None:
    for row in view.read(layer.inputs_or_outputs, urns=jobs, limit=EDGES_MAX):
        is_known = row["derived"] or row["explicit"]
        sources = frozenset(row["derived"]) if is_known else None
        graph.outputs[row["jobOrRun"]][row["datasetOrVersion"]] = sources


def column_edges(
    view: GraphView, columns: Iterable[str]
) -> tuple[dict[str, list[ColumnEdge]], bool]:
    """Return the edges that leave each column, and True if these are all."""
    edges: dict[str, list[ColumnEdge]] = defaultdict(list)
    rows = view.read("read/impact/column_edges", urns=list(columns), limit=EDGES_MAX + 1)
    for row in rows[:EDGES_MAX]:
        edge = ColumnEdge(
            job=row["job"] or "",
            transformations=tuple(row["transformations"] or ()),
            target=row["target"],
            dataset=row["dataset"],
            column=row["column"],
        )
        edges[row["source"]].append(edge)
    return edges, len(rows) <= EDGES_MAX


def citing_answers(
    view: GraphView, datasets: Iterable[str], columns: Iterable[str]
) -> Mapping[str, set[str]]:
    """Return the answers that cite each column, and versions of each dataset.

    Answers that cite such an answer are included, hidden ones too.
    """
    everything = view.visible_to(UNRESTRICTED)
    answers_by_node: dict[str, set[str]] = defaultdict(set)
    rows = everything.read("read/traversal/citing_answers", urns=list(columns), limit=EDGES_MAX)
    for row in rows:
        answers_by_node[row["source"]].add(row["target"])
    page = PageRequest(ANSWERS_PER_DATASET_MAX)
    pages = read_history_pages(everything, "read/nodes/dataset_answers", list(datasets), page)
    for urn, answers in pages.items():
        answers_by_node[urn].update(answers.entries)
    starts = {urn: sorted(citing) for urn, citing in answers_by_node.items() if citing}
    bounds = Bounds.within(_CITATION_SECONDS_MAX, depth=1, nodes_max=NODES_MAX, edges_max=EDGES_MAX)
    traversals = traverse(everything, TraversalRequest(CITATIONS_DOWN, bounds), starts)
    return {urn: set(_answers(traversal)) for urn, traversal in traversals.items()}


def _answers(traversal: Traversal) -> list[str]:
    return [urn for urn in traversal.nodes if urn.startswith("answer:")]


def _read_dialects(view: GraphView, jobs: list[str]) -> dict[str, str]:
    """Return the dialects that the sql facets of jobs name."""
    if not jobs:
        return {}
    dialects = {}
    for row in view.read("read/nodes/facts", urns=jobs):
        facets = json.loads(row["facts"] or "{}").get("facets") or {}
        facet = json.loads(facets["sql"][2] or "{}") if "sql" in facets else {}
        if isinstance(facet.get("dialect"), str):
            dialects[row["urn"]] = facet["dialect"]
    return dialects


def _covered_jobs(view: GraphView, jobs: list[str]) -> set[str]:
    """Return the jobs whose column lineage is complete.

    Every column of every output must have a known origin. An indirect dependency of the rows must
    be reported too, because column lineage without any may hide a filter.
    """
    if not jobs:
        return set()
    partly_covered: set[str] = set()
    with_indirect: set[str] = set()
    for row in view.read("read/impact/column_coverage", urns=jobs):
        if not 0 < row["columns"] == row["covered"]:
            partly_covered.add(row["job"])
        if row["indirect"]:
            with_indirect.add(row["job"])
    return with_indirect - partly_covered
