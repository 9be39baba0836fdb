"""The map as it is now, in memory: what a walk over it asks at every hop, each a look into a dict.

It is made of parts, one for each dataset, job and other name of a dataset, as Neo4j has them (`map_follower` reads
them). From the parts come indexes, one for each thing that a walk asks (`neighbours`): "which jobs read this". A part
that is put again takes back what it said before and says what it says now, so a map that followed every change has
the same indexes as one that was loaded afresh.

Values are tuples, in order, that are replaced and never changed: walks in other threads need no lock. One may see a
part of what a transaction wrote, as it may in Neo4j, where every hop is a statement of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from headwater.lineage.node_names import NodeName

Index = dict[Any, tuple[str, ...]]
# Of one index, that at this key there is this value.
Said = tuple[Index, Hashable, str]


class Output(NamedTuple):
    """What a job makes, and those of its inputs that this is known to come from; none: from any, unless it was
    `told`."""

    place: str
    derived: tuple[str, ...]
    told: bool


class JobPart(NamedTuple):
    """What a job reads and makes now, and the jobs that it feeds."""

    name: NodeName
    inputs: tuple[str, ...] = ()
    outputs: tuple[Output, ...] = ()
    feeds: tuple[str, ...] = ()


class DatasetPart(NamedTuple):
    """What a dataset feeds, its columns, and what these feed: columns, or datasets as a whole."""

    name: NodeName
    feeds: tuple[str, ...] = ()
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()


class OtherName(NamedTuple):
    """The dataset that goes by another name."""

    canonical: str


Part = JobPart | DatasetPart | OtherName
# The jobs beside a dataset, and for each of them what lies behind it for who comes from there.
Steps = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]


@dataclass
class Side:
    """One direction of the map, as `Neighbours` knows a layer."""

    onward: Index = field(default_factory=dict)
    behind: Index = field(default_factory=dict)
    open: Index = field(default_factory=dict)
    narrow: Index = field(default_factory=dict)
    closed: Index = field(default_factory=dict)
    hops: Index = field(default_factory=dict)
    # From column to column, and between a column and datasets as a whole: by the column down, by the dataset up.
    columns: Index = field(default_factory=dict)
    wholes: Index = field(default_factory=dict)
    # What a walk over the map finds beyond a dataset (`map_walk`), worked out of the others.
    steps: dict[str, Steps] = field(default_factory=dict)

    def step_again(self, place: str) -> None:
        processes = self.onward.get(place, ())
        if processes:
            self.steps[place] = (
                processes,
                tuple(self._beyond(place, process) for process in processes),
            )
        else:
            self.steps.pop(place, None)

    def _beyond(self, place: str, process: str) -> tuple[str, ...]:
        derived = self.narrow.get((place, process), ())
        if (place, process) in self.closed:
            return derived
        opened = self.open.get(process, ())
        return tuple(sorted({*derived, *opened})) if derived else opened


class LineageCache:
    """The parts and their indexes. `put` is for one thread at a time; anybody may look."""

    def __init__(self) -> None:
        self.down = Side()
        self.up = Side()
        # The columns of a dataset, and the datasets of a column.
        self.columns: Index = {}
        self.datasets: Index = {}
        self.parts: dict[str, Part] = {}
        self.names: dict[str, NodeName] = {}
        # Columns are many, and come after everything else.
        self.has_columns = False

    def put(self, parts: Mapping[str, Part | None]) -> None:
        """These are now what stands at these urns; None: nothing does."""
        gone, come = _Changes(), _Changes()
        read, made = set[str](), set[str]()
        for urn, part in parts.items():
            before = self.parts.get(urn)
            if part != before:
                for one in (before, part):
                    if isinstance(one, JobPart):
                        read.update(one.inputs)
                        made.update(output.place for output in one.outputs)
                gone.add(self._said(urn, before))
                come.add(self._said(urn, part))
                # So that what goes by another name now is never found at neither.
                if part is None:
                    del self.parts[urn]
                else:
                    self.parts[urn] = part
                if part is None or isinstance(part, OtherName):
                    self.names.pop(urn, None)
                else:
                    self.names[urn] = part.name
        for key in gone.values.keys() | come.values.keys():
            _replace(
                gone.indexes[key] if key in gone.indexes else come.indexes[key],
                key[1],
                gone[key],
                come[key],
            )
        for side, places in ((self.down, read), (self.up, made)):
            for place in places:
                side.step_again(place)

    def goes_by(self, urn: str) -> str | None:
        """The urn by which a dataset, job or column goes; None where it is not known."""
        part = self.parts.get(urn)
        if isinstance(part, OtherName):
            return part.canonical if part.canonical in self.parts else None
        return urn if part is not None or urn in self.datasets else None

    def indexes(self) -> dict[str, Mapping[Any, Any]]:
        """Every index by name: what two maps must agree in to be the same."""
        sides = {"down": self.down, "up": self.up}
        found = {
            f"{name}.{index}": getattr(side, index)
            for name, side in sides.items()
            for index in vars(side)
        }
        return {**found, "columns": self.columns, "datasets": self.datasets}

    def _said(self, urn: str, part: Part | None) -> Iterator[Said]:
        if isinstance(part, JobPart):
            yield from self._said_of_job(urn, part)
        elif isinstance(part, DatasetPart):
            yield from self._said_of_dataset(urn, part)

    def _said_of_job(self, urn: str, part: JobPart) -> Iterator[Said]:
        down, up = self.down, self.up
        for place in part.inputs:
            yield from ((down.onward, place, urn), (up.behind, urn, place), (up.open, urn, place))
        for place, derived, told in part.outputs:
            yield from ((up.onward, place, urn), (down.behind, urn, place))
            if derived or told:
                yield up.closed, (place, urn), urn
            else:
                yield down.open, urn, place
            for source in derived:
                yield from ((down.narrow, (source, urn), place), (up.narrow, (place, urn), source))
        for other in part.feeds:
            yield from ((down.hops, urn, other), (up.hops, other, urn))

    def _said_of_dataset(self, urn: str, part: DatasetPart) -> Iterator[Said]:
        down, up = self.down, self.up
        for other in part.feeds:
            yield from ((down.hops, urn, other), (up.hops, other, urn))
        for column, targets in part.columns:
            yield from ((self.columns, urn, column), (self.datasets, column, urn))
            for target in targets:
                if target.startswith("dataset:"):
                    yield from ((down.wholes, column, target), (up.wholes, target, column))
                else:
                    yield from ((down.columns, column, target), (up.columns, target, column))


class _Changes:
    """What is said, by index and key."""

    def __init__(self) -> None:
        self.indexes: dict[tuple[int, Hashable], Index] = {}
        self.values: dict[tuple[int, Hashable], list[str]] = defaultdict(list)

    def add(self, said: Iterable[Said]) -> None:
        for index, key, value in said:
            self.indexes[id(index), key] = index
            self.values[id(index), key].append(value)

    def __getitem__(self, key: tuple[int, Hashable]) -> list[str]:
        return self.values.get(key, [])


def _replace(index: Index, key: Hashable, gone: list[str], come: list[str]) -> None:
    now = tuple(sorted({*index.get(key, ())}.difference(gone).union(come)))
    if now:
        index[key] = now
    else:
        index.pop(key, None)
