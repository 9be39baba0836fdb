"""What an assessment looks at: places that hold columns, readers that make places of places, and the trouble between.

Pure values, so that the rules of severity can be tried on any scene, whatever graph or files it was made from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from headwater.code_analysis.model import ALL, References, fold_case
from headwater.lineage.questions.downstream import ColumnEdge
from headwater.schema.urns import column_urn, parse_urn

# What becomes of a column: it is gone (dropped, or made from one that is), it has another name, its type is narrowed or
# widened, its values mean something else, it is new, or it is no longer refreshed.
Kind = Literal[
    "gone", "renamed", "narrowed", "widened", "meaning", "added", "added_required", "stale"
]
_RANK: dict[Kind, int] = {
    "added": 0, "stale": 1, "meaning": 2, "widened": 3, "added_required": 4, "narrowed": 5, "renamed": 6, "gone": 7
}  # fmt: skip
Severity = Literal["breaking", "warning"]


def _no_code() -> None:
    """Nobody told."""


@dataclass(frozen=True)
class Table:
    """A dataset, or a table that only code knows. `columns` are None where nobody told them."""

    urn: str
    name: str
    columns: tuple[str, ...] | None = None

    def column(self, name: str) -> str:
        """A column as the place spells it."""
        return self._spellings.get(fold_case(name), name)

    def column_urn(self, name: str) -> str:
        found = self._urns.get(name)
        if found is None:
            parts = parse_urn(self.urn).parts if self.urn.startswith("dataset:") else ()
            found = (
                column_urn(parts[0], parts[1], self.column(name)) if parts else f"{self.urn}:{name}"
            )
            self._urns[name] = found
        return found

    @cached_property
    def _spellings(self) -> dict[str, str]:
        return {fold_case(one): one for one in self.columns or ()}

    @cached_property
    def _urns(self) -> dict[str, str]:
        return {}


@dataclass(frozen=True)
class Consumer:
    """A job, a dataset that is made of others, or a file. `outputs`: place -> the places it is known to come from
    (None: from any). `source` reads its code, when it is first asked for. `covered`: its column lineage is whole, so
    that what it does not show is not so. `path` is the file that its code stands in, "" for code that a producer
    sent."""

    urn: str
    kind: Literal["JOB", "DATASET", "FILE"] = "JOB"
    outputs: Mapping[str, frozenset[str] | None] = field(default_factory=dict)
    source: Callable[[], References | None] = _no_code
    path: str = ""
    covered: bool = False
    is_hidden: bool = False

    @cached_property
    def code(self) -> References | None:
        """What its code refers to; None where nobody knows its code."""
        return self.source()

    def outputs_from(self, place: str) -> list[str]:
        return [
            output
            for output, sources in self.outputs.items()
            if sources is None or place in sources
        ]


@dataclass(frozen=True)
class PropagatedChange:
    """A column of a place (ALL: the whole of it) that a change reaches. Not `sure`: it may reach it. `path` is how, as
    urns of columns or places; `distance` counts the readers between. `of_whole`: it is, because the whole place is."""

    place: str
    column: str
    kind: Kind
    sure: bool = True
    distance: int = 0
    path: tuple[str, ...] = ()
    of_whole: bool = False

    @property
    def rank(self) -> tuple[bool, int]:
        return self.sure, _RANK[self.kind]

    @property
    def is_start(self) -> bool:
        """Whether it is the change itself."""
        return len(self.path) <= 1

    @property
    def severity(self) -> Severity:
        """How bad a reference to it is."""
        return (
            "breaking" if self.sure and self.kind in ("gone", "renamed", "narrowed") else "warning"
        )

    def passed(
        self, place: str, column: str, step: str, reader: Consumer, *, same: bool, sure: bool = True
    ) -> PropagatedChange:
        """The trouble that a reader makes of it. Not `same`: the values are made of it, but are others."""
        kind: Kind = self.kind
        if not same and kind not in ("gone", "stale"):
            kind = "gone" if kind == "renamed" else "meaning"
        distance = self.distance + (0 if reader.is_hidden else 1)
        return replace(
            self, place=place, column=column, kind=kind, sure=self.sure and sure, distance=distance,
            path=(*self.path, step), of_whole=False,
        )  # fmt: skip

    def stale(self, place: str, reader: Consumer) -> PropagatedChange:
        """What a reader makes may be old or wrong, nobody knows which part of it."""
        passed = self.passed(place, ALL, place, reader, same=False, sure=False)
        return replace(passed, kind="stale")


@dataclass(frozen=True)
class DependencyModel:
    """`readers`: place -> who reads it. `edges` answers where columns go, for many at once: urn -> edges."""

    places: Mapping[str, Table]
    readers: Mapping[str, list[Consumer]]
    edges: Callable[[Iterable[str]], Mapping[str, list[ColumnEdge]]]

    def place(self, urn: str) -> Table:
        return self.places.get(urn) or Table(urn, urn.rpartition(":")[2])

    def beside(self, reader: Consumer, place: str) -> list[Table]:
        """The other places that a reader reads."""
        return [self.place(other) for other in self._read_by.get(reader.urn, ()) if other != place]

    @cached_property
    def _read_by(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for place, readers in self.readers.items():
            for reader in readers:
                found[reader.urn].append(place)
        return found

    def columns_of(self, trouble: PropagatedChange) -> list[PropagatedChange]:
        """A trouble of a whole place as those of its columns, where it is sure and they are known."""
        if trouble.column != ALL or not trouble.sure:
            return []
        place = self.place(trouble.place)
        return [
            replace(
                trouble,
                column=column,
                path=(*trouble.path, place.column_urn(column)),
                of_whole=True,
            )
            for column in place.columns or ()
        ]
