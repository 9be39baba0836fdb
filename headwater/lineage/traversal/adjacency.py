"""Adjacency: the neighbours of nodes in one layer, as far as the traversals of a request have come.

Cypher can neither take a depth as a parameter nor keep a visited set, so the queries only return
the neighbours of given nodes. An adjacency remembers each hop. So many traversals from many starts
(a page of failed runs) share their statements: a few per hop, however many traversals there are.

Every node that is met is checked once, all nodes of one hop in one statement: for its visibility,
and if it is visible against the filter. The filter never applies to a hidden node: its effect on a
path would disclose properties of that node.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from headwater.cypher.driver.database import Row
from headwater.errors import TimedOutError
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.traversal.past_edges import PastEdges
from headwater.lineage.traversal.request import TraversalRequest
from headwater.lineage.view import GraphView

SECONDS_MIN = 0.05


class Adjacency(ABC):
    """The neighbours of nodes in one direction of a layer. Six maps hold them.

    In this picture the direction is downstream, D is a dataset or version, J a job or run. Upstream
    the maps are the same with the arrows reversed: J are then the producers of D, and their inputs
    lie behind them.

        D ── producers_or_consumers ──▶ J ── inputs_or_outputs ──▶ every D' of J
        │                               │
        │                               ├── reached_from_any ──▶ each D' that J leads to from any D
        └─────────── (D, J) ────────────┴── reached_from ──────▶ each D' that J leads to from this D

        (D, J) in closed_entries: `reached_from` alone applies, the derivations over J are known
        D ── direct_neighbours ──▶ D', J ── direct_neighbours ──▶ J': no node lies between

    `hidden` are the nodes met that the caller may not see, `rejected` the visible ones that do not
    pass the filter. `exhausted` names the bound that stopped the reading: "edges", "time" or "".
    `properties` holds the properties of nodes that a prefetch read. `Neo4jAdjacency` reads from
    Neo4j, `CachedAdjacency` from the lineage cache.
    """

    producers_or_consumers: Mapping[str, Sequence[str]]
    inputs_or_outputs: Mapping[str, Sequence[str]]
    reached_from_any: Mapping[str, Sequence[str]]
    reached_from: Mapping[tuple[str, str], Sequence[str]]
    closed_entries: Container[tuple[str, str]]
    direct_neighbours: Mapping[str, Sequence[str]]

    def __init__(self, view: GraphView, request: TraversalRequest) -> None:
        self.layer = request.layer
        self.exhausted = ""
        self.hidden: set[str] = set()
        self.rejected: set[str] = set()
        self.properties: dict[str, Row] = {}
        self.citations: dict[str, list[str]] = defaultdict(list)
        self._view = view
        self._filter = request.filter
        self._instant = {} if request.as_of is None else {"at": request.as_of}
        self._past = PastEdges(self._read_used_datasets)
        self._deadline = request.bounds.deadline + view.planning_seconds
        self._rows_left = request.rows_max
        self._checked: set[str] = set()
        # The nodes whose neighbours each query has read.
        self._queried: dict[str, set[str]] = defaultdict(set)

    def admit_starts(self, starts: Iterable[str]) -> None:
        """Check the starts for their visibility. They pass the filter in any case."""
        unchecked = set(starts) - self._checked
        self._checked |= unchecked
        self.hidden |= find_hidden(self._view, unchecked)

    @abstractmethod
    def load(self, frontier: Iterable[str]) -> None:
        """Load everything one hop beyond these nodes."""

    def prefetch(self, starts: Iterable[str], nodes_max: int) -> None:  # noqa: B027
        """Load everything reachable from the starts, the nearest `nodes_max` nodes of it.

        Nodes farther away, and all nodes if this takes too long, are loaded hop by hop.
        """

    def load_citations(self, urns: Iterable[str]) -> None:
        """Load the nodes that these cite (upstream), or the answers that cite them (downstream)."""
        citing = [urn for urn in urns if urn.startswith(self.layer.citing_kinds)]
        self._add_pairs(self.citations, self._query(self.layer.citations, citing))

    def _add_pairs(self, neighbours: dict[str, list[str]], rows: list[Row]) -> None:
        near, far = ("target", "source") if self.layer.upstream else ("source", "target")
        self._check(row[far] for row in rows)
        for row in rows:
            if not self._is_out_of_period(row, row[near], row[far]):
                neighbours[row[near]].append(row[far])

    def _is_out_of_period(self, row: Row, near: str, far: str) -> bool:
        if near in self.hidden or far in self.hidden:
            return False
        return not self._filter.admits_period(row.get("firstSeen"), row.get("lastSeen"))

    def _check(self, met: Iterable[str]) -> None:
        """Check nodes for their visibility, and the visible ones against the filter."""
        unchecked = sorted(set(met) - self._checked)
        self._checked.update(unchecked)
        seconds = max(SECONDS_MIN, self._deadline - time.monotonic())
        try:
            hidden = find_hidden(self._view, unchecked, seconds=seconds)
            visible = [urn for urn in unchecked if urn not in hidden]
            self.rejected |= self._filter.find_rejected(self._view, visible, seconds=seconds)
            self.hidden |= hidden
        except TimedOutError:
            self.exhausted = "time"
            self.rejected.update(unchecked)

    def _query(self, name: str, urns: Iterable[str], **parameters: Any) -> list[Row]:
        """Return the rows of a query about the nodes that it has not covered yet."""
        queried = self._queried[name]
        new = sorted({urn for urn in urns if urn not in queried})
        if not name or not new or self.exhausted:
            return []
        queried.update(new)
        seconds = self._deadline - time.monotonic()
        rows = (
            self._read(name, new, seconds, self._rows_left, **parameters)
            if seconds >= SECONDS_MIN
            else None
        )
        if rows is None:
            self.exhausted = "time"
            return []
        self._rows_left -= sum(1 + len(row.get("derived") or ()) for row in rows)
        if self._rows_left < 0:
            self.exhausted = "edges"
        current = self._past.select(name, rows)
        if current is None:
            self.exhausted = "time"
            return []
        return current

    def _read(
        self, name: str, urns: list[str], seconds: float, rows_max: int, **parameters: Any
    ) -> list[Row] | None:
        """Return at most one row more than `rows_max`; None if the time was up."""
        if name.endswith("_at"):
            parameters |= self._instant
        return self._run(name, seconds, urns=urns, limit=rows_max + 1, **parameters)

    def _read_used_datasets(self, jobs: list[Row]) -> list[Row] | None:
        """Return the datasets that jobs used at the instant of the request; None if time is up."""
        seconds = max(SECONDS_MIN, self._deadline - time.monotonic())
        return self._run("read/traversal/datasets_in_use", seconds, rows=jobs, **self._instant)

    def _run(self, name: str, seconds: float, **parameters: Any) -> list[Row] | None:
        """Return the rows of a query; None if the time was up."""
        try:
            return self._view.read(name, seconds=seconds, **parameters)
        except TimedOutError:
            return None
