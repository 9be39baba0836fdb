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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple
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


class ColumnEdge(NamedTuple):
    """A column of a dataset feeds a column, or a whole dataset (`target` is its urn)."""

    source: str
    target: str
    target_dataset: str
    job: str
    transformations: tuple[str, ...]


class Crossing(NamedTuple):
    """A job reads the dataset and writes `output`; "" is a link without a job.

    has_columns: it sent column lineage for `output`.
    """

    job: str
    output: str
    has_columns: bool


class Citation(NamedTuple):
    """An answer cites a dataset or a column of it (`column` is not "")."""

    answer: str
    column: str = ""


class Onward(NamedTuple):
    """A step onward: the node at which it arrives, its dataset, and how it passes values on."""

    urn: str
    dataset: str
    state: State
    job: str = ""
    transformations: tuple[str, ...] = ()


@dataclass
class DatasetLinks:
    """A dataset with everything that leads on from it.

    columns: the names of its present columns, case-folded; None if they are not known.
    approvals: the property of the dataset, with the declassifications.
    """

    urn: str
    kind: Kind = Kind.DATASET
    is_gone: bool = False
    columns: frozenset[str] | None = None
    edges: Sequence[ColumnEdge] = ()
    crossings: Sequence[Crossing] = ()
    citations: Sequence[Citation] = ()
    approvals: str | None = None

    @cached_property
    def steps_of_column(self) -> Mapping[str, Sequence[Onward]]:
        """Return the steps over column edges, by source column."""
        found: dict[str, list[Onward]] = defaultdict(list)
        for source, target, dataset, job, transformations in self.edges:
            state = state_of(transformations)
            found[source].append(Onward(target, dataset, state, job, transformations))
        return found

    @cached_property
    def mixed_edges(self) -> Sequence[ColumnEdge]:
        """Return the edges with transformations that mask and others."""
        return [edge for edge in self.edges if is_mixed(edge.transformations)]


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


