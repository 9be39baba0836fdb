"""Lists of where personal data arrives, as one caller may see them.

A hidden node is left out of the list, and a hidden classified node gives no class to others. On a
path, hidden nodes in a row are one stub, and a hidden job is not named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from headwater.governance.personal_data.classes import canonical_class, covers
from headwater.governance.personal_data.propagate import Kind, Reached, State, Step
from headwater.governance.personal_data.reach import Reach, read_reach
from headwater.lineage.hidden_nodes import HIDDEN, stub_urn
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.pagination import Page, PageRequest, cut_page
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

COLUMN, DATASET, MODEL, ANSWER, EXPORT = "COLUMN", "DATASET", "MODEL", "ANSWER", "EXPORT"
KINDS = (COLUMN, DATASET, MODEL, ANSWER, EXPORT)
# The kinds that count as exposed artifacts.
ARTIFACTS = (DATASET, MODEL, ANSWER, EXPORT)
_OF_DATASET = {Kind.DATASET: DATASET, Kind.MODEL: MODEL, Kind.EXPORT: EXPORT}


@dataclass(frozen=True)
class PersonalDataFilter:
    """Conditions on the list; an empty one matches everything.

    urn: only this node, by its canonical urn; a dataset stands for its columns too.
    unmasked_only: only what another node exposed. Classified columns themselves are left out.
    with_suggested: classes that names of columns suggest count as well.
    """

    unmasked_only: bool = False
    classification: str = ""
    namespace: str = ""
    kinds: frozenset[str] = frozenset()
    with_suggested: bool = False
    urn: str = ""

    def select(self, reach: Reach) -> Iterator[tuple[str, Reached]]:
        """Yield what matches, each with its kind."""
        wanted = canonical_class(self.classification) if self.classification else ""
        for one in reach.at.get(self.urn, ()) if self.urn else reach.found:
            if self.unmasked_only and not _is_exposed(one):
                continue
            if wanted and not covers(wanted, one.root.classification):
                continue
            kind = _kind(one, reach)
            if self.kinds and kind not in self.kinds:
                continue
            if not self.namespace or _namespace(one) == self.namespace:
                yield kind, one


def _is_exposed(one: Reached) -> bool:
    """Return True if values arrived here unmasked from another node."""
    return one.state is State.EXPOSED and one.before is not None


@dataclass(frozen=True)
class Entry:
    """A class of personal data at a node, as a caller sees it.

    kind: of KINDS. origin: `name` if only the name of the first column suggests the class.
    steps: the path from the classified node; empty if the node itself is classified.
    """

    urn: str
    kind: str
    classification: str
    state: State
    origin: str
    path: tuple[str, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Exposure:
    """The number of artifacts that personal data reaches unmasked, and of those it may reach.

    by_kind: the exposed artifacts by their kind.
    """

    exposed: int
    unknown: int
    by_kind: Mapping[str, int] = field(default_factory=dict)


def personal_data(
    view: GraphView, filter: PersonalDataFilter, page: PageRequest
) -> tuple[Page[Entry], int]:
    """Return a page of the visible nodes with personal data, by urn, and the number on all pages.

    Raises QueryError for a malformed cursor.
    """
    found = _select_visible(view, filter)
    cut = cut_page(found, _key, page, shape=("", ""))
    hidden: set[str] = set()
    if not view.visibility.is_unrestricted:
        hidden = find_hidden(view, chain.from_iterable(_urns(one) for _, one in cut.entries))
    return cut.map(lambda pair: _entry(*pair, hidden)), len(found)


def exposure(view: GraphView, filter: PersonalDataFilter = PersonalDataFilter()) -> Exposure:
    """Return how many visible artifacts personal data reaches, each counted once.

    `unmasked_only` of the filter does not count.
    """
    kinds = filter.kinds.intersection(ARTIFACTS) if filter.kinds else frozenset(ARTIFACTS)
    if not kinds:
        return Exposure(0, 0)
    states: dict[tuple[str, str], State] = {}
    for kind, one in _select_visible(view, replace(filter, unmasked_only=False, kinds=kinds)):
        if one.before is not None:
            key = kind, one.urn
            states[key] = min(states.get(key, one.state), one.state)
    counts = Counter(states.values())
    exposed = Counter(kind for (kind, _), state in states.items() if state is State.EXPOSED)
    return Exposure(counts[State.EXPOSED], counts[State.UNKNOWN], dict(sorted(exposed.items())))


def exposed_artifacts(view: GraphView) -> list[str]:
    """Return the urns of the visible artifacts that personal data reaches unmasked, in order."""
    filter = PersonalDataFilter(unmasked_only=True, kinds=frozenset(ARTIFACTS))
    return sorted({one.urn for _, one in _select_visible(view, filter)})


def _select_visible(view: GraphView, filter: PersonalDataFilter) -> list[tuple[str, Reached]]:
    """Return the visible nodes that match, each with its kind, by urn and class."""
    reach = read_reach(view, with_suggested=filter.with_suggested)
    found = list(filter.select(reach))
    hidden = find_hidden(view, (one.urn for _, one in found))
    return [pair for pair in found if pair[1].urn not in hidden] if hidden else found


def _kind(one: Reached, reach: Reach) -> str:
    if not one.dataset:
        return ANSWER
    if one.urn != one.dataset:
        return COLUMN
    return _OF_DATASET[reach.kinds.get(one.dataset, Kind.DATASET)]


def _key(pair: tuple[str, Reached]) -> tuple[str, str]:
    return pair[1].urn, pair[1].classification


def _namespace(one: Reached) -> str:
    parts = parse_urn(one.dataset).parts if one.dataset else ()
    return parts[0] if parts else ""


def _urns(one: Reached) -> Iterator[str]:
    """Yield the nodes and the jobs of a path."""
    yield from one.path
    yield from (step.job for step in one.steps if step.job)


def _entry(kind: str, one: Reached, hidden: set[str]) -> Entry:
    path, steps = one.path, one.steps
    if hidden:
        path, steps = _without(one, hidden)
    return Entry(
        one.urn, kind, one.classification, one.state, one.root.origin, tuple(path), tuple(steps)
    )


def _without(one: Reached, hidden: set[str]) -> tuple[list[str], tuple[Step, ...]]:
    """Return a path that has one stub for the hidden nodes in a row, and its steps.

    Its first node is visible (`read_reach`).
    """
    names = one.path[:1]
    for urn in one.path[1:]:
        if urn not in hidden:
            names.append(urn)
        elif names[-1].startswith(HIDDEN):
            names.append(names[-1])
        else:
            names.append(stub_urn("from", names[-1]))
    steps = tuple(
        _visible_step(step, source, target, hidden)
        for step, source, target in zip(one.steps, names, names[1:], strict=False)
        if source != target
    )
    return [names[0], *(step.target for step in steps)], steps


def _visible_step(step: Step, source: str, target: str, hidden: set[str]) -> Step:
    is_whole = not hidden.intersection((step.source, step.target))
    return replace(
        step,
        source=source,
        target=target,
        job=step.job if is_whole and step.job not in hidden else "",
        transformations=step.transformations if is_whole else (),
    )
