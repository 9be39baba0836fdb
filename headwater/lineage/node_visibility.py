"""Who may see which node.

A dataset, job, source, version or column is seen by whoever sees its namespace; a run by whoever sees those of all jobs
that it was ever said to be one of, since anybody may say that a run whose id they know is one of their own job; a
schema by whoever sees one dataset or version that has it; an answer by whoever sees everything that it rests on, since
its text may tell of all of it, and one that rests on nothing by whoever sees everything.
"""

from __future__ import annotations

from collections.abc import Iterable

from headwater.cypher.driver.database import READ_SECONDS_MAX
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn
from headwater.schema.visibility import Visibility

_URNS_PER_QUERY_MAX = 2_000
_SPELLED = ("dataset", "job", "source", "artifact", "column")


def hidden(view: GraphView, urns: Iterable[str], *, seconds: float = READ_SECONDS_MAX) -> set[str]:
    """Those of these nodes that whoever asks may not see. What is not in the graph may not be seen either, unless its
    urn spells a namespace that may."""
    if view.visibility.is_unrestricted:
        return set()
    found: set[str] = set()
    unspelled: list[str] = []
    for urn in dict.fromkeys(urns):
        if urn.startswith(HIDDEN):
            found.add(urn)
            continue
        kind, parts = parse_urn(urn)
        if kind not in _SPELLED or not parts:
            unspelled.append(urn)
        elif not view.visibility.includes(parts[0]):
            found.add(urn)
    for start in range(0, len(unspelled), _URNS_PER_QUERY_MAX):
        some = unspelled[start : start + _URNS_PER_QUERY_MAX]
        rows = view.read("read/nodes/namespaces", seconds=seconds, urns=some)
        seen = {
            row["urn"] for row in rows if _is_seen(view.visibility, row["urn"], row["namespaces"])
        }
        found.update(urn for urn in some if urn not in seen)
    return found


def visible(view: GraphView, urns: Iterable[str]) -> list[str]:
    """Those of these nodes that whoever asks may see, in order."""
    wanted = list(urns)
    unseen = hidden(view, wanted)
    return [urn for urn in wanted if urn not in unseen]


def _is_seen(visibility: Visibility, urn: str, namespaces: list[str]) -> bool:
    judged = (visibility.includes(namespace) for namespace in namespaces)
    return any(judged) if urn.startswith("schema:") else bool(namespaces) and all(judged)
