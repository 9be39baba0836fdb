"""Where personal data arrives, of the present graph, for all callers: computed once a revision."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
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
from headwater.governance.personal_data.reader import dataset_of, read_graph
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.nodes import resolve_urn
from headwater.lineage.view import GraphView
from headwater.schema.edits import NodeApproval
from headwater.schema.visibility import UNRESTRICTED


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


# A revision of a graph, a day, and whether suggested classes count.
_Key = tuple[str, int, date, bool]
_lock = threading.Lock()
_reaches: WeakKeyDictionary[Database, dict[bool, tuple[_Key, Reach]]] = WeakKeyDictionary()


def read_reach(
    view: GraphView, *, with_suggested: bool = False, today: date | None = None
) -> Reach:
    """Return where personal data arrives, whatever the caller may see.

    today: the day for which declassifications count; the present one by default.
    """
    rows = view.read("read/cache/revision")
    day = today or datetime.now(UTC).date()
    state = (rows[0]["graph"], rows[0]["revision"]) if rows else ("", 0)
    key = (*state, day, with_suggested)
    with _lock:
        known = _reaches.get(view.database, {}).get(with_suggested)
    if known is not None and known[0] == key:
        return known[1]
    graph = read_graph(view.visible_to(UNRESTRICTED), day, with_suggested=with_suggested)
    found = with_datasets(graph, propagate(graph))
    kinds = {urn: links.kind for urn, links in graph.datasets.items()}
    reach = Reach(tuple(found), kinds, tuple(_ended(graph, found)))
    with _lock:
        _reaches.setdefault(view.database, {})[with_suggested] = (key, reach)
    return reach


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


def unmasked_reach(view: GraphView, urns: Sequence[str]) -> dict[str, list[str]]:
    """Return the classes of personal data that are at nodes unmasked, by urn, each in order.

    A node is a dataset, a column or an answer, given by any name. A dataset has the classes of its
    columns, its own classified ones among them. A node that the caller may not see is left out.
    """
    reach = read_reach(view)
    classes: dict[str, set[str]] = {}
    for one in reach.found:
        if one.state is State.EXPOSED:
            classes.setdefault(one.urn, set()).add(one.classification)
            if one.dataset:
                classes.setdefault(one.dataset, set()).add(one.classification)
    result: dict[str, list[str]] = {}
    for urn in select_visible(view, dict.fromkeys(urns)):
        known = classes.get(urn)
        if known is None:
            canonical = urn if urn in reach.kinds else resolve_urn(view, urn)
            known = classes.get(canonical, set())
        result[urn] = sorted(known)
    return result
