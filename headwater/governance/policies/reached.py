"""What is upstream and downstream of nodes, for policies: bounded searches of the lineage graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from headwater.chunks import chunks
from headwater.lineage.hidden_nodes import HIDDEN, Edge
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.layers import DATASETS_DOWN, DATASETS_UP, Layer, at_instant
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView

HOPS_MAX = 50
# From a dataset its readers are one hop away; from a job, two.
_READER_HOPS = 2
NODES_MAX = 2_000
_ROWS_MAX = 200_000
_SECONDS_MAX = 30.0
_STARTS_PER_SEARCH = 100
_URNS_PER_QUERY_MAX = 1_000
_ANSWERS_MAX = 1_000
_DATASET, _JOB, _ANSWER = "dataset:", "job:", "answer:"
_READABLE = (_DATASET, HIDDEN)


@dataclass
class Reached:
    """The nodes that searches from one node reached; None: not searched.

    inputs: the datasets directly upstream; sources: those that come from no other dataset.
    readers: the jobs that read the node, or datasets that come from it without a known job.
    citing: the answers that cite a version of the node.
    answers: the answers that cite a version of it or of a dataset downstream.
    A hidden node is a stub.
    """

    upstream: list[str] | None = None
    inputs: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    is_cut: bool = False
    readers: list[str] | None = None
    citing: list[str] = field(default_factory=list)
    downstream: list[str] | None = None
    answers: list[str] = field(default_factory=list)
    is_downstream_cut: bool = False

    @property
    def urns_upstream(self) -> Iterator[str]:
        """Return the nodes that the search upstream reached."""
        return chain(self.upstream or (), self.inputs, self.sources)

    @property
    def urns_downstream(self) -> Iterator[str]:
        """Return the nodes that the search downstream reached."""
        return chain(self.readers or (), self.citing, self.downstream or (), self.answers)


def read_reached(
    view: GraphView,
    urns: Sequence[str],
    directions: Mapping[str, bool],
    *,
    as_of: datetime | None = None,
    job: str = "",
) -> dict[str, Reached]:
    """Return what searches from each of these nodes reach.

    Args:
        view: The graph as the caller sees it.
        urns: Datasets, jobs and answers that the caller may see.
        directions: Which of `upstream`, `consumers` and `downstream` are searched.
        as_of: Search the lineage as it was then; None: as it is.
        job: A job that is about to write the nodes, so that its inputs are upstream too.
    """
    reached = {urn: Reached() for urn in urns}
    if directions["upstream"]:
        _search_upstream(view, reached, as_of, job)
    if directions["consumers"] or directions["downstream"]:
        hops = HOPS_MAX if directions["downstream"] else _READER_HOPS
        _search_downstream(view, reached, as_of, hops)
    return reached


def _search_upstream(
    view: GraphView, reached: Mapping[str, Reached], as_of: datetime | None, job: str
) -> None:
    cited = _cited(view, [urn for urn in reached if urn.startswith(_ANSWER)])
    writer = [job] if job else []
    starts = {urn: cited.get(urn, [urn, *writer]) for urn in reached}
    for urn, traversal in _traverse(view, DATASETS_UP, starts, HOPS_MAX, as_of):
        one = reached[urn]
        is_answer = urn in cited
        datasets = [node for node in traversal.nodes if node.startswith(_READABLE) and node != urn]
        one.upstream = sorted(datasets)
        one.inputs = sorted(
            starts[urn] if is_answer else [node for node in datasets if traversal.nodes[node] <= 1]
        )
        candidates = datasets if is_answer or not urn.startswith(_DATASET) else [urn, *datasets]
        one.sources = sources_among(candidates, traversal.edges)
        one.is_cut = bool(traversal.truncated) or bool(traversal.frontier)


def _search_downstream(
    view: GraphView, reached: Mapping[str, Reached], as_of: datetime | None, hops: int
) -> None:
    starts = {urn: [urn] for urn in reached if not urn.startswith(_ANSWER)}
    datasets: set[str] = set()
    for urn, traversal in _traverse(view, DATASETS_DOWN, starts, hops, as_of):
        one = reached[urn]
        near = {urn}
        if urn.startswith(_JOB):
            near = {edge.target for edge in traversal.edges if edge.source == urn}
        one.readers = sorted({edge.target for edge in traversal.edges if edge.source in near})
        if hops == HOPS_MAX:
            one.downstream = sorted(node for node in traversal.nodes if node != urn)
            one.is_downstream_cut = bool(traversal.truncated) or bool(traversal.frontier)
        datasets.update(node for node in traversal.nodes if node.startswith(_DATASET))
    citing = _citing(view, datasets)
    for urn in starts:
        one = reached[urn]
        one.citing = sorted(citing.get(urn, ()))
        below = citing_of((urn, *(one.downstream or ())), citing)
        one.answers = sorted(below)


def sources_among(datasets: Iterable[str], edges: Iterable[Edge]) -> list[str]:
    """Return the datasets that come from no other one by these edges, in order.

    A job without inputs, or whose only input is its output, brings data from outside the graph.
    """
    origins: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        origins[edge.target].add(edge.source)

    def is_source(dataset: str) -> bool:
        for origin in origins.get(dataset, ()):
            others = origins.get(origin, set()) if origin.startswith(_JOB) else {origin}
            if others - {dataset}:
                return False
        return True

    return sorted(filter(is_source, datasets))


def citing_of(nodes: Iterable[str], citing: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the answers that cite one of these nodes."""
    return set(chain.from_iterable(citing.get(node, ()) for node in nodes))


def _traverse(
    view: GraphView,
    layer: Layer,
    starts: Mapping[str, Sequence[str]],
    hops: int,
    as_of: datetime | None,
) -> Iterator[tuple[str, Traversal]]:
    """Yield a traversal for each key, in chunks that share their reads."""
    for some in chunks(sorted(starts), _STARTS_PER_SEARCH):
        request = TraversalRequest(
            at_instant(layer) if as_of else layer,
            Bounds.within(_SECONDS_MAX, depth=hops, nodes_max=NODES_MAX, edges_max=_ROWS_MAX),
            as_of=as_of,
            shared_rows_max=_ROWS_MAX,
            find_resume_points=False,
        )
        yield from traverse(view, request, {urn: starts[urn] for urn in some}).items()


def _cited(view: GraphView, answers: Sequence[str]) -> dict[str, list[str]]:
    """Return the datasets that answers cite; visible answers cite visible datasets only."""
    cited: dict[str, list[str]] = {urn: [] for urn in answers}
    for some in chunks(answers, _URNS_PER_QUERY_MAX):
        for row in view.read("read/findings/cited_datasets", urns=some):
            cited[row["urn"]] = sorted(row["datasets"])
    return cited


def _citing(view: GraphView, datasets: Iterable[str]) -> dict[str, list[str]]:
    """Return the visible answers that cite a version of datasets, by dataset."""
    citing: dict[str, list[str]] = {}
    for some in chunks(sorted(datasets), _URNS_PER_QUERY_MAX):
        for row in view.read("read/figures/answers_of_datasets", urns=some, limit=_ANSWERS_MAX):
            citing[row["dataset"]] = row["answers"]
    hidden = find_hidden(view, set(chain.from_iterable(citing.values())))
    for dataset, answers in citing.items():
        citing[dataset] = sorted(set(answers) - hidden)
    return citing
