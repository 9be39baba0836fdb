"""The current lineage graph, held in memory: a traversal reads each hop with one dict lookup.

The cache consists of entries, one for each dataset, job and alias of a dataset, as Neo4j has them.
`cache_refresher` reads them. Indexes are derived from the entries, one for each question of a
traversal, for example "which jobs read this dataset". Replacing an entry removes the index values
of the old entry and adds those of the new one. So a refreshed cache has the same indexes as a newly
loaded one.

Index values are sorted tuples. They are replaced and never changed, so traversals in other threads
need no lock. A traversal may see a part of one transaction's changes, as it may in Neo4j, where
each hop is a statement of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from headwater.lineage.node_names import NodeName

Index = dict[Any, tuple[str, ...]]
# One value in an index: the index, the key and the value.
IndexValue = tuple[Index, Hashable, str]


class CachedOutput(NamedTuple):
    """A dataset that a job writes, and those of the job's inputs that it is derived from.

    No sources mean any input, unless the job reported explicitly that there are none.
    """

    dataset: str
    sources: tuple[str, ...]
    is_explicit: bool


class CachedJob(NamedTuple):
    """The current inputs and outputs of a job, and the jobs that it feeds."""

    name: NodeName
    inputs: tuple[str, ...] = ()
    outputs: tuple[CachedOutput, ...] = ()
    feeds: tuple[str, ...] = ()


class CachedDataset(NamedTuple):
    """The datasets that a dataset feeds, its columns, and the columns or whole datasets that each
    of these feeds."""

    name: NodeName
    feeds: tuple[str, ...] = ()
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()


class CachedAlias(NamedTuple):
    """An alias: the urn of the dataset that it stands for."""

    canonical: str


CacheEntry = CachedJob | CachedDataset | CachedAlias
# The jobs beside a dataset, and for each of them the datasets that a traversal reaches over it from
# this dataset.
Crossings = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]


@dataclass
class CachedDirection:
    """The indexes of one direction. The first six are the maps of
    `traversal.adjacency.Adjacency`."""

    producers_or_consumers: Index = field(default_factory=dict)
    inputs_or_outputs: Index = field(default_factory=dict)
    reached_from_any: Index = field(default_factory=dict)
    reached_from: Index = field(default_factory=dict)
    closed_entries: Index = field(default_factory=dict)
    direct_neighbours: Index = field(default_factory=dict)
    # From column to column.
    columns: Index = field(default_factory=dict)
    # Between a column and whole datasets: by the column downstream, by the dataset upstream.
    whole_datasets: Index = field(default_factory=dict)
    # Derived from the others for `traversal.cached_bfs`.
    crossings: dict[str, Crossings] = field(default_factory=dict)

    def refresh_crossings(self, dataset: str) -> None:
        """Derive the crossings of a dataset from the other indexes."""
        jobs = self.producers_or_consumers.get(dataset, ())
        if jobs:
            self.crossings[dataset] = (
                jobs,
                tuple(self._reached_over(dataset, job) for job in jobs),
            )
        else:
            self.crossings.pop(dataset, None)

    def _reached_over(self, dataset: str, job: str) -> tuple[str, ...]:
        derived = self.reached_from.get((dataset, job), ())
        if (dataset, job) in self.closed_entries:
            return derived
        from_any = self.reached_from_any.get(job, ())
        return tuple(sorted({*derived, *from_any})) if derived else from_any


class LineageCache:
    """The entries and their indexes. One thread at a time replaces entries; any thread reads."""

    def __init__(self) -> None:
        self.downstream = CachedDirection()
        self.upstream = CachedDirection()
        self.columns_of_dataset: Index = {}
        self.datasets_of_column: Index = {}
        self.entries: dict[str, CacheEntry] = {}
        self.names: dict[str, NodeName] = {}
        # Columns are many, so the refresher loads them after everything else.
        self.has_columns = False

    def replace_entries(self, entries: Mapping[str, CacheEntry | None]) -> None:
        """Replace the entries of these urns; None removes an entry."""
        removed, added = _IndexValues(), _IndexValues()
        read, written = set[str](), set[str]()
        for urn, entry in entries.items():
            previous = self.entries.get(urn)
            if entry == previous:
                continue
            for version in (previous, entry):
                if isinstance(version, CachedJob):
                    read.update(version.inputs)
                    written.update(output.dataset for output in version.outputs)
            removed.add(self._index_values(urn, previous))
            added.add(self._index_values(urn, entry))
            self._replace_entry(urn, entry)
        for key in removed.values.keys() | added.values.keys():
            index = removed.indexes[key] if key in removed.indexes else added.indexes[key]
            _replace_values(index, key[1], removed.of(key), added.of(key))
        for direction, datasets in ((self.downstream, read), (self.upstream, written)):
            for dataset in datasets:
                direction.refresh_crossings(dataset)

    def canonical_urn(self, urn: str) -> str | None:
        """Return the canonical urn of a dataset, job or column; None if the cache lacks it."""
        entry = self.entries.get(urn)
        if isinstance(entry, CachedAlias):
            return entry.canonical if entry.canonical in self.entries else None
        return urn if entry is not None or urn in self.datasets_of_column else None

    def indexes(self) -> dict[str, Mapping[Any, Any]]:
        """Return every index by name. Two caches of one graph agree in all of them."""
        indexes: dict[str, Mapping[Any, Any]] = {
            "columns_of_dataset": self.columns_of_dataset,
            "datasets_of_column": self.datasets_of_column,
        }
        for name, direction in (("downstream", self.downstream), ("upstream", self.upstream)):
            indexes.update({f"{name}.{index}": values for index, values in vars(direction).items()})
        return indexes

    def _replace_entry(self, urn: str, entry: CacheEntry | None) -> None:
        # Entries change before indexes, so an urn that became an alias is found under one of its
        # names at any time.
        if entry is None:
            del self.entries[urn]
        else:
            self.entries[urn] = entry
        if entry is None or isinstance(entry, CachedAlias):
            self.names.pop(urn, None)
        else:
            self.names[urn] = entry.name

    def _index_values(self, urn: str, entry: CacheEntry | None) -> Iterator[IndexValue]:
        if isinstance(entry, CachedJob):
            yield from self._values_of_job(urn, entry)
        elif isinstance(entry, CachedDataset):
            yield from self._values_of_dataset(urn, entry)

    def _values_of_job(self, urn: str, job: CachedJob) -> Iterator[IndexValue]:
        down, up = self.downstream, self.upstream
        for dataset in job.inputs:
            yield down.producers_or_consumers, dataset, urn
            yield up.inputs_or_outputs, urn, dataset
            yield up.reached_from_any, urn, dataset
        for dataset, sources, is_explicit in job.outputs:
            yield up.producers_or_consumers, dataset, urn
            yield down.inputs_or_outputs, urn, dataset
            if sources or is_explicit:
                yield up.closed_entries, (dataset, urn), urn
            else:
                yield down.reached_from_any, urn, dataset
            for source in sources:
                yield down.reached_from, (source, urn), dataset
                yield up.reached_from, (dataset, urn), source
        for fed in job.feeds:
            yield down.direct_neighbours, urn, fed
            yield up.direct_neighbours, fed, urn

    def _values_of_dataset(self, urn: str, dataset: CachedDataset) -> Iterator[IndexValue]:
        down, up = self.downstream, self.upstream
        for fed in dataset.feeds:
            yield down.direct_neighbours, urn, fed
            yield up.direct_neighbours, fed, urn
        for column, targets in dataset.columns:
            yield self.columns_of_dataset, urn, column
            yield self.datasets_of_column, column, urn
            for target in targets:
                if target.startswith("dataset:"):
                    yield down.whole_datasets, column, target
                    yield up.whole_datasets, target, column
                else:
                    yield down.columns, column, target
                    yield up.columns, target, column


class _IndexValues:
    """Index values, grouped by index and key."""

    def __init__(self) -> None:
        self.indexes: dict[tuple[int, Hashable], Index] = {}
        self.values: dict[tuple[int, Hashable], list[str]] = defaultdict(list)

    def add(self, values: Iterable[IndexValue]) -> None:
        for index, key, value in values:
            self.indexes[id(index), key] = index
            self.values[id(index), key].append(value)

    def of(self, key: tuple[int, Hashable]) -> list[str]:
        return self.values.get(key, [])


def _replace_values(index: Index, key: Hashable, removed: list[str], added: list[str]) -> None:
    values = tuple(sorted({*index.get(key, ())}.difference(removed).union(added)))
    if values:
        index[key] = values
    else:
        index.pop(key, None)
