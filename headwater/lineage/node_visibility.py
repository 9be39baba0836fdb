"""The visibility of nodes: which of them a caller may see.

A dataset, job, source, version or column is visible to a caller who sees its namespace. A run is
visible to a caller who sees the namespaces of all jobs that its senders report for it
(`headwater.schema.run_senders`). A schema is visible to a caller who sees one dataset or version
that has it. An answer is visible to a caller who sees everything that it cites, since its text may
disclose all of that. An answer that cites nothing is visible to a caller who sees everything.
"""

from __future__ import annotations

from collections.abc import Iterable

from headwater.chunks import chunks
from headwater.cypher.driver.database import READ_SECONDS_MAX
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn
from headwater.schema.visibility import Visibility

_URNS_PER_QUERY_MAX = 2_000
# The kinds of node whose urn contains their namespace, unless it is hashed.
_KINDS_WITH_NAMESPACE = ("dataset", "job", "source", "artifact", "column")


def find_hidden(
    view: GraphView, urns: Iterable[str], *, seconds: float = READ_SECONDS_MAX
) -> set[str]:
    """Return those of these nodes that the caller may not see.

    An unknown node is hidden too, unless its urn contains a visible namespace.
    """
    if view.visibility.is_unrestricted:
        return set()
    namespaces = read_namespaces(view, urns, seconds=seconds)
    return {urn for urn, some in namespaces.items() if not _is_visible(view.visibility, urn, some)}


def read_namespaces(
    view: GraphView, urns: Iterable[str], *, seconds: float = READ_SECONDS_MAX
) -> dict[str, list[str]]:
    """Return the namespaces that decide who may see each of these nodes.

    A stub has none, and so has an unknown node whose urn contains no namespace.
    """
    found: dict[str, list[str]] = {urn: [] for urn in urns}
    unread: list[str] = []
    for urn in found:
        if urn.startswith(HIDDEN):
            continue
        kind, parts = parse_urn(urn)
        if kind in _KINDS_WITH_NAMESPACE and parts:
            found[urn] = [parts[0]]
        else:
            unread.append(urn)
    for some in chunks(unread, _URNS_PER_QUERY_MAX):
        for row in view.read("read/nodes/namespaces", seconds=seconds, urns=some):
            found[row["urn"]] = row["namespaces"]
    return found


def select_visible(view: GraphView, urns: Iterable[str]) -> list[str]:
    """Return those of these nodes that the caller may see, in order."""
    urn_list = list(urns)
    hidden = find_hidden(view, urn_list)
    return [urn for urn in urn_list if urn not in hidden]


def _is_visible(visibility: Visibility, urn: str, namespaces: list[str]) -> bool:
    if urn.startswith("schema:"):
        return any(map(visibility.includes, namespaces))
    return visibility.includes_all(namespaces)
