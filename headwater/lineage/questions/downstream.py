"""What lies downstream of a change, as far as an assessment of it needs to know: the map, column edges, code.

All of it is read whole, whatever may be seen, because a way that leads out of sight and back is a way; who asks sees
only what `visible` leaves. What a bound cut off is told in `truncated`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headwater.cypher.driver.database import Row
from headwater.lineage.history_pages import newest
from headwater.lineage.nodes import read_nodes
from headwater.lineage.questions.lineage import EDGES_MAX, NODES_MAX
from headwater.lineage.traversal.bfs import CITING, MAP_DOWN, Bounds, Layer, explore
from headwater.lineage.view import GraphView
from headwater.schema.visibility import UNRESTRICTED

DEPTH_MAX = 50
ANSWERS_PER_DATASET_MAX = 100
# Readers that read no more are among them.
MAP_DOWN_EVER = Layer(
    False,
    onward="read/traversal/dataset_consumers_ever",
    beyond="read/traversal/job_outputs_ever",
    hop="read/traversal/direct_targets_ever",
)


@dataclass(frozen=True)
class ColumnEdge:
    """A column of a dataset is made of another, or (`column` None) all of the dataset depends on it. `job` is "" where
    a dataset tells it itself."""

    job: str
    ways: tuple[str, ...]
    target: str
    dataset: str
    column: str | None

    @property
    def is_identity(self) -> bool:
        return self.ways == ("DIRECT:IDENTITY",)


@dataclass
class DownstreamGraph:
    """The map downstream of some nodes.

    `reads`: dataset -> the jobs that read it, and what data goes to with nothing known between.
    `outputs`: job -> dataset -> the inputs it is known to come from (None: any of them). `inputs`: job -> all that it
    reads, downstream or not. `writers`: dataset that changes -> the jobs that make it. `covered`: the jobs of whose
    outputs every column has lineage. `dialects`: job -> what its SQL is in. `rows`: the properties of every node."""

    reads: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    outputs: dict[str, dict[str, frozenset[str] | None]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    covered: set[str] = field(default_factory=set)
    rows: dict[str, Row] = field(default_factory=dict)
    dialects: dict[str, str] = field(default_factory=dict)
    writers: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    inputs: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    truncated: str = ""


def read_downstream(
    view: GraphView, nodes: Iterable[str], *, seconds: float, ever: bool = False
) -> DownstreamGraph:
    """The map downstream of datasets and jobs, as it is now or `ever` was; what column lineage leads to is on it."""
    layer = MAP_DOWN_EVER if ever else MAP_DOWN
    whole = view.visible_to(UNRESTRICTED)
    starts = list(dict.fromkeys(nodes))
    bounds = Bounds.within(seconds, depth=DEPTH_MAX, nodes_max=NODES_MAX, edges_max=EDGES_MAX)
    walk = explore(whole, layer, {"map": starts}, bounds)["map"]
    found = DownstreamGraph(truncated=walk.truncated)
    for edge in sorted(walk.edges):
        if edge.type == "FEEDS":
            found.reads[edge.source].append(edge.target)
    jobs = [urn for urn in walk.nodes if urn.startswith("job:")]
    for row in whole.read(layer.beyond, urns=jobs, limit=EDGES_MAX):
        narrow = frozenset(row["derived"]) if row["derived"] or row["told"] else None
        found.outputs[row["process"]][row["place"]] = narrow
    datasets = [urn for urn in starts if urn.startswith("dataset:")]
    for row in whole.read("read/traversal/dataset_producers", urns=datasets, limit=EDGES_MAX):
        found.writers[row["place"]].append(row["process"])
    jobs += [job for listed in found.writers.values() for job in listed if job not in walk.nodes]
    for row in whole.read("read/traversal/job_inputs", urns=jobs, limit=EDGES_MAX):
        found.inputs[row["process"]].append(row["place"])
    beside = [urn for listed in (*found.inputs.values(), *found.outputs.values()) for urn in listed]
    found.rows = read_nodes(whole, dict.fromkeys([*walk.nodes, *jobs, *beside]))
    found.dialects = _dialects(whole, [job for job in jobs if found.rows.get(job, {}).get("sql")])
    found.covered = _covered(whole, jobs)
    return found


def column_edges(
    view: GraphView, columns: Iterable[str]
) -> tuple[dict[str, list[ColumnEdge]], bool]:
    """Where each of these columns goes, and whether that is all."""
    found: dict[str, list[ColumnEdge]] = defaultdict(list)
    rows = view.read("read/impact/column_edges", urns=list(columns), limit=EDGES_MAX + 1)
    for row in rows[:EDGES_MAX]:
        edge = ColumnEdge(
            row["job"] or "", tuple(row["ways"] or ()), row["target"], row["dataset"], row["column"]
        )
        found[row["source"]].append(edge)
    return found, len(rows) <= EDGES_MAX


def citing_answers(
    view: GraphView, datasets: Iterable[str], columns: Iterable[str]
) -> Mapping[str, set[str]]:
    """The answers that cite each of these columns, and versions of each of these datasets; answers that rest on such an
    answer are among them."""
    whole = view.visible_to(UNRESTRICTED)
    found: dict[str, set[str]] = defaultdict(set)
    for row in whole.read("read/traversal/citing_answers", urns=list(columns), limit=EDGES_MAX):
        found[row["source"]].add(row["target"])
    for urn, page in newest(
        whole, "read/nodes/dataset_answers", list(datasets), first=ANSWERS_PER_DATASET_MAX
    ).items():
        found[urn].update(page.entries)
    bounds = Bounds.within(5.0, depth=1, nodes_max=NODES_MAX, edges_max=EDGES_MAX)
    resting = explore(
        whole,
        CITING,
        {place: sorted(answers) for place, answers in found.items() if answers},
        bounds,
    )
    return {
        place: {urn for urn in walk.nodes if urn.startswith("answer:")}
        for place, walk in resting.items()
    }


def _dialects(view: GraphView, jobs: list[str]) -> dict[str, str]:
    """What the sql facets of jobs say which dialect they are in."""
    found = {}
    for row in view.read("read/nodes/facts", urns=jobs) if jobs else ():
        facets = json.loads(row["facts"] or "{}").get("facets") or {}
        told = json.loads(facets["sql"][2] or "{}") if "sql" in facets else {}
        if isinstance(told.get("dialect"), str):
            found[row["urn"]] = told["dialect"]
    return found


def _covered(view: GraphView, jobs: list[str]) -> set[str]:
    """The jobs whose column lineage is whole: every column of all they make comes from somewhere, and what rows depend
    on is told as well, without which a filter could hide."""
    outputs: dict[str, list[bool]] = defaultdict(list)
    telling = set()
    for row in view.read("read/impact/column_coverage", urns=jobs) if jobs else ():
        outputs[row["process"]].append(row["columns"] > 0 and row["covered"] == row["columns"])
        if row["indirect"]:
            telling.add(row["process"])
    return {job for job, whole in outputs.items() if all(whole) and job in telling}
