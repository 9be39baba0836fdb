"""What is next to what: the layers of the graph, and what a walk has learned of one of them so far.

Cypher can neither take a depth as a parameter nor keep a visited set, so the queries only ever answer "what is next to
these". What one layer of neighbours teaches is remembered, so that many walks from many starts (a page of failed runs)
share their statements: a few per hop, however many walks there are.

Every node that is met is judged once, all of one layer in one statement: whether whoever asks may see it, and if so
whether it passes the filter. A node that may not be seen is never judged by the filter: whether a path goes on through
it would tell what it is like.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from headwater.cypher.driver.database import Row
from headwater.errors import UnavailableError
from headwater.lineage.node_visibility import hidden
from headwater.lineage.traversal.filters import EVERY_NODE, Filter
from headwater.lineage.view import GraphView

PROCESSES = ("job:", "run:")
_SECONDS_MIN = 0.05
# A walk ends in the order of names, not in that in which nodes are found, and asks about its whole last hop before it
# meets a bound there: more is read at once than it shows, which takes less than three questions about the rest.
_MORE_AT_ONCE = 1.5
# How much of the time that is left may go into finding what can be reached before the first hop.
_SHARE_OF_TIME = 0.25


@dataclass(frozen=True)
class Layer:
    """One layer of the graph in one direction, as the names of the queries that answer for it.

    `onward` leads from places (datasets, versions) to the jobs or runs beside them and `beyond` from those to the
    places behind; `hop` leads from like to like where nothing lies between: from column to column, or, where that was
    told, from dataset to dataset, job to job, run to run. `cites` follows citations, which are no hop. `all` names in
    one go whatever a walk from somewhere can reach, so that it need not ask hop by hop.
    """

    upstream: bool
    onward: str = ""
    beyond: str = ""
    hop: str = ""
    cites: str = ""
    citing_kinds: tuple[str, ...] = ()
    all: str = ""


_CITABLE = ("artifact:", "source:", "answer:", "column:")
MAP_DOWN = Layer(
    False,
    onward="read/traversal/dataset_consumers",
    beyond="read/traversal/job_outputs",
    hop="read/traversal/direct_targets",
)
MAP_UP = Layer(
    True,
    onward="read/traversal/dataset_producers",
    beyond="read/traversal/job_inputs",
    hop="read/traversal/direct_sources",
)
HISTORY_DOWN = Layer(
    False,
    onward="read/traversal/version_consumers",
    beyond="read/traversal/run_outputs",
    hop="read/traversal/run_targets",
    cites="read/traversal/citing_answers",
    citing_kinds=_CITABLE,
)
HISTORY_UP = Layer(
    True,
    onward="read/traversal/version_producers",
    beyond="read/traversal/run_inputs",
    hop="read/traversal/run_sources",
    cites="read/traversal/cited_nodes",
    citing_kinds=("answer:",),
    all="read/traversal/upstream_history",
)
COLUMNS_DOWN = Layer(
    False,
    hop="read/traversal/column_targets",
    cites="read/traversal/citing_answers",
    citing_kinds=_CITABLE,
)
COLUMNS_UP = Layer(
    True,
    hop="read/traversal/column_sources",
    cites="read/traversal/cited_nodes",
    citing_kinds=("answer:",),
)
CITING = Layer(False, cites="read/traversal/citing_answers", citing_kinds=_CITABLE)


def as_it_was(layer: Layer) -> Layer:
    """The same layer of the map at an instant."""
    return replace(
        layer,
        onward=f"{layer.onward}_at",
        beyond=f"{layer.beyond}_at",
        hop=f"{layer.hop}_at" if layer.hop else "",
    )


class Asked(NamedTuple):
    """What a walk asks: of which graph, in which layer, until when (by time.monotonic()), for how many rows at most, as
    of which instant, and of which nodes."""

    view: GraphView
    layer: Layer
    deadline: float
    rows_max: int
    at: datetime | None = None
    where: Filter = EVERY_NODE


class Behind(NamedTuple):
    """A node as `read/traversal/upstream_history` tells it: what comes right before it, and what it is derived from, by their ids
    in the graph; when it was made or, a run, when it began."""

    id: int
    urn: str
    before: list[int]
    derived: list[int]
    explicit: bool | None
    dataset: str | None
    complete: bool | None
    at: datetime | None

    def row(self) -> Row:
        """What of the age of data hangs on it, by the names of its properties."""
        row: Row = {"urn": self.urn, "dataset": self.dataset, "complete": self.complete}
        row["startedAt" if self.urn.startswith("run:") else "createdAt"] = self.at
        return {key: value for key, value in row.items() if value is not None}


class Neighbours(ABC):
    """What is next to what, as far as a walk has come; every node is judged once.

    `unseen` are the nodes met that may not be seen, `refused` those that do not pass the filter. `exhausted` tells
    which bound kept it from learning everything: "edges" or "time". `told` is what was learnt of nodes on the way. How
    neighbours are learnt is for what is derived
    from this: from Neo4j below, from memory in `map_neighbours`.
    """

    onward: Mapping[str, Sequence[str]]
    # Behind a job or run: every place; those reached whatever one came from; those reached from one place only.
    behind: Mapping[str, Sequence[str]]
    open: Mapping[str, Sequence[str]]
    narrow: Mapping[tuple[str, str], Sequence[str]]
    closed: Container[tuple[str, str]]
    hops: Mapping[str, Sequence[str]]

    def __init__(self, asked: Asked) -> None:
        self.layer = asked.layer
        self.exhausted = ""
        self.unseen: set[str] = set()
        self.refused: set[str] = set()
        self.told: dict[str, Row] = {}
        self.cited: dict[str, list[str]] = defaultdict(list)
        self._at = {} if asked.at is None else {"at": asked.at}
        self._where = asked.where
        self._judged: set[str] = set()
        self._asked: dict[str, set[str]] = defaultdict(set)
        self._view = asked.view
        self._deadline = asked.deadline
        self._rows_left = asked.rows_max

    def admit(self, starts: Iterable[str]) -> None:
        """Nodes that pass the filter whatever they are like."""
        fresh = set(starts) - self._judged
        self._judged |= fresh
        self.unseen |= hidden(self._view, fresh)

    @abstractmethod
    def learn(self, frontier: Iterable[str]) -> None:
        """Everything one hop beyond these urns."""

    def learn_all(self, starts: Iterable[str], most: int) -> None:  # noqa: B027  # nothing, where memory knows all
        """What can be reached from these, the nearest so many nodes of it. Of what lies farther, and of everything
        where that takes too long to find, a walk has to ask hop by hop."""

    def learn_citations(self, urns: Iterable[str]) -> None:
        """What these cite (upstream), or what cites them (downstream)."""
        asked = [urn for urn in urns if urn.startswith(self.layer.citing_kinds)]
        self._learn_pairs(self.cited, self._ask(self.layer.cites, asked))

    def _learn_pairs(self, known: dict[str, list[str]], rows: list[Row]) -> None:
        near, far = ("target", "source") if self.layer.upstream else ("source", "target")
        for row in self._met(far, rows):
            if not self._is_out_of_time(row, row[near], row[far]):
                known[row[near]].append(row[far])

    def _is_out_of_time(self, row: Row, near: str, far: str) -> bool:
        if near in self.unseen or far in self.unseen:
            return False
        return not self._where.has_edge(row.get("firstSeen"), row.get("lastSeen"))

    def _met(self, far: str, rows: list[Row]) -> list[Row]:
        """These rows, once what they lead to is judged, and what they say that it came from: a job may read that no
        more, and then no other row leads there."""
        self._judge({row[far] for row in rows}.union(*(row.get("derived") or () for row in rows)))
        return rows

    def _judge(self, met: Iterable[str]) -> None:
        fresh = sorted(set(met) - self._judged)
        self._judged.update(fresh)
        seconds = max(_SECONDS_MIN, self._deadline - time.monotonic())
        try:
            unseen = hidden(self._view, fresh, seconds=seconds)
            seen = [urn for urn in fresh if urn not in unseen]
            self.refused |= self._where.refused(self._view, seen, seconds=seconds)
            self.unseen |= unseen
        except UnavailableError as error:
            if not timed_out(error):
                raise
            self.exhausted = "time"
            self.refused.update(fresh)

    def _ask(self, name: str, urns: Iterable[str]) -> list[Row]:
        asked = self._asked[name]
        fresh = sorted({urn for urn in urns if urn not in asked})
        if not name or not fresh or self.exhausted:
            return []
        asked.update(fresh)
        seconds = self._deadline - time.monotonic()
        rows = [] if seconds < _SECONDS_MIN else self._read(name, fresh, seconds, self._rows_left)
        if rows is None or seconds < _SECONDS_MIN:
            self.exhausted = "time"
            return []
        self._rows_left -= sum(1 + len(row.get("derived") or ()) for row in rows)
        if self._rows_left < 0:
            self.exhausted = "edges"
        return rows

    def _read(self, name: str, urns: list[str], seconds: float, most: int) -> list[Row] | None:
        """At most one row more than `most`. None when time ran out."""
        try:
            at = self._at if name.endswith("_at") else {}
            return self._view.read(name, seconds=seconds, urns=urns, limit=most + 1, **at)
        except UnavailableError as error:
            if timed_out(error):
                return None
            raise


class AskedNeighbours(Neighbours):
    """What Neo4j tells; every urn is asked about once."""

    onward: dict[str, list[str]]
    behind: dict[str, list[str]]
    open: dict[str, list[str]]
    narrow: dict[tuple[str, str], list[str]]
    closed: set[tuple[str, str]]
    hops: dict[str, list[str]]

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self.onward, self.behind, self.open = (
            defaultdict(list),
            defaultdict(list),
            defaultdict(list),
        )
        self.narrow, self.hops, self.closed = defaultdict(list), defaultdict(list), set()

    def learn_all(self, starts: Iterable[str], most: int) -> None:
        seconds = (self._deadline - time.monotonic()) * _SHARE_OF_TIME
        if seconds >= _SECONDS_MIN:
            rows = (
                self._read(self.layer.all, sorted(starts), seconds, int(most * _MORE_AT_ONCE)) or []
            )
            self._learn_behind({node[0]: Behind(*node) for row in rows for node in row["nodes"]})

    def _learn_behind(self, nodes: dict[int, Behind]) -> None:
        self._judge(node.urn for node in nodes.values())
        for node in nodes.values():
            before = [nodes[id].urn for id in dict.fromkeys(node.before) if id in nodes]
            # Beyond what was read at once something of it is unknown: it is asked about when a walk comes there.
            if len(before) == len(set(node.before)) and self._learn_node(node, before, nodes):
                for name in (
                    self.layer.onward,
                    self.layer.beyond,
                    self.layer.hop,
                    self.layer.cites,
                ):
                    self._asked[name].add(node.urn)
                self._rows_left -= len(before) + len(node.derived)
            self.told[node.urn] = node.row()
        if self._rows_left < 0:
            self.exhausted = "edges"

    def _learn_node(self, node: Behind, before: list[str], nodes: Mapping[int, Behind]) -> bool:
        """Put what comes before a node, as if it was asked about; False where not all of it is known."""
        urn = node.urn
        if urn.startswith("answer:"):
            self._learn_pairs(self.cited, [{"target": urn, "source": other} for other in before])
        elif urn.startswith(PROCESSES):
            for other in before:
                if other.startswith(PROCESSES):
                    self._learn_pairs(self.hops, [{"target": urn, "source": other}])
                else:
                    self._learn_beyond({"process": urn, "place": other})
        elif not urn.startswith("column:"):
            for id in dict.fromkeys(node.before):
                derived = [v for v in node.derived if node.explicit or v in nodes[id].before]
                if any(v not in nodes for v in derived):
                    return False
            for id, process in zip(dict.fromkeys(node.before), before, strict=True):
                known = [
                    nodes[v].urn for v in node.derived if node.explicit or v in nodes[id].before
                ]
                self._learn_onward(
                    {"place": urn, "process": process, "derived": known, "told": node.explicit}
                )
        return True

    def learn(self, frontier: Iterable[str]) -> None:
        urns = set(frontier) - self.refused
        processes = {urn for urn in urns if urn.startswith(PROCESSES)}
        places = urns - processes
        for row in self._met("process", self._ask(self.layer.onward, places)):
            self._learn_onward(row)
        processes.update(process for place in places for process in self.onward.get(place, ()))
        for row in self._met("place", self._ask(self.layer.beyond, processes - self.refused)):
            self._learn_beyond(row)
        self._learn_pairs(
            self.hops, self._ask(self.layer.hop, [*places, *(processes - self.refused)])
        )

    def _learn_onward(self, row: Row) -> None:
        place, process = row["place"], row["process"]
        if self._is_out_of_time(row, place, process):
            return
        self.onward[place].append(process)
        if row.get("derived") or row.get("told"):
            self.closed.add((place, process))
            self.narrow[(place, process)].extend(row["derived"])

    def _learn_beyond(self, row: Row) -> None:
        place, process = row["place"], row["process"]
        if self._is_out_of_time(row, place, process):
            return
        self.behind[process].append(place)
        if not row.get("derived") and not row.get("told"):
            self.open[process].append(place)
        for source in row.get("derived") or ():
            self.narrow[(source, process)].append(place)


def timed_out(error: UnavailableError) -> bool:
    """Whether Neo4j ended the transaction because its time was up."""
    return "TransactionTimedOut" in str(getattr(error.__cause__, "code", ""))
