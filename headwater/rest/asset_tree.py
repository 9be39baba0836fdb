"""Lineage as a tree, in the form that the seed scripts print.

A tree would repeat the diamonds and cycles of a graph for ever. So each asset is expanded once, at
the place nearest to the root. Everywhere else it is a reference (`ref`) without children. A tree
never has more nodes than the graph has edges.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from headwater.cypher.driver.database import Row
from headwater.lineage.hidden_nodes import HIDDEN
from headwater.lineage.questions.assets import asset_id
from headwater.lineage.questions.lineage import Lineage
from headwater.schema.urns import parse_urn

_EARLIEST = datetime.min.replace(tzinfo=UTC)


class Asset(msgspec.Struct, kw_only=True):
    """An asset in a tree.

    `ref`: the asset is expanded elsewhere in the same tree. `hidden`: the caller may not see the
    asset; it has neither an id nor a name of its own.
    """

    id: str | None
    name: str
    namespace: str | None
    asset_type: str
    ref: bool | msgspec.UnsetType = msgspec.UNSET
    hidden: bool | msgspec.UnsetType = msgspec.UNSET
    downstream: list[Asset] | msgspec.UnsetType = msgspec.UNSET
    upstream: list[Asset] | msgspec.UnsetType = msgspec.UNSET


def twin_datasets(lineage: Lineage) -> dict[str, str]:
    """Map each job that produces a dataset of its own name to that dataset: both are one asset."""
    return {
        edge.source: edge.target
        for edge in lineage.edges
        if edge.type == "PRODUCED" and _is_twin(edge.source, edge.target)
    }


def _is_twin(job: str, dataset: str) -> bool:
    return job.partition(":")[2] == dataset.partition(":")[2]


class TreeBuilder:
    """A builder of trees from one lineage; `rows` has the properties of the visible nodes."""

    def __init__(self, lineage: Lineage, rows: Mapping[str, Row]) -> None:
        self._rows = rows
        self._names = {node.urn: node for node in lineage.nodes}
        self._twins = twin_datasets(lineage)
        self._types = {dataset: type_of(rows.get(job), job) for job, dataset in self._twins.items()}
        # By direction (True is upstream): the next assets of each asset.
        self._next: dict[bool, dict[str, set[str]]] = {
            True: defaultdict(set),
            False: defaultdict(set),
        }
        for edge in lineage.edges:
            source, target = self._asset_urn(edge.source), self._asset_urn(edge.target)
            if source != target:
                self._next[False][source].add(target)
                self._next[True][target].add(source)
        self.count = len({self._asset_urn(node.urn) for node in lineage.nodes})

    def build(self, urn: str, *, upstream: bool) -> Asset:
        """Build the tree from one node in one direction."""
        start = self._asset_urn(urn)
        root = self._asset(start)
        expanded = {start}
        queue = deque([(start, root)])
        while queue:
            current, node = queue.popleft()
            children = []
            for neighbour in sorted(self._next[upstream][current], key=self._first_seen):
                child = self._asset(neighbour)
                children.append(child)
                if neighbour in expanded:
                    child.ref = True
                else:
                    expanded.add(neighbour)
                    queue.append((neighbour, child))
            if upstream:
                node.upstream = children
            else:
                node.downstream = children
        return root

    def _asset_urn(self, urn: str) -> str:
        return self._twins.get(urn, urn)

    def _first_seen(self, urn: str) -> tuple[datetime, str]:
        """Return the key by which children are sorted: the time of the first event."""
        return self._rows.get(urn, {}).get("firstSeen") or _EARLIEST, urn

    def _asset(self, urn: str) -> Asset:
        if urn.startswith(HIDDEN):
            return Asset(id=None, name="hidden", namespace=None, asset_type="hidden", hidden=True)
        node = self._names[urn]
        kind = self._types.get(urn) or type_of(self._rows.get(urn), urn)
        return Asset(id=asset_id(urn), name=node.name, namespace=node.namespace, asset_type=kind)


def type_of(row: Row | None, urn: str) -> str:
    """Return the type of an asset as registered or reported, else `dataset` or `job`.

    The type is `unknown` if no event describes the asset.
    """
    if row is None or row.get("firstSeen") is None:
        return "unknown"
    return str(row.get("type") or parse_urn(urn).kind).lower()
