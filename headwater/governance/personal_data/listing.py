"""Lists of where personal data arrives, as one caller may see them.

A hidden node is left out of the list. On a path, hidden nodes in a row are one stub, and a hidden
job is not named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

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

    def matches(self, one: Entry) -> bool:
        """Return True if an entry is on the list."""
        if self.urn and self.urn not in (one.reached.urn, one.reached.dataset):
            return False
        if self.unmasked_only and not one.is_exposed:
            return False
        if self.kinds and one.kind not in self.kinds:
            return False
        wanted = canonical_class(self.classification) if self.classification else ""
        if wanted and not covers(wanted, one.reached.classification):
            return False
        return not self.namespace or _namespace(one) == self.namespace


@dataclass(frozen=True)
class Entry:
    """A class of personal data at a node, with the kind of the node."""

    reached: Reached
    kind: str

    @property
    def is_exposed(self) -> bool:
        """Return True if values arrived here unmasked from another node."""
        return self.reached.state is State.EXPOSED and bool(self.reached.steps)


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
    found = [one for one in entries(view, filter) if filter.matches(one)]
    cut = cut_page(found, _key, page, shape=("", ""))
    return cut if view.visibility.is_unrestricted else _shown(view, cut), len(found)


def exposure(view: GraphView, filter: PersonalDataFilter = PersonalDataFilter()) -> Exposure:
    """Return how many visible artifacts personal data reaches, each counted once.

    `unmasked_only` of the filter does not count.
    """
    filter = replace(filter, unmasked_only=False)
    states: dict[tuple[str, str], State] = {}
    for one in entries(view, filter):
        if one.kind in ARTIFACTS and one.reached.steps and filter.matches(one):
            key = one.kind, one.reached.urn
            states[key] = min(states.get(key, one.reached.state), one.reached.state)
    counts = Counter(states.values())
    exposed = Counter(kind for (kind, _), state in states.items() if state is State.EXPOSED)
    return Exposure(counts[State.EXPOSED], counts[State.UNKNOWN], dict(sorted(exposed.items())))


def exposed_artifacts(view: GraphView) -> list[str]:
    """Return the urns of the visible artifacts that personal data reaches unmasked, in order."""
    found = entries(view, PersonalDataFilter())
    return sorted({one.reached.urn for one in found if one.is_exposed and one.kind in ARTIFACTS})


def entries(view: GraphView, filter: PersonalDataFilter) -> list[Entry]:
    """Return the visible nodes with personal data, before the conditions of a filter."""
    reach = read_reach(view, with_suggested=filter.with_suggested)
    hidden = find_hidden(view, {one.urn for one in reach.found})
    return [Entry(one, _kind(one, reach)) for one in reach.found if one.urn not in hidden]


def _kind(one: Reached, reach: Reach) -> str:
    if not one.dataset:
        return ANSWER
    return (
        COLUMN
        if one.urn != one.dataset
        else _OF_DATASET[reach.kinds.get(one.dataset, Kind.DATASET)]
    )


def _key(one: Entry) -> tuple[str, str]:
    return one.reached.urn, one.reached.classification


def _namespace(one: Entry) -> str:
    parts = parse_urn(one.reached.dataset).parts if one.reached.dataset else ()
    return parts[0] if parts else ""


def _shown(view: GraphView, page: Page[Entry]) -> Page[Entry]:
    urns: set[str] = set()
    for one in page.entries:
        urns.update(one.reached.path)
        urns.update(step.job for step in one.reached.steps if step.job)
    hidden = find_hidden(view, urns)
    return page.map(lambda one: replace(one, reached=_without(one.reached, hidden)))


def _without(one: Reached, hidden: set[str]) -> Reached:
    """Return a reached node whose path has one stub for the hidden nodes in a row."""
    path = one.path
    names: list[str] = []
    for index, urn in enumerate(path):
        if urn not in hidden:
            names.append(urn)
        elif names and names[-1].startswith(HIDDEN):
            names.append(names[-1])
        elif names:
            names.append(stub_urn("from", names[-1]))
        else:
            names.append(stub_urn("to", next(one for one in path[index:] if one not in hidden)))
    steps = [
        _visible_step(step, source, target, hidden)
        for step, source, target in zip(one.steps, names, names[1:], strict=False)
        if source != target
    ]
    root = replace(one.root, urn=names[0], dataset="")
    return replace(one, root=root, steps=tuple(steps))


def _visible_step(step: Step, source: str, target: str, hidden: set[str]) -> Step:
    is_whole = not hidden.intersection((step.source, step.target))
    return replace(
        step,
        source=source,
        target=target,
        job=step.job if is_whole and step.job not in hidden else "",
        transformations=step.transformations if is_whole else (),
    )
