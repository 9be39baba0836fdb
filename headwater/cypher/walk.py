"""Breadth-first walks over the graph, one layer of neighbours at a time, bounded in everything.

Cypher can neither take a depth as a parameter nor keep a visited set, and listing paths explodes on diamonds and
cycles. So the walk is here, in plain Python, and the queries only ever answer "what is next to these". What one
layer teaches is remembered (`Neighbours`), so that many walks from many starts (a page of failed runs) share their
statements: two per hop, however many walks there are.

A hop is the crossing of one job (on the map), one run (in history) or one column edge; what an answer cites is no
hop. An output that is known to come from certain inputs came from those only: both directions keep to that.
A walk that met a bound says which one in `truncated`; it never passes a part for the whole.

Whoever asks may not see everything. A walk goes on through what is out of sight, and what it passes there costs no hop,
so that how far an answer reaches tells nothing about it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple, TypeVar

from headwater.cypher.database import Database, Row
from headwater.cypher.visible import hidden
from headwater.errors import UnavailableError

K = TypeVar("K", bound=Hashable)
_SECONDS_MIN = 0.05
# A derivation is read as part of an output's row, so an edge may cost more than one.
_ROWS_PER_EDGE = 3
_PROCESSES = ("job:", "run:")


class Edge(NamedTuple):
    """As in the graph: lineage flows from `source` to `target`."""

    source: str
    target: str
    type: str


class Bounds(NamedTuple):
    """How far a walk may go. `deadline` is a reading of time.monotonic()."""

    depth: int
    nodes_max: int
    edges_max: int
    deadline: float

    @classmethod
    def within(cls, seconds: float, *, depth: int, nodes_max: int, edges_max: int) -> Bounds:
        return cls(depth, nodes_max, edges_max, time.monotonic() + seconds)


@dataclass(frozen=True)
class Layer:
    """One layer of the graph in one direction, as the names of the queries that answer for it.

    `onward` leads from places (datasets, versions) to the jobs or runs beside them and `beyond` from those to the
    places behind; `hop` leads from like to like where nothing lies between: from column to column, or, where that was
    told, from dataset to dataset, job to job, run to run. `cites` follows citations, which are no hop.
    """

    upstream: bool
    onward: str = ""
    beyond: str = ""
    hop: str = ""
    cites: str = ""
    citing_kinds: tuple[str, ...] = ()


_CITABLE = ("artifact:", "source:", "answer:", "column:")
MAP_DOWN = Layer(False, onward="read/map_consumers", beyond="read/map_outputs", hop="read/map_targets")
MAP_UP = Layer(True, onward="read/map_producers", beyond="read/map_inputs", hop="read/map_sources")
HISTORY_DOWN = Layer(
    False,
    onward="read/history_consumers",
    beyond="read/history_outputs",
    hop="read/history_targets",
    cites="read/history_citing",
    citing_kinds=_CITABLE,
)
HISTORY_UP = Layer(
    True,
    onward="read/history_producers",
    beyond="read/history_inputs",
    hop="read/history_sources",
    cites="read/history_cited",
    citing_kinds=("answer:",),
)
COLUMNS_DOWN = Layer(False, hop="read/column_targets", cites="read/history_citing", citing_kinds=_CITABLE)
COLUMNS_UP = Layer(True, hop="read/column_sources", cites="read/history_cited", citing_kinds=("answer:",))


def as_it_was(layer: Layer) -> Layer:
    """The same layer of the map at an instant."""
    return replace(
        layer, onward=f"{layer.onward}_at", beyond=f"{layer.beyond}_at", hop=f"{layer.hop}_at" if layer.hop else ""
    )


CITING = Layer(False, cites="read/history_citing", citing_kinds=_CITABLE)


class Neighbours:
    """What is next to what, as far as it has been asked; every urn is asked about once.

    `exhausted` tells which bound kept it from learning everything: "edges" or "time".
    """

    def __init__(
        self, database: Database, layer: Layer, deadline: float, rows_max: int, at: datetime | None = None
    ) -> None:
        self.layer = layer
        self._at = {} if at is None else {"at": at}
        self.exhausted = ""
        self.onward: dict[str, list[str]] = defaultdict(list)
        # Behind a job or run: every place; those reached whatever one came from; those reached from one place only.
        self.behind: dict[str, list[str]] = defaultdict(list)
        self.open: dict[str, list[str]] = defaultdict(list)
        self.narrow: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.closed: set[tuple[str, str]] = set()
        self.hops: dict[str, list[str]] = defaultdict(list)
        self.cited: dict[str, list[str]] = defaultdict(list)
        self._asked: dict[str, set[str]] = defaultdict(set)
        self._database = database
        self._deadline = deadline
        self._rows_left = rows_max

    def learn(self, frontier: Iterable[str]) -> None:
        """Everything one hop beyond these urns."""
        urns = list(frontier)
        processes = {urn for urn in urns if urn.startswith(_PROCESSES)}
        places = [urn for urn in urns if urn not in processes]
        for row in self._ask(self.layer.onward, places):
            self._learn_onward(row)
        processes.update(process for place in places for process in self.onward.get(place, ()))
        for row in self._ask(self.layer.beyond, sorted(processes)):
            self._learn_beyond(row)
        for row in self._ask(self.layer.hop, [*places, *sorted(processes)]):
            source, target = row["source"], row["target"]
            self.hops[target if self.layer.upstream else source].append(source if self.layer.upstream else target)

    def learn_citations(self, urns: Iterable[str]) -> None:
        """What these cite (upstream), or what cites them (downstream)."""
        for row in self._ask(self.layer.cites, [urn for urn in urns if urn.startswith(self.layer.citing_kinds)]):
            source, target = row["source"], row["target"]
            self.cited[target if self.layer.upstream else source].append(source if self.layer.upstream else target)

    def _learn_onward(self, row: Row) -> None:
        place, process = row["place"], row["process"]
        self.onward[place].append(process)
        if row.get("derived") or row.get("told"):
            self.closed.add((place, process))
            self.narrow[(place, process)].extend(row["derived"])

    def _learn_beyond(self, row: Row) -> None:
        place, process = row["place"], row["process"]
        self.behind[process].append(place)
        if not row.get("derived") and not row.get("told"):
            self.open[process].append(place)
        for source in row.get("derived") or ():
            self.narrow[(source, process)].append(place)

    def _ask(self, name: str, urns: Iterable[str]) -> list[Row]:
        asked = self._asked[name]
        fresh = sorted({urn for urn in urns if urn not in asked})
        if not name or not fresh or self.exhausted:
            return []
        asked.update(fresh)
        seconds = self._deadline - time.monotonic()
        rows = [] if seconds < _SECONDS_MIN else self._read(name, fresh, seconds)
        if rows is None or seconds < _SECONDS_MIN:
            self.exhausted = "time"
            return []
        self._rows_left -= sum(1 + len(row.get("derived") or ()) for row in rows)
        if self._rows_left < 0:
            self.exhausted = "edges"
        return rows

    def _read(self, name: str, urns: list[str], seconds: float) -> list[Row] | None:
        """None when time ran out."""
        try:
            at = self._at if name.endswith("_at") else {}
            return self._database.read(name, seconds=seconds, urns=urns, limit=self._rows_left + 1, **at)
        except UnavailableError as error:
            if timed_out(error):
                return None
            raise


def timed_out(error: UnavailableError) -> bool:
    """Whether Neo4j ended the transaction because its time was up."""
    return "TransactionTimedOut" in str(getattr(error.__cause__, "code", ""))


@dataclass
class Walk:
    """One walk: the nodes reached, each with the hops it took, and the edges crossed."""

    frontier: list[str]
    upstream: bool
    bounds: Bounds
    nodes: dict[str, int] = field(default_factory=dict)
    edges: set[Edge] = field(default_factory=set)
    truncated: str = ""
    hop: int = 0
    _opened: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.frontier = list(dict.fromkeys(self.frontier))
        self.nodes.update(dict.fromkeys(self.frontier, 0))

    def cite(self, known: Neighbours) -> list[str]:
        """Follow the citations at the frontier; returns what they newly lead to, now part of the frontier."""
        fresh = [
            cited
            for urn in list(self.frontier)
            for cited in known.cited.get(urn, ())
            if self._cross(urn, cited, "CITED_BY")
        ]
        self.frontier.extend(fresh)
        return fresh

    def advance(self, known: Neighbours) -> None:
        """One hop: the frontier becomes what lies behind it."""
        self.hop += 1
        self.frontier = self._behind(self.frontier, known)

    def pass_through(self, unseen: set[str], known: Neighbours) -> list[str]:
        """What lies behind those at the frontier that are out of sight takes their place, at the same hop."""
        fresh = self._behind([urn for urn in self.frontier if urn in unseen], known)
        self.frontier = [urn for urn in self.frontier if urn not in unseen] + fresh
        return fresh

    def _behind(self, urns: Iterable[str], known: Neighbours) -> list[str]:
        fresh: list[str] = []
        for urn in urns:
            if urn.startswith(_PROCESSES):
                fresh.extend(self._beyond(urn, known.behind.get(urn, ())))
            for process in known.onward.get(urn, ()):
                self._cross(urn, process, "PRODUCED" if self.upstream else "FEEDS")
                fresh.extend(other for other in known.hops.get(process, ()) if self._cross(process, other, "FEEDS"))
                fresh.extend(self._beyond(process, known.narrow.get((urn, process), ())))
                if (urn, process) not in known.closed and process not in self._opened:
                    self._opened.add(process)
                    fresh.extend(self._beyond(process, known.open.get(process, ())))
            fresh.extend(other for other in known.hops.get(urn, ()) if self._cross(urn, other, "FEEDS"))
        return fresh

    def sees_more(self, known: Neighbours) -> bool:
        """Whether one more hop would add anything."""
        ahead = Walk(self.frontier, self.upstream, self.bounds, dict(self.nodes), set(self.edges))
        ahead._opened = set(self._opened)
        ahead.advance(known)
        return bool(ahead.truncated) or len(ahead.edges) > len(self.edges)

    def _beyond(self, process: str, places: Iterable[str]) -> list[str]:
        if process not in self.nodes:
            return []
        return [place for place in places if self._cross(process, place, "FEEDS" if self.upstream else "PRODUCED")]

    def _cross(self, here: str, there: str, type: str) -> bool:
        """Cross one edge; True when it leads to a node not seen before. Past a bound nothing is added."""
        is_new = there not in self.nodes
        edge = Edge(there, here, type) if self.upstream else Edge(here, there, type)
        if is_new and len(self.nodes) >= self.bounds.nodes_max:
            self.truncated = "nodes"
            return False
        if edge not in self.edges and len(self.edges) >= self.bounds.edges_max:
            self.truncated = "edges"
            return False
        self.edges.add(edge)
        if is_new:
            self.nodes[there] = self.hop
        return is_new


def explore(
    database: Database,
    layer: Layer,
    starts: Mapping[K, Iterable[str]],
    bounds: Bounds,
    *,
    rows_max: int = 0,
    at: datetime | None = None,
) -> dict[K, Walk]:
    """One walk from each set of starts. `rows_max` bounds what all of them may read; by default that of one walk. `at`
    is the instant for a layer that is a map as it was."""
    walks = {key: Walk(list(urns), layer.upstream, bounds) for key, urns in starts.items()}
    known = Neighbours(database, layer, bounds.deadline, rows_max or bounds.edges_max * _ROWS_PER_EDGE, at)
    for hop in range(bounds.depth + 1):
        _follow_citations(list(walks.values()), known)
        _pass_hidden(database, list(walks.values()), known)
        active = [walk for walk in walks.values() if walk.frontier and not walk.truncated]
        if known.exhausted:
            _give_up(active, known.exhausted)
            break
        if not active or not (layer.onward or layer.hop):
            break
        known.learn(urn for walk in active for urn in walk.frontier)
        if hop == bounds.depth:
            _mark_unfinished(active, known)
            break
        for walk in active:
            walk.advance(known)
        if known.exhausted:
            _give_up(active, known.exhausted)
            break
    return walks


def _follow_citations(walks: list[Walk], known: Neighbours) -> None:
    if not known.layer.cites:
        return
    fresh = [urn for walk in walks for urn in walk.frontier]
    while fresh and not known.exhausted:
        known.learn_citations(fresh)
        fresh = [urn for walk in walks for urn in walk.cite(known)]


def _pass_hidden(database: Database, walks: list[Walk], known: Neighbours) -> None:
    fresh = [urn for walk in walks for urn in walk.frontier]
    while unseen := hidden(database, fresh):
        known.learn(unseen)
        fresh = [urn for walk in walks for urn in walk.pass_through(unseen, known)]
        _follow_citations(walks, known)
        if known.exhausted:
            break


def _give_up(walks: list[Walk], reason: str) -> None:
    for walk in walks:
        walk.truncated = walk.truncated or reason


def _mark_unfinished(walks: list[Walk], known: Neighbours) -> None:
    for walk in walks:
        if known.exhausted or walk.sees_more(known):
            walk.truncated = known.exhausted or "depth"
