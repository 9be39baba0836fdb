"""What is next to what on the map, from memory; and whether a walk can be answered so."""

from __future__ import annotations

import time
from collections.abc import Iterable

from headwater.lineage.cache.lineage_cache import LineageCache
from headwater.lineage.traversal.adjacency import (
    COLUMNS_DOWN,
    COLUMNS_UP,
    MAP_DOWN,
    MAP_UP,
    PROCESSES,
    Asked,
    AskedNeighbours,
    Neighbours,
)

_REMEMBERED = (MAP_DOWN, MAP_UP, COLUMNS_DOWN, COLUMNS_UP)
# So many columns are asked about together: what cites them is not in memory.
_COLUMNS_AT_ONCE = 1_000


def neighbours(asked: Asked, starts: Iterable[str]) -> Neighbours:
    """From memory where that knows the layer as it is now and everything that a walk starts from, else from Neo4j. When
    an edge was seen only Neo4j knows."""
    memory = memory_of(asked, starts)
    return AskedNeighbours(asked) if memory is None else RememberedNeighbours(memory, asked)


def memory_of(asked: Asked, starts: Iterable[str]) -> LineageCache | None:
    """The map in memory where that knows the layer as it is now and everything that a walk starts from."""
    view, layer = asked.view, asked.layer
    is_held = layer in _REMEMBERED and not asked.where.asks_time
    memory = view.cache.current() if view.cache and is_held else None
    if memory is not None and layer in (COLUMNS_DOWN, COLUMNS_UP) and not memory.has_columns:
        return None
    return (
        memory if memory is not None and all(memory.goes_by(urn) == urn for urn in starts) else None
    )


class RememberedNeighbours(Neighbours):
    """What memory tells. Nothing has to be learnt of the map, only who may see what and what passes the filter."""

    def __init__(self, memory: LineageCache, asked: Asked) -> None:
        super().__init__(asked)
        self._memory = memory
        self._side = side = memory.up if asked.layer.upstream else memory.down
        self._judges = asked.where.asks_nodes or not asked.view.visibility.is_unrestricted
        self._of_columns: dict[str, tuple[str, ...]] = {}
        self._is_of_columns = asked.layer in (COLUMNS_DOWN, COLUMNS_UP)
        self.onward, self.behind, self.open = side.onward, side.behind, side.open
        self.narrow, self.closed = side.narrow, side.closed
        self.hops = self._of_columns if self._is_of_columns else side.hops

    def learn(self, frontier: Iterable[str]) -> None:
        if time.monotonic() > self._deadline:
            self.exhausted = "time"
        if self.exhausted:
            return
        urns = set(frontier) - self.refused
        if self._is_of_columns:
            self._of_columns.update((urn, self._beside(urn)) for urn in urns)
        if self._judges:
            self._judge_beyond(urns)

    def learn_citations(self, urns: Iterable[str]) -> None:
        """Of all columns that may be walked through together, so that a walk costs one statement and not one a hop."""
        wanted = set(urns)
        if self._is_of_columns and not self.layer.upstream:
            wanted |= self._reached(wanted)
        super().learn_citations(wanted)

    def _judge_beyond(self, urns: set[str]) -> None:
        """In the steps in which they are met in Neo4j: what was refused is not gone through."""
        processes = {urn for urn in urns if urn.startswith(PROCESSES)}
        places = urns - processes
        entered = [(place, process) for place in places for process in self.onward.get(place, ())]
        derived = {far for pair in entered for far in self.narrow.get(pair, ())}
        self._judge({process for _, process in entered} | derived)
        processes.update(process for _, process in entered)
        processes -= self.refused
        self._judge(place for process in processes for place in self.behind.get(process, ()))
        self._judge(other for urn in (*places, *processes) for other in self.hops.get(urn, ()))

    def _beside(self, column: str) -> tuple[str, ...]:
        """The columns that this one feeds, and all of the datasets that it feeds as a whole; or the other way round."""
        memory, side = self._memory, self._side
        if not self.layer.upstream:
            whole = [
                far
                for dataset in side.wholes.get(column, ())
                for far in memory.columns.get(dataset, ())
            ]
        else:
            whole = [
                far
                for dataset in memory.datasets.get(column, ())
                for far in side.wholes.get(dataset, ())
            ]
        return (*side.columns.get(column, ()), *whole)

    def _reached(self, starts: set[str]) -> set[str]:
        reached: set[str] = set()
        waiting = sorted(starts)
        while waiting and len(reached) < _COLUMNS_AT_ONCE:
            urn = waiting.pop()
            if urn not in reached:
                reached.add(urn)
                waiting.extend(self._beside(urn))
        return reached
