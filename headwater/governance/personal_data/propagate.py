"""How personal data propagates: over column lineage, jobs without it, and citations. Pure.

Each step has a state, and a path has the worst for knowledge of its steps, in this order:

| state | step |
|---|---|
| EXPOSED | a column takes values of the other; a model or an answer uses the dataset |
| UNKNOWN | a job reads the dataset and writes the other one, and sends no columns |
| INFLUENCED | the column only decides which rows exist, by a filter, a join or a sort |
| MASKED | every transformation of the step masks the values |

A node has the first state that any path to it has, and the shortest such path as explanation. So a
path with one more masking step never exposes more. A declassified node has the state DECLASSIFIED
if a path reaches it, and no path goes on from there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property, lru_cache
from urllib.parse import unquote

from headwater.governance.personal_data.classes import covers
from headwater.schema.edits import NodeApproval

MASKED_SUFFIX = "masked"
_INDIRECT = "INDIRECT"
NODES_MAX = 500_000


class State(IntEnum):
    """What is known about personal data at a node, the most severe first."""

    EXPOSED = 0
    UNKNOWN = 1
    INFLUENCED = 2
    MASKED = 3
    DECLASSIFIED = 4


class Kind(IntEnum):
    """The kind of a dataset: a model and an export leave the estate."""

    DATASET = 0
    MODEL = 1
    EXPORT = 2


@dataclass(frozen=True)
class ColumnEdge:
    """A column of a dataset feeds a column, or a whole dataset (`target` is its urn)."""

    source: str
    target: str
    target_dataset: str
    job: str
    transformations: tuple[str, ...]


@dataclass(frozen=True)
class Crossing:
    """A job reads the dataset and writes `output`; "" is a link without a job.

    has_columns: it sent column lineage for `output`.
    """

    job: str
    output: str
    has_columns: bool


@dataclass(frozen=True)
class Citation:
    """An answer cites a dataset or a column of it (`column` is not "")."""

    answer: str
    column: str = ""


@dataclass
class DatasetLinks:
    """A dataset with everything that leads on from it.

    columns: the names of its present columns, case-folded; None if they are not known.
    """

    urn: str
    kind: Kind = Kind.DATASET
    is_gone: bool = False
    columns: frozenset[str] | None = None
    edges: Sequence[ColumnEdge] = ()
    crossings: Sequence[Crossing] = ()
    citations: Sequence[Citation] = ()

    @cached_property
    def edges_of_column(self) -> Mapping[str, Sequence[ColumnEdge]]:
        """Return the edges by their source column."""
        found: dict[str, list[ColumnEdge]] = defaultdict(list)
        for edge in self.edges:
            found[edge.source].append(edge)
        return dict(found)


@dataclass(frozen=True)
class Root:
    """A classified node: a column, or a dataset without known columns."""

    urn: str
    dataset: str
    classification: str
    origin: str = "tag"


@dataclass
class PersonalDataGraph:
    """What the propagation reads.

    citing: the answers that cite an answer.
    declassified: nodes, each with the approvals of stewards by class.
    """

    datasets: Mapping[str, DatasetLinks]
    roots: Sequence[Root]
    citing: Mapping[str, Sequence[str]] = field(default_factory=dict)
    declassified: Mapping[str, Mapping[str, NodeApproval]] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One step of a path; `job` is "" without a job."""

    source: str
    target: str
    job: str
    transformations: tuple[str, ...]
    state: State


@dataclass(frozen=True)
class Reached:
    """A class of personal data at a node. Without steps, the node itself has the class.

    dataset: the dataset of the node; "" for an answer.
    root: the classified node from which the path comes.
    """

    urn: str
    dataset: str
    classification: str
    state: State
    root: Root
    steps: tuple[Step, ...] = ()

    @property
    def path(self) -> list[str]:
        """Return the urns from the classified node to this one."""
        return [self.root.urn, *(step.target for step in self.steps)]


