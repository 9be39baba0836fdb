"""Lineage as a tree: what seed scripts print.

A graph has diamonds and cycles, which a tree repeats for ever. So every asset is expanded once, where it is nearest to
the root, and everywhere else it stands as a reference (`ref`) without what lies behind it. A tree has never more nodes
than the graph has edges.
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
    """One asset in a tree. `ref`: it is expanded elsewhere in the same tree. `hidden`: it may not be seen, and has
    neither id nor name of its own."""

    id: str | None
    name: str
    namespace: str | None
    asset_type: str
    ref: bool | msgspec.UnsetType = msgspec.UNSET
    hidden: bool | msgspec.UnsetType = msgspec.UNSET
    downstream: list[Asset] | msgspec.UnsetType = msgspec.UNSET
    upstream: list[Asset] | msgspec.UnsetType = msgspec.UNSET


def twins(found: Lineage) -> dict[str, str]:
    """The jobs that are one asset with the dataset of the same name that they make: job -> dataset."""
    return {
        edge.source: edge.target
        for edge in found.edges
        if edge.type == "PRODUCED" and _is_twin(edge.source, edge.target)
    }


def _is_twin(job: str, dataset: str) -> bool:
    return job.partition(":")[2] == dataset.partition(":")[2]


class Grower:
    """Makes trees of one lineage. `rows` are the properties of its nodes that may be seen."""

    def __init__(self, found: Lineage, rows: Mapping[str, Row]) -> None:
        self._rows = rows
        self._names = {node.urn: node for node in found.nodes}
        self._as = twins(found)
        self._types = {dataset: type_of(rows.get(job), job) for job, dataset in self._as.items()}
        self._behind: dict[bool, dict[str, set[str]]] = {
            True: defaultdict(set),
            False: defaultdict(set),
        }
        for edge in found.edges:
            source, target = (
                self._as.get(edge.source, edge.source),
                self._as.get(edge.target, edge.target),
            )
            if source != target:
                self._behind[False][source].add(target)
                self._behind[True][target].add(source)
        self.count = len({self._as.get(node.urn, node.urn) for node in found.nodes})

    def grow(self, urn: str, *, upstream: bool) -> Asset:
        """The tree from one node, in one direction."""
        root = self._asset(self._as.get(urn, urn))
        expanded = {self._as.get(urn, urn)}
        waiting = deque([(self._as.get(urn, urn), root)])
        while waiting:
            here, node = waiting.popleft()
            children = []
            for there in sorted(self._behind[upstream][here], key=self._order):
                child = self._asset(there)
                children.append(child)
                if there in expanded:
                    child.ref = True
                else:
                    expanded.add(there)
                    waiting.append((there, child))
            if upstream:
                node.upstream = children
            else:
                node.downstream = children
        return root

    def _order(self, urn: str) -> tuple[datetime, str]:
        """In the order in which they became known."""
        return self._rows.get(urn, {}).get("firstSeen") or _EARLIEST, urn

    def _asset(self, urn: str) -> Asset:
        if urn.startswith(HIDDEN):
            return Asset(id=None, name="hidden", namespace=None, asset_type="hidden", hidden=True)
        node = self._names[urn]
        kind = self._types.get(urn) or type_of(self._rows.get(urn), urn)
        return Asset(id=asset_id(urn), name=node.name, namespace=node.namespace, asset_type=kind)


def type_of(row: Row | None, urn: str) -> str:
    """What an asset is: as it was registered or told, else dataset or job; unknown when only its name is known."""
    if row is None or row.get("firstSeen") is None:
        return "unknown"
    return str(row.get("type") or parse_urn(urn).kind).lower()