@dataclass(slots=True, eq=False)
class Reached:
    """A class of personal data at a node. Without steps, the node itself has the class.

    dataset: the dataset of the node; "" for an answer.
    root: the classified node from which the path comes.
    before, step: the node before on the path, and the step from there; None without steps.
    length: the number of steps of the path.
    """

    urn: str
    dataset: str
    state: State
    root: Root
    before: Reached | None = field(default=None, repr=False)
    step: Onward | None = field(default=None, repr=False)
    length: int = 0

    @property
    def classification(self) -> str:
        """Return the class."""
        return self.root.classification

    @property
    def path(self) -> list[str]:
        """Return the urns from the classified node to this one."""
        return [*(one.urn for one in self._nodes())][::-1]

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the steps from the classified node to this one."""
        steps = [
            Step(one.before.urn, one.urn, one.step.job, one.step.transformations, one.step.state)
            for one in self._nodes()
            if one.before is not None and one.step is not None
        ]
        return tuple(steps[::-1])

    def _nodes(self) -> Iterator[Reached]:
        one: Reached | None = self
        while one is not None:
            yield one
            one = one.before

    def then(self, step: Onward, state: State) -> Reached:
        """Return the node that one more step reaches."""
        return Reached(step.urn, step.dataset, state, self.root, self, step, self.length + 1)


@lru_cache(maxsize=4_096)
def state_of(transformations: tuple[str, ...]) -> State:
    """Return the state of a step with these transformations (`DIRECT:IDENTITY`, `…:masked`)."""
    return min(map(_state_of_one, transformations), default=State.EXPOSED)


@lru_cache(maxsize=4_096)
def is_mixed(transformations: tuple[str, ...]) -> bool:
    """Return True if some of these transformations mask, and not all."""
    return len(set(map(is_masking, transformations))) == 2


def is_masking(transformation: str) -> bool:
    """Return True for a transformation that masks."""
    return MASKED_SUFFIX in transformation.lower().split(":")[1:]


def _state_of_one(transformation: str) -> State:
    if is_masking(transformation):
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
    return sorted(found, key=_by_urn_and_class)


def _by_urn_and_class(one: Reached) -> tuple[str, str]:
    return one.urn, one.root.classification


class _Search:
    """The search of one class: the nodes of each state in turn, each by breadth."""

    def __init__(self, graph: PersonalDataGraph, classification: str, roots: list[Root]) -> None:
        self._datasets = graph.datasets
        self._citing = graph.citing
        self._roots = {root.urn: root for root in reversed(roots)}
        self._declassified = {
            urn
            for urn, approved in graph.declassified.items()
            if any(covers(one, classification) for one in approved)
        }
        self._reached: dict[str, Reached] = {}
        # Classified nodes that another one exposes, with that path.
        self._reached_roots: dict[str, Reached] = {}
        # Datasets from which jobs and citations of the whole dataset were followed.
        self._left: set[str] = set()
        # By state: nodes as a step reaches them, if the step is worse than the path before it.
        self._waiting: dict[State, list[Reached]] = {state: [] for state in State}

    def run(self, nodes_max: int) -> Iterator[Reached]:
        roots = sorted(self._roots.items())
        self._waiting[State.EXPOSED] = [
            Reached(urn, root.dataset, State.EXPOSED, root) for urn, root in roots
        ]
        for state in (State.EXPOSED, State.UNKNOWN, State.INFLUENCED, State.MASKED):
            border = [one for one in self._waiting[state] if self._take(one)]
            while border and len(self._reached) <= nodes_max:
                border = self._follow(state, border)
        return self._found()

    def _take(self, one: Reached) -> bool:
        """Take over a node at its first arrival; return True if the path goes on from there."""
        if one.urn in self._reached:
            return False
        self._reached[one.urn] = one
        if self._declassified and not self._declassified.isdisjoint((one.urn, one.dataset)):
            one.state = State.DECLASSIFIED
        return one.state is not State.DECLASSIFIED

    def _follow(self, state: State, border: list[Reached]) -> list[Reached]:
        """Return the new nodes of a state, one step behind the border."""
        new: list[Reached] = []
        known, roots, waiting = self._reached, self._roots, self._waiting
        for one in border:
            root, length = one.root, one.length + 1
            for step in self._steps(one):
                urn, dataset, reached, _, _ = step
                if urn in known:
                    if reached is State.EXPOSED and urn in roots:
                        self._note_reached_root(state, one, step)
                elif reached <= state:
                    after = Reached(urn, dataset, state, root, one, step, length)
                    if self._take(after):
                        new.append(after)
                else:
                    waiting[reached].append(Reached(urn, dataset, reached, root, one, step, length))
        return new

    def _note_reached_root(self, state: State, before: Reached, step: Onward) -> None:
        one = self._reached[step.urn]
        is_root = one.before is None and one.state is not State.DECLASSIFIED
        is_other = step.urn not in self._reached_roots and before.root.urn != step.urn
        if state is State.EXPOSED and is_root and is_other:
            self._reached_roots[step.urn] = before.then(step, one.state)

    def _steps(self, one: Reached) -> Iterable[Onward]:
        if not one.dataset:
            answers = self._citing.get(one.urn, ())
            return [Onward(answer, "", State.EXPOSED) for answer in answers]
        links = self._datasets.get(one.dataset)
        if links is None:
            return ()
        if one.urn == one.dataset:
            return chain(_steps_of_dataset(links), self._steps_beside(one.urn, links))
        steps = links.steps_of_column.get(one.urn, ())
        if links.crossings or links.citations:
            return chain(steps, self._steps_beside(one.urn, links))
        return steps

    def _steps_beside(self, urn: str, links: DatasetLinks) -> Iterator[Onward]:
        """Yield the steps over jobs without columns, and to answers.

        Of those that every column of the dataset takes, the first column has the best state: the
        others yield only the steps to classified nodes.
        """
        is_first = links.urn not in self._left
        self._left.add(links.urn)
        for job, output, has_columns in links.crossings:
            if has_columns or output == links.urn or not (is_first or output in self._roots):
                continue
            target = self._datasets.get(output)
            is_model = target is not None and target.kind is Kind.MODEL
            yield Onward(output, output, State.EXPOSED if is_model else State.UNKNOWN, job)
        for answer, column in links.citations:
            if column == urn or (not column and is_first):
                yield Onward(answer, "", State.EXPOSED)
            elif column and urn == links.urn:
                yield Onward(answer, "", State.UNKNOWN)

    def _found(self) -> Iterator[Reached]:
        for urn, one in self._reached.items():
            links = self._datasets.get(one.dataset)
            if links is None or not (links.is_gone or _is_gone(urn, links)):
                yield self._reached_roots.get(urn, one)


def _steps_of_dataset(links: DatasetLinks) -> Iterator[Onward]:
    """Yield the steps from a dataset: it is not known which of its columns has the values."""
    for edge in links.edges:
        state = max(state_of(edge.transformations), State.UNKNOWN)
        yield Onward(edge.target, edge.target_dataset, state, edge.job, edge.transformations)


def _is_gone(urn: str, links: DatasetLinks) -> bool:
    """Return True for a column that the dataset had once.

    A struct and its fields stand for each other.
    """
    if not links.columns or urn == links.urn or urn.startswith("column:#"):
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
    best: dict[tuple[str, str], Reached] = {}
    own: dict[tuple[str, str], Reached] = {}
    for one in found:
        key = one.dataset, one.root.classification
        if one.urn == one.dataset:
            own[key] = one
        elif one.dataset and one.state is not State.DECLASSIFIED:
            earlier = best.get(key)
            is_better = earlier is None or (one.state, one.length) < (earlier.state, earlier.length)
            if is_better and not _is_own_column(graph, one):
                best[key] = one
    reached: dict[tuple[str, str], Reached] = {}
    for key, one in best.items():
        if key not in own or own[key].state > one.state:
            step = Onward(one.dataset, one.dataset, State.EXPOSED)
            reached[key] = one.then(step, one.state)
    columns = [
        one
        for one in found
        if one.urn != one.dataset or (one.urn, one.root.classification) not in reached
    ]
    return sorted([*columns, *reached.values()], key=_by_urn_and_class)


def _is_own_column(graph: PersonalDataGraph, one: Reached) -> bool:
    """Return True for a classified column that nothing reaches, unless its dataset leaves."""
    links = graph.datasets.get(one.dataset)
    return one.before is None and (links is None or links.kind is Kind.DATASET)