# A relaxed step: the node at which it arrives, its dataset, and the step.
_Onward = tuple[str, str, Step]


@lru_cache(maxsize=4_096)
def state_of(transformations: tuple[str, ...]) -> State:
    """Return the state of a step with these transformations (`DIRECT:IDENTITY`, `…:masked`)."""
    return min(map(_state_of_one, transformations), default=State.EXPOSED)


def _state_of_one(transformation: str) -> State:
    if MASKED_SUFFIX in transformation.lower().split(":")[1:]:
        return State.MASKED
    return State.INFLUENCED if transformation.startswith(_INDIRECT) else State.EXPOSED


def propagate(graph: PersonalDataGraph, *, nodes_max: int = NODES_MAX) -> list[Reached]:
    """Return every node that personal data reaches, with the best known path, by urn and class.

    At most `nodes_max` nodes are visited for each class.
    """
    of_class: dict[str, list[Root]] = defaultdict(list)
    for root in sorted(graph.roots, key=lambda one: (one.classification, one.urn, one.origin)):
        of_class[root.classification].append(root)
    found: list[Reached] = []
    for classification, roots in of_class.items():
        found += _Search(graph, classification, roots).run(nodes_max)
    return sorted(found, key=lambda one: (one.urn, one.classification))


class _Search:
    """The search of one class: the nodes of each state in turn, each by breadth."""

    def __init__(self, graph: PersonalDataGraph, classification: str, roots: list[Root]) -> None:
        self._graph = graph
        self._classification = classification
        self._root_of = {root.urn: root for root in reversed(roots)}
        # By node: its state, its dataset, its classified node, and the step that reached it.
        self._states: dict[str, State] = {}
        self._datasets: dict[str, str] = {}
        self._origins: dict[str, str] = {}
        self._steps: dict[str, Step] = {}
        # By classified node that another one exposes: the step.
        self._reached_roots: dict[str, Step] = {}

    def run(self, nodes_max: int) -> Iterator[Reached]:
        waiting: dict[State, list[_Onward]] = {state: [] for state in State}
        border: list[str] = []
        for urn, root in sorted(self._root_of.items()):
            if self._is_declassified(urn, root.dataset):
                self._states[urn] = State.DECLASSIFIED
            else:
                self._states[urn] = State.EXPOSED
                border.append(urn)
            self._datasets[urn], self._origins[urn] = root.dataset, urn
        for state in (State.EXPOSED, State.UNKNOWN, State.INFLUENCED, State.MASKED):
            arrived = waiting[state]
            while arrived or border:
                border += self._arrive(state, arrived)
                arrived = []
                if len(self._states) > nodes_max:
                    break
                for urn in border:
                    for onward in self._onward(urn):
                        reached = max(state, onward[2].state)
                        (arrived if reached == state else waiting[reached]).append(onward)
                border = []
        return self._found()

    def _arrive(self, state: State, arrived: list[_Onward]) -> list[str]:
        """Take over the nodes at which steps arrive; return those to go on from."""
        new: list[str] = []
        for urn, dataset, step in arrived:
            if urn in self._states:
                if state is State.EXPOSED:
                    self._note_reached_root(urn, step)
                continue
            self._datasets[urn], self._steps[urn] = dataset, step
            self._origins[urn] = self._origins[step.source]
            if self._is_declassified(urn, dataset):
                self._states[urn] = State.DECLASSIFIED
            else:
                self._states[urn] = state
                new.append(urn)
        return new

    def _note_reached_root(self, urn: str, step: Step) -> None:
        is_root = self._origins[urn] == urn and self._states[urn] is not State.DECLASSIFIED
        if is_root and urn not in self._reached_roots and self._origins[step.source] != urn:
            self._reached_roots[urn] = step

    def _onward(self, urn: str) -> Iterator[_Onward]:
        dataset = self._datasets[urn]
        links = self._graph.datasets.get(dataset)
        if not dataset:
            for answer in self._graph.citing.get(urn, ()):
                yield answer, "", Step(urn, answer, "", (), State.EXPOSED)
        if links is None:
            return
        is_whole = urn == dataset
        for edge in links.edges if is_whole else links.edges_of_column.get(urn, ()):
            step = state_of(edge.transformations)
            # It is not known whether the values are in this column of the dataset.
            step = max(step, State.UNKNOWN) if is_whole else step
            yield (
                edge.target,
                edge.target_dataset,
                Step(urn, edge.target, edge.job, edge.transformations, step),
            )
        yield from self._onward_over_jobs(urn, links)
        for citation in links.citations:
            if citation.column in ("", urn) or is_whole:
                step = State.UNKNOWN if is_whole and citation.column else State.EXPOSED
                yield citation.answer, "", Step(urn, citation.answer, "", (), step)

    def _onward_over_jobs(self, urn: str, links: DatasetLinks) -> Iterator[_Onward]:
        for crossing in links.crossings:
            output = self._graph.datasets.get(crossing.output)
            if crossing.has_columns or crossing.output == links.urn:
                continue
            is_model = output is not None and output.kind is Kind.MODEL
            step = State.EXPOSED if is_model else State.UNKNOWN
            yield (
                crossing.output,
                crossing.output,
                Step(urn, crossing.output, crossing.job, (), step),
            )

    def _is_declassified(self, urn: str, dataset: str) -> bool:
        approved = self._graph.declassified
        classes = {*approved.get(urn, ()), *approved.get(dataset, ())}
        return any(covers(one, self._classification) for one in classes)

    def _found(self) -> Iterator[Reached]:
        for urn, state in self._states.items():
            dataset = self._datasets[urn]
            links = self._graph.datasets.get(dataset)
            if links is not None and (links.is_gone or _is_gone(urn, links)):
                continue
            last = self._reached_roots.get(urn)
            steps = [*self._path(last.source), last] if last is not None else self._path(urn)
            yield self._reached(urn, dataset, state, tuple(steps))

    def _reached(self, urn: str, dataset: str, state: State, steps: tuple[Step, ...]) -> Reached:
        root = self._root_of[steps[0].source if steps else urn]
        return Reached(urn, dataset, self._classification, state, root, steps)

    def _path(self, urn: str) -> list[Step]:
        steps: list[Step] = []
        while urn in self._steps:
            steps.append(self._steps[urn])
            urn = self._steps[urn].source
        return steps[::-1]


