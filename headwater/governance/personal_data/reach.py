"""Where personal data arrives, of the present graph: computed once a revision and visibility."""

from __future__ import annotations

import gc
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property
from itertools import chain
from weakref import WeakKeyDictionary

from headwater.cypher.driver.database import Database
from headwater.governance.personal_data.classes import covers
from headwater.governance.personal_data.propagate import (
    Kind,
    PersonalDataGraph,
    Reached,
    State,
    propagate,
    with_datasets,
)
from headwater.governance.personal_data.reader import PersonalDataReader, dataset_of
from headwater.lineage.node_visibility import find_hidden, select_visible
from headwater.lineage.nodes import resolve_urn
from headwater.lineage.view import GraphView
from headwater.schema.edits import NodeApproval
from headwater.schema.visibility import UNRESTRICTED, Visibility


@dataclass(frozen=True)
class EndedExposure:
    """A node that would be exposed without a declassification: the newest one on the path.

    declassified: the urn of the column or dataset that it is about.
    """

    reached: Reached
    approval: NodeApproval
    declassified: str


@dataclass(frozen=True)
class Reach:
    """Every node that personal data reaches, by urn and class, and the kinds of the datasets.

    ended: the exposures that declassifications ended.
    """

    found: tuple[Reached, ...]
    kinds: dict[str, Kind]
    ended: tuple[EndedExposure, ...] = ()

    @cached_property
    def at(self) -> dict[str, list[Reached]]:
        """Return what was found by node; at a dataset, with what is at its columns."""
        found: dict[str, list[Reached]] = defaultdict(list)
        for one in self.found:
            found[one.urn].append(one)
            if one.dataset and one.dataset != one.urn:
                found[one.dataset].append(one)
        return dict(found)

    @cached_property
    def unmasked(self) -> dict[str, set[str]]:
        """Return the classes that are unmasked, by node; a dataset has those of its columns."""
        classes: dict[str, set[str]] = defaultdict(set)
        for one in self.found:
            if one.state is State.EXPOSED:
                classes[one.urn].add(one.classification)
                if one.dataset:
                    classes[one.dataset].add(one.classification)
        return dict(classes)


# The restricted visibilities whose reach is kept.
_VISIBILITIES_MAX = 16


class _ReachCache:
    """The reach of one graph as it was last read. Safe to share between threads."""

    def __init__(self, *, with_suggested: bool) -> None:
        self._lock = threading.Lock()
        self._reader = PersonalDataReader(with_suggested=with_suggested)
        self._graph: PersonalDataGraph | None = None
        self._day: date | None = None
        self._reaches: dict[Visibility, Reach] = {}

    def read(self, view: GraphView, day: date) -> Reach:
        with self._lock:
            is_changed = self._reader.refresh(view.visible_to(UNRESTRICTED))
            if is_changed or self._graph is None or self._day != day:
                self._reaches.clear()
                self._graph, self._day = self._reader.graph(day), day
            return self._reach(view, self._graph)

    def _reach(self, view: GraphView, graph: PersonalDataGraph) -> Reach:
        """Return the reach of the roots that the caller sees; without a result, keep none."""
        visible = _visible_part(view, graph)
        key = view.visibility if visible is not graph else UNRESTRICTED
        if key not in self._reaches:
            if len(self._reaches) > _VISIBILITIES_MAX:
                self._reaches.clear()
            self._reaches[key] = _reach(visible)
        return self._reaches[key]


_lock = threading.Lock()
_caches: WeakKeyDictionary[Database, dict[bool, _ReachCache]] = WeakKeyDictionary()


def read_reach(
    view: GraphView, *, with_suggested: bool = False, today: date | None = None
) -> Reach:
    """Return where personal data of the classified nodes that the caller sees arrives.

    A hidden classified node gives nothing, because its class discloses a tag of its owner. The path
    from a visible one may lead through hidden nodes. As long as no node changed that personal data
    may reach, it is the same object.

    today: the day for which declassifications count; the present one by default.
    """
    with _lock:
        of_database = _caches.setdefault(view.database, {})
        cache = of_database.get(with_suggested) or _ReachCache(with_suggested=with_suggested)
        of_database[with_suggested] = cache
    return cache.read(view, today or datetime.now(UTC).date())


def _visible_part(view: GraphView, graph: PersonalDataGraph) -> PersonalDataGraph:
    """Return the graph with the visible roots only; the same object if none is hidden."""
    hidden = find_hidden(view, (root.dataset for root in graph.roots))
    if not hidden:
        return graph
    return replace(graph, roots=[root for root in graph.roots if root.dataset not in hidden])


def _reach(graph: PersonalDataGraph) -> Reach:
    kinds = {urn: links.kind for urn, links in graph.datasets.items()}
    with _paused_collection():
        found = with_datasets(graph, propagate(graph))
        return Reach(tuple(found), kinds, tuple(_ended(graph, found)))


@contextmanager
def _paused_collection() -> Iterator[None]:
    """Pause the garbage collector: a search makes many objects that stay, and no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _ended(graph: PersonalDataGraph, found: Sequence[Reached]) -> Iterator[EndedExposure]:
    """Yield what would be exposed without the declassifications, and is not."""
    approved = set(chain.from_iterable(graph.declassified.values()))
    roots = [root for root in graph.roots if _is_covered(root.classification, approved)]
    if not roots:
        return
    without = replace(graph, roots=roots, declassified={})
    exposed = {(one.urn, one.classification) for one in found if one.state is State.EXPOSED}
    for one in with_datasets(without, propagate(without)):
        is_ended = one.state is State.EXPOSED and (one.urn, one.classification) not in exposed
        approvals = list(_approvals_on(one, graph)) if is_ended else []
        if approvals:
            urn, approval = max(approvals, key=lambda pair: (pair[1].at, pair[0]))
            yield EndedExposure(one, approval, urn)


def _is_covered(classification: str, approved: Iterable[str]) -> bool:
    return any(covers(one, classification) for one in approved)


def _approvals_on(one: Reached, graph: PersonalDataGraph) -> Iterator[tuple[str, NodeApproval]]:
    """Yield the approvals of the nodes on a path that cover its class, with the nodes."""
    for urn in dict.fromkeys([*one.path, *map(dataset_of, one.path)]):
        for classification, approval in graph.declassified.get(urn, {}).items():
            if covers(classification, one.classification):
                yield urn, approval


def unmasked_reach(
    view: GraphView, urns: Sequence[str], *, are_canonical: bool = False
) -> dict[str, list[str]]:
    """Return the classes of personal data that are at nodes unmasked, by urn, each in order.

    A node is a dataset, a column or an answer, given by any name. A dataset has the classes of its
    columns, its own classified ones among them. A node that the caller may not see is left out.

    are_canonical: no urn is that of an alias, so that none is resolved by a statement of its own.
    """
    reach = read_reach(view)
    result: dict[str, list[str]] = {}
    for urn in select_visible(view, dict.fromkeys(urns)):
        known = reach.unmasked.get(urn)
        if known is None:
            is_canonical = are_canonical or urn in reach.kinds
            canonical = urn if is_canonical else resolve_urn(view, urn)
            known = reach.unmasked.get(canonical, set())
        result[urn] = sorted(known)
    return result
