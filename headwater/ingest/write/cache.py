"""What a writer remembers of the graph, so that it need be neither read nor written again.

A worker that folds one spool all day sees the same jobs, datasets and edges over and over. What it wrote itself, it
knows; and as long as nobody else has written since, the graph holds just that. Every transaction that writes is one
revision of the graph (`headwater.cypher.driver.write_lock`): a worker that finds another revision than its own last one, or whose
transaction failed, forgets everything and learns it again as it comes. So nothing here can be stale, and nothing in the
graph depends on what is remembered: only how much is asked and sent.

What was said before, and is only seen again, need not be written at once either: which jobs, datasets and edges that
are is remembered too (`headwater.ingest.write.last_seen`).

All of it is bounded; what was learnt first is forgotten first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from headwater.ingest.project import RunView
from headwater.ingest.write.version_timeline import Timeline
from headwater.schema.facts import (
    ColumnKey,
    DatasetFacts,
    Derivation,
    DerivationKey,
    JobFacts,
    RunFacts,
    Span,
    join_derivations,
    join_spans,
)
from headwater.schema.retention import Horizon

K = TypeVar("K")
V = TypeVar("V")
FlowKey = ColumnKey | DerivationKey
E = TypeVar("E", ColumnKey, DerivationKey)
EdgeKey = tuple[str, str, str, str]
# About 2 kB for a job or a dataset, 3 kB for a run, 0.5 kB for an edge: some 400 MB when all is full.
JOBS_MAX = DATASETS_MAX = 50_000
RUNS_MAX = 20_000
EDGES_MAX = FLOWS_MAX = 300_000
_CROWDED = 1.25
_NOTHING = object()


class Bounded(dict[K, V], Generic[K, V]):
    """A dict that is cut back to so many entries when told to: what was learnt first is forgotten first."""

    def __init__(self, size_max: int) -> None:
        super().__init__()
        self.size_max = size_max

    def trim(self) -> None:
        for key in list(islice(self, max(len(self) - self.size_max, 0))):
            del self[key]


class Seen(NamedTuple):
    """What the graph has, but not yet that it was seen again: jobs by their urns, datasets by those they go by, edges
    of the map by their keys; each with the position behind which it was first seen so, in the order of these."""

    jobs: dict[str, int]
    datasets: dict[str, int]
    edges: dict[EdgeKey, int]


class Edge(msgspec.Struct, gc=False):
    """An edge of the map: its id in Neo4j, between which instants it was seen, and what was said of it."""

    id: str
    span: Span | None
    properties: dict[str, Any]

    def covers(self, span: Span | None, properties: Mapping[str, Any]) -> bool:
        """Whether nothing is new in this but perhaps that it was seen later."""
        if any(self.properties.get(key, _NOTHING) != value for key, value in properties.items()):
            return False
        return span is None or (self.span is not None and self.span.first <= span.first)

    def sees(self, span: Span) -> bool:
        """Whether it is seen later than ever before; from then on it was."""
        if self.span is not None and self.span.last >= span.last:
            return False
        self.span = join_spans(self.span, span)
        return True


class Newest(NamedTuple):
    """The newest run of a job that succeeded and read, or wrote, anything: when it ended, its urn, and which datasets
    it used."""

    finished: datetime
    run: str
    used: frozenset[str]


class Memory:
    """What one writer remembers of one graph. To be thrown away whenever the graph may be another one."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._revision: int | None = None
        self.seen = Seen({}, {}, {})
        # How far the spool was folded before the delta that is being written.
        self.position = 0
        self.jobs: Bounded[str, JobFacts] = Bounded(JOBS_MAX)
        # None for those that the graph does not have.
        self.runs: Bounded[str, RunFacts | None] = Bounded(RUNS_MAX)
        # The horizons at which the graph was rolled up.
        self.horizons: list[Horizon] | None = None
        # What is shown of runs none of whose datasets goes by another name.
        self.views: Bounded[str, RunView] = Bounded(RUNS_MAX)
        # Whole datasets by the urns they go by, with what is said under each of their names.
        self.datasets: Bounded[str, dict[str, DatasetFacts]] = Bounded(DATASETS_MAX)
        self._goes_by: Bounded[str, str] = Bounded(2 * DATASETS_MAX)
        self.edges: Bounded[EdgeKey, Edge] = Bounded(EDGES_MAX)
        # What a job is part of.
        self.above: Bounded[str, list[str]] = Bounded(JOBS_MAX)
        # By job and side (reads, writes).
        self.newest: Bounded[tuple[str, str], Newest | None] = Bounded(2 * JOBS_MAX)
        # The sources that are there because somebody reads them.
        self.sources: Bounded[str, None] = Bounded(DATASETS_MAX)
        self.timelines: Bounded[str, Timeline] = Bounded(DATASETS_MAX)
        self._flows: Bounded[FlowKey, Derivation] = Bounded(FLOWS_MAX)
        self._schemas: Bounded[str, None] = Bounded(FLOWS_MAX)
        # When the newest reader of all began, as the graph had it first; and, by dataset, those linked since.
        self.newest_reader: datetime | None = None
        self._read_at: dict[str, datetime] = {}
        # Whether any run is known to run after another because that one triggered it.
        self.is_triggering = False

    def begin(self, revision: int) -> None:
        """The transaction that makes this revision has begun, and nothing remembered is known to hold."""
        self.forget()
        self._revision = revision

    def go_on(self) -> int | None:
        """The revision that the transaction which has begun makes, if what is remembered holds: then nobody else has
        written since the last. None when that is not known to hold."""
        if self._revision is not None:
            self._revision += 1
        return self._revision

    @property
    def is_following(self) -> bool:
        """Whether what is remembered now will hold in the next transaction, if nobody else writes before that."""
        return self._revision is not None

    @property
    def waits(self) -> bool:
        """Whether anything was seen again that the graph does not know of."""
        return any(self.seen)

    @property
    def waits_from(self) -> int:
        """The position behind which anything waits."""
        return min(next(iter(waiting.values())) for waiting in self.seen if waiting)

    @property
    def is_crowded(self) -> bool:
        """Whether there is so much of what may wait that it should be written, and forgotten."""
        return any(
            len(kept) > _CROWDED * kept.size_max for kept in (self.jobs, self.datasets, self.edges)
        )

    def trim(self) -> None:
        """Forget what is too much; of what may wait nothing while any of it does: the graph would be read where it is
        behind."""
        lasting = (self.jobs, self.datasets, self.edges) if self.waits else ()
        for remembered in vars(self).values():
            if isinstance(remembered, Bounded) and not any(remembered is one for one in lasting):
                remembered.trim()

    def goes_by(self, urn: str) -> str | None:
        """The urn by which a dataset goes, if that is remembered."""
        canonical = self._goes_by.get(urn)
        return canonical if canonical in self.datasets else None

    def learn_dataset(self, canonical: str, members: Mapping[str, DatasetFacts]) -> None:
        self.datasets[canonical] = dict(members)
        for urn in members:
            self._goes_by[urn] = canonical

    def learn_edge(
        self, key: EdgeKey, id: str, span: Span | None, properties: Mapping[str, Any]
    ) -> None:
        """An edge was written, and this was said of it beside whatever was said before."""
        edge = self.edges.get(key)
        if edge is None:
            self.edges[key] = Edge(id, span, dict(properties))
        else:
            edge.span = join_spans(edge.span, span)
            edge.properties.update(properties)

    def learn_read(self, dataset: str, at: datetime) -> None:
        """A reader that began then is linked to some version of a dataset."""
        last = self._read_at.get(dataset)
        if last is None or at > last:
            self._read_at[dataset] = at
        if len(self._read_at) > DATASETS_MAX:
            # All of them began no later than the last. As long as no newest is known, everything is asked anyway.
            if self.newest_reader is not None:
                self.newest_reader = max(self.newest_reader, *self._read_at.values())
            self._read_at.clear()

    def is_read_since(self, dataset: str, instant: datetime) -> bool:
        """Whether any reader of a dataset may have begun at an instant or later."""
        if self.newest_reader is None or instant <= self.newest_reader:
            return True
        last = self._read_at.get(dataset)
        return last is not None and instant <= last

    def new_schemas(self, schemas: Mapping[str, str]) -> dict[str, str]:
        return {hash: text for hash, text in schemas.items() if hash not in self._schemas}

    def learn_schemas(self, hashes: Iterable[str]) -> None:
        for hash in hashes:
            self._schemas[hash] = None

    def news(self, flows: Mapping[E, Derivation]) -> dict[E, Derivation]:
        """Those of these that say something new."""
        known = self._flows
        return {
            key: flow
            for key, flow in flows.items()
            if key not in known or not known[key].covers(flow)
        }

    def learn_flows(self, flows: Mapping[E, Derivation]) -> None:
        for key, flow in flows.items():
            mine = self._flows.get(key)
            self._flows[key] = flow if mine is None else join_derivations(mine, flow)