def _is_gone(urn: str, links: DatasetLinks) -> bool:
    """Return True for a column that the dataset had once.

    A struct and its fields stand for each other.
    """
    if urn == links.urn or not links.columns or urn.startswith("column:#"):
        return False
    name = unquote(urn.rpartition(":")[2]).casefold()
    return name not in links.columns and not any(
        name.startswith(f"{one}.") or one.startswith(f"{name}.") for one in links.columns
    )


def with_datasets(graph: PersonalDataGraph, found: Sequence[Reached]) -> list[Reached]:
    """Return what was found, with the datasets of the columns, by urn and class.

    A dataset has the state of its most exposed column. A dataset that only has classified columns
    of its own is left out, unless it is a model or an export.
    """
    best: dict[tuple[str, str], Reached] = {(one.urn, one.classification): one for one in found}
    for one in sorted(found, key=lambda each: (each.state, len(each.steps), each.urn)):
        if not one.dataset or one.urn == one.dataset or one.state is State.DECLASSIFIED:
            continue
        links = graph.datasets.get(one.dataset)
        is_source = not one.steps and (links is None or links.kind is Kind.DATASET)
        earlier = best.get((one.dataset, one.classification))
        if is_source or (earlier is not None and earlier.state <= one.state):
            continue
        step = Step(one.urn, one.dataset, "", (), State.EXPOSED)
        best[one.dataset, one.classification] = Reached(
            one.dataset, one.dataset, one.classification, one.state, one.root, (*one.steps, step)
        )
    return [best[key] for key in sorted(best)]
