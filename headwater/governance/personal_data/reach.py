"""Where personal data arrives, of the present graph, for all callers: computed once a revision."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from weakref import WeakKeyDictionary

from headwater.cypher.driver.database import Database
from headwater.governance.personal_data.propagate import (
    Kind,
    Reached,
    State,
    propagate,
    with_datasets,
)
from headwater.governance.personal_data.reader import read_graph
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.nodes import resolve_urn
from headwater.lineage.view import GraphView
from headwater.schema.visibility import UNRESTRICTED


@dataclass(frozen=True)
class Reach:
    """Every node that personal data reaches, by urn and class, and the kinds of the datasets."""

    found: tuple[Reached, ...]
    kinds: dict[str, Kind]


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
    reach = Reach(tuple(found), kinds)
    with _lock:
        _reaches.setdefault(view.database, {})[with_suggested] = (key, reach)
    return reach


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
