"""The writer's cache of the graph, which saves reads and repeated writes.

A worker that folds one spool all day writes the same jobs, datasets and edges again and again. The
cache holds the facts and edges that this worker wrote last. Every write transaction is one revision
of the graph (`headwater.cypher.driver.write_lock`). A worker that finds another revision than its
own last one, or whose transaction failed, clears its cache. So the cache is never stale, and the
graph never depends on it: only the number of reads and writes does.

The cache also holds the deferred last-seen updates (`headwater.ingest.write.last_seen`).

Each part is bounded; the oldest entries leave first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from headwater.ingest.project import RunView
from headwater.ingest.write.used_datasets import UsedDatasets
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
E = TypeVar("E", ColumnKey, DerivationKey)
# (statement, source urn, target urn, reported urns)
EdgeKey = tuple[str, str, str, str]
# About 2 kB for a job or a dataset, 3 kB for a run, 0.5 kB for an edge: 400 MB when all is full.
JOBS_MAX = DATASETS_MAX = 50_000
RUNS_MAX = 20_000
EDGES_MAX = DERIVATIONS_MAX = 300_000
_OVERFLOW = 1.25
_MISSING = object()


class Bounded(dict[K, V], Generic[K, V]):
    """A dict that `trim` cuts back to `size_max` entries; the oldest entries leave first."""

    def __init__(self, size_max: int) -> None:
        super().__init__()
        self.size_max = size_max

    def trim(self) -> None:
        """Remove the oldest entries beyond `size_max`."""
        for key in list(islice(self, max(len(self) - self.size_max, 0))):
            del self[key]


class DeferredUpdates(NamedTuple):
    """Last-seen updates that the graph does not have yet.

    Jobs and datasets are keyed by canonical urn, edges by `EdgeKey`. Each value is the spool
    position behind which the entity was first observed again; entries are in the order of these.
    """

    jobs: dict[str, int]
    datasets: dict[str, int]
    edges: dict[EdgeKey, int]


class CachedEdge(msgspec.Struct, gc=False):
    """An edge of the lineage graph: its element id, its first and last observation, properties."""

    id: str
    span: Span | None
    properties: dict[str, Any]

    def covers(self, span: Span | None, properties: Mapping[str, Any]) -> bool:
        """Return True if these values add nothing except, perhaps, a later observation."""
        if any(self.properties.get(key, _MISSING) != value for key, value in properties.items()):
            return False
        return span is None or (self.span is not None and self.span.first <= span.first)

    def extend(self, span: Span) -> bool:
        """Extend the span of the edge. Return True if the last observation moved."""
        if self.span is not None and self.span.last >= span.last:
            return False
        self.span = join_spans(self.span, span)
        return True


class KnownModels:
    """The models of the graph and the jobs that write them, once they are read."""

    def __init__(self) -> None:
        self.is_read = False
        self.models: set[str] = set()
        self.jobs: set[str] = set()

    def add(self, model: str, jobs: Iterable[str]) -> None:
        """Add a model and the jobs that write it."""
        self.models.add(model)
        self.jobs.update(jobs)


class WriteCache:
    """The cache of one writer for one graph. Create a new one if the graph may be another one."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove every entry; the next transaction reads the revision of the graph."""
        self._revision: int | None = None
        self.deferred = DeferredUpdates({}, {}, {})
        # The spool position before the delta that is being written.
        self.position = 0
        self.jobs: Bounded[str, JobFacts] = Bounded(JOBS_MAX)
        # None: the graph does not have the run.
        self.runs: Bounded[str, RunFacts | None] = Bounded(RUNS_MAX)
        # The horizons at which the graph was rolled up; None: not read yet.
        self.horizons: list[Horizon] | None = None
        # Projections of runs whose datasets have no aliases.
        self.run_views: Bounded[str, RunView] = Bounded(RUNS_MAX)
        # By canonical urn: the facts reported under each name of the dataset.
        self.datasets: Bounded[str, dict[str, DatasetFacts]] = Bounded(DATASETS_MAX)
        self._canonical_urns: Bounded[str, str] = Bounded(2 * DATASETS_MAX)
        self.edges: Bounded[EdgeKey, CachedEdge] = Bounded(EDGES_MAX)
        # The jobs that contain a job.
        self.job_parents: Bounded[str, list[str]] = Bounded(JOBS_MAX)
        # By job and side (READS, WRITES); None: no run of the job succeeded.
        self.used_datasets: Bounded[tuple[str, str], UsedDatasets | None] = Bounded(2 * JOBS_MAX)
        # Sources that exist because a run read them.
        self.read_sources: Bounded[str, None] = Bounded(DATASETS_MAX)
        self.timelines: Bounded[str, Timeline] = Bounded(DATASETS_MAX)
        self._derivations: Bounded[ColumnKey | DerivationKey, Derivation] = Bounded(DERIVATIONS_MAX)
        self._schemas: Bounded[str, None] = Bounded(DERIVATIONS_MAX)
        # The start of the newest consumer when the graph was read, and of later ones by dataset.
        self.newest_consumer_start: datetime | None = None
        self._consumer_starts: dict[str, datetime] = {}
        # True if any run is known to run after another that triggered it.
        self.has_triggers = False
        self.models = KnownModels()

    def restart(self, revision: int) -> None:
        """Clear the cache for the transaction that makes this revision."""
        self.clear()
        self._revision = revision

    def next_revision(self) -> int | None:
        """Return the revision that the new transaction makes if no other writer wrote since.

        None if the cache is empty or its revision is unknown.
        """
        if self._revision is not None:
            self._revision += 1
        return self._revision

    @property
    def follows_graph(self) -> bool:
        """Return True if the entries stay valid in the next transaction of this writer."""
        return self._revision is not None

    @property
    def has_deferred(self) -> bool:
        """Return True if any last-seen update is deferred."""
        return any(self.deferred)

    @property
    def deferred_from(self) -> int:
        """Return the position behind which the first update was deferred."""
        return min(next(iter(updates.values())) for updates in self.deferred if updates)

    @property
    def is_overfull(self) -> bool:
        """Return True if deferred updates must be written, because their parts are too large."""
        parts = (self.jobs, self.datasets, self.edges)
        return any(len(part) > _OVERFLOW * part.size_max for part in parts)

    def trim(self) -> None:
        """Remove the oldest entries of each part that is too large.

        While updates are deferred, the parts that hold them are not trimmed: for a removed entry
        the writer would read the graph, which has older times.
        """
        deferred_parts = (self.jobs, self.datasets, self.edges) if self.has_deferred else ()
        for part in vars(self).values():
            if isinstance(part, Bounded) and not any(part is one for one in deferred_parts):
                part.trim()

    def canonical_urn(self, urn: str) -> str | None:
        """Return the canonical urn of a dataset, if the dataset is cached."""
        canonical = self._canonical_urns.get(urn)
        return canonical if canonical in self.datasets else None

    def put_dataset(self, canonical: str, members: Mapping[str, DatasetFacts]) -> None:
        """Store a dataset with the facts reported under each of its names."""
        self.datasets[canonical] = dict(members)
        for urn in members:
            self._canonical_urns[urn] = canonical

    def put_edge(
        self, key: EdgeKey, id: str, span: Span | None, properties: Mapping[str, Any]
    ) -> None:
        """Store a written edge, or add these values to a stored one."""
        edge = self.edges.get(key)
        if edge is None:
            self.edges[key] = CachedEdge(id, span, dict(properties))
        else:
            edge.span = join_spans(edge.span, span)
            edge.properties.update(properties)

    def put_consumer_start(self, dataset: str, start: datetime) -> None:
        """Store that a consumer with this start is linked to a version of a dataset."""
        last = self._consumer_starts.get(dataset)
        if last is None or start > last:
            self._consumer_starts[dataset] = start
        if len(self._consumer_starts) > DATASETS_MAX:
            # One time covers all. Until the newest start is read, every version is looked up.
            if self.newest_consumer_start is not None:
                self.newest_consumer_start = max(
                    self.newest_consumer_start, *self._consumer_starts.values()
                )
            self._consumer_starts.clear()

    def may_be_read_since(self, dataset: str, instant: datetime) -> bool:
        """Return True if a consumer of a dataset may have started at an instant or later."""
        if self.newest_consumer_start is None or instant <= self.newest_consumer_start:
            return True
        last = self._consumer_starts.get(dataset)
        return last is not None and instant <= last

    def new_schemas(self, schemas: Mapping[str, str]) -> dict[str, str]:
        """Return the schemas (hash to JSON) that are not cached."""
        return {hash: text for hash, text in schemas.items() if hash not in self._schemas}

    def put_schemas(self, hashes: Iterable[str]) -> None:
        """Store the hashes of written schemas."""
        for hash in hashes:
            self._schemas[hash] = None

    def new_derivations(self, derivations: Mapping[E, Derivation]) -> dict[E, Derivation]:
        """Return the derivations that add to the cached ones."""
        cached = self._derivations
        return {
            key: derivation
            for key, derivation in derivations.items()
            if key not in cached or not cached[key].covers(derivation)
        }

    def put_derivations(self, derivations: Mapping[E, Derivation]) -> None:
        """Join written derivations with the cached ones."""
        for key, derivation in derivations.items():
            cached = self._derivations.get(key)
            self._derivations[key] = (
                derivation if cached is None else join_derivations(cached, derivation)
            )
