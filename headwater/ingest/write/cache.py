"""The writer's cache of the graph, which saves reads and repeated writes.

A worker that folds one spool all day writes the same jobs, datasets and edges again and again. The
cache holds the facts and edges that this worker wrote last. Every write transaction is one revision
of the graph (`headwater.cypher.driver.write_lock`). A worker that finds another revision than its
own last one, or whose transaction failed, clears its cache. So the cache is never stale, and the
graph never depends on it: only the number of reads and writes does.

The cache also holds the deferred last-seen updates (`headwater.ingest.write.last_seen`).

Each part is bounded; the oldest entries leave first. Facts and views hold what events report, such
as plans and schemas, so their parts are bounded by bytes too.
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
# Of each part of facts and of views, encoded. In memory they take two to three times as much.
FACTS_BYTES_MAX = 64 * 2**20
RUNS_BYTES_MAX = 32 * 2**20
_ENTRY_BYTES = 200
_OVERFLOW = 1.25
_encoder = msgspec.msgpack.Encoder()
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

    @property
    def is_overfull(self) -> bool:
        """Return True if it has far more entries than `trim` would leave."""
        return len(self) > _OVERFLOW * self.size_max


class BoundedByBytes(Bounded[K, V]):
    """A bounded dict whose values have at most `bytes_max` bytes, encoded, after a `trim`."""

    def __init__(self, size_max: int, bytes_max: int) -> None:
        super().__init__(size_max)
        self.bytes_max = bytes_max
        self.bytes = 0
        self._sizes: dict[K, int] = {}

    def __setitem__(self, key: K, value: V) -> None:
        size = _ENTRY_BYTES + len(_encoder.encode(value))
        self.bytes += size - self._sizes.get(key, 0)
        self._sizes[key] = size
        super().__setitem__(key, value)

    def __delitem__(self, key: K) -> None:
        super().__delitem__(key)
        self.bytes -= self._sizes.pop(key)

    def update(  # type: ignore[override]
        self, entries: Mapping[K, V] | Iterable[tuple[K, V]]
    ) -> None:
        """Store entries."""
        for key, value in dict(entries).items():
            self[key] = value

    def take(self, key: K) -> V | None:
        """Remove a value and return it; None if there is none."""
        value = self.get(key)
        if key in self:
            del self[key]
        return value

    def trim(self) -> None:
        """Remove the oldest entries beyond `size_max`, and until `bytes_max` holds."""
        super().trim()
        while self.bytes > self.bytes_max:
            del self[next(iter(self))]

    @property
    def is_overfull(self) -> bool:
        """Return True if it is far larger than `trim` would leave it."""
        return super().is_overfull or self.bytes > _OVERFLOW * self.bytes_max


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
        self.jobs: BoundedByBytes[str, JobFacts] = BoundedByBytes(JOBS_MAX, FACTS_BYTES_MAX)
        # None: the graph does not have the run.
        self.runs: BoundedByBytes[str, RunFacts | None] = BoundedByBytes(RUNS_MAX, RUNS_BYTES_MAX)
        # The horizons at which the graph was rolled up; None: not read yet.
        self.horizons: list[Horizon] | None = None
        # Projections of runs whose datasets have no aliases.
        self.run_views: BoundedByBytes[str, RunView] = BoundedByBytes(RUNS_MAX, RUNS_BYTES_MAX)
        # By canonical urn: the facts reported under each name of the dataset.
        self.datasets: BoundedByBytes[str, dict[str, DatasetFacts]] = BoundedByBytes(
            DATASETS_MAX, FACTS_BYTES_MAX
        )
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
        return self.jobs.is_overfull or self.datasets.is_overfull or self.edges.is_overfull

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
