"""Adjacency of datasets, jobs and columns, read from the lineage cache."""

from __future__ import annotations

import time
from collections.abc import Iterable

from headwater.lineage.cache.lineage_cache import LineageCache
from headwater.lineage.traversal.adjacency import Adjacency
from headwater.lineage.traversal.layers import COLUMNS_DOWN, COLUMNS_UP, JOBS_AND_RUNS
from headwater.lineage.traversal.request import TraversalRequest
from headwater.lineage.view import GraphView

# The citations of this many columns are read together: the cache does not hold them.
_COLUMNS_PER_QUERY = 1_000


class CachedAdjacency(Adjacency):
    """Adjacency over the cache. Only visibility and the filter still need checks in Neo4j."""

    def __init__(self, cache: LineageCache, view: GraphView, request: TraversalRequest) -> None:
        super().__init__(view, request)
        direction = cache.upstream if request.layer.upstream else cache.downstream
        self._cache = cache
        self._direction = direction
        self._needs_checks = request.filter.checks_nodes or not view.visibility.is_unrestricted
        self._is_of_columns = request.layer in (COLUMNS_DOWN, COLUMNS_UP)
        self._column_neighbours: dict[str, tuple[str, ...]] = {}
        self.producers_or_consumers = direction.producers_or_consumers
        self.inputs_or_outputs = direction.inputs_or_outputs
        self.reached_from_any = direction.reached_from_any
        self.reached_from = direction.reached_from
        self.closed_entries = direction.closed_entries
        self.direct_neighbours = (
            self._column_neighbours if self._is_of_columns else direction.direct_neighbours
        )

    def load(self, frontier: Iterable[str]) -> None:
        if time.monotonic() > self._deadline:
            self.exhausted = "time"
        if self.exhausted:
            return
        urns = set(frontier) - self.rejected
        if self._is_of_columns:
            for urn in urns:
                self._column_neighbours[urn] = self._neighbours_of_column(urn)
        if self._needs_checks:
            self._check_hop(urns)

    def load_citations(self, urns: Iterable[str]) -> None:
        """Load the citations of all columns that the traversal may reach, in one statement instead
        of one a hop."""
        citable = set(urns)
        if self._is_of_columns and not self.layer.upstream:
            citable |= self._reachable_columns(citable)
        super().load_citations(citable)

    def _check_hop(self, urns: set[str]) -> None:
        """Check the nodes of one hop in the order of `Neo4jAdjacency`: nothing behind a rejected
        node is checked."""
        jobs = {urn for urn in urns if urn.startswith(JOBS_AND_RUNS)}
        datasets = urns - jobs
        entries = [
            (dataset, job)
            for dataset in datasets
            for job in self.producers_or_consumers.get(dataset, ())
        ]
        entered = {job for _, job in entries}
        derived = {far for entry in entries for far in self.reached_from.get(entry, ())}
        self._check(entered | derived)
        jobs = (jobs | entered) - self.rejected
        self._check(far for job in jobs for far in self.inputs_or_outputs.get(job, ()))
        self._check(
            far for urn in (*datasets, *jobs) for far in self.direct_neighbours.get(urn, ())
        )

    def _neighbours_of_column(self, column: str) -> tuple[str, ...]:
        """Return the columns next to one, with all columns of the whole datasets that it feeds.

        Upstream these are the columns that feed it, or that feed its whole dataset.
        """
        cache, direction = self._cache, self._direction
        if self.layer.upstream:
            datasets, columns = cache.datasets_of_column, direction.whole_datasets
        else:
            datasets, columns = direction.whole_datasets, cache.columns_of_dataset
        over_datasets = [
            far for dataset in datasets.get(column, ()) for far in columns.get(dataset, ())
        ]
        return (*direction.columns.get(column, ()), *over_datasets)

    def _reachable_columns(self, starts: set[str]) -> set[str]:
        reached: set[str] = set()
        waiting = sorted(starts)
        while waiting and len(reached) < _COLUMNS_PER_QUERY:
            urn = waiting.pop()
            if urn not in reached:
                reached.add(urn)
                waiting.extend(self._neighbours_of_column(urn))
        return reached
