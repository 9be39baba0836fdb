"""Which dataset of the graph a table in a repository is, and so which changes to ask about.

A table is called by a part of its name more often than by all of it: `orders` may be `shop.marts.orders`. A dataset of
exactly that name comes first; otherwise every dataset of which one name is the end of the other may be it, and when
there are several nobody can tell: the gate blocks and names them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Protocol

from headwater.code_analysis.model import fold_case, name_parts, same_table
from headwater.code_analysis.tables import MODEL, SEED, TableChange
from headwater.errors import QueryError
from headwater.gate.changes import Problem
from headwater.schema.urns import parse_urn

SHOWN_MAX = 5
_CERTIFIED = {"certified", "canonical"}
_NO = {"false", "no", "0"}


@dataclass(frozen=True)
class SearchHit:
    """A dataset that a search found."""

    urn: str
    namespace: str
    name: str


@dataclass(frozen=True)
class DatasetInfo:
    """What the graph knows of a dataset."""

    columns: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    makers: tuple[str, ...] = ()


class Graph(Protocol):
    """Whoever can be asked for datasets."""

    def datasets(self, text: str) -> tuple[list[SearchHit], bool]: ...

    def known(self, urn: str) -> DatasetInfo: ...


@dataclass(frozen=True)
class ResolutionOptions:
    """What helps to find a table: namespaces to keep to, the names that dbt's manifest tells by path or by name, and
    urns that somebody said."""

    namespaces: tuple[str, ...] = ()
    manifest: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DatasetChange:
    """One change to a dataset that is known, as the API takes it, and where it comes from; `makers` are the jobs that
    make the dataset."""

    delta: TableChange
    urn: str
    change: Mapping[str, Any]
    is_certified: bool = False
    makers: tuple[str, ...] = ()


class DatasetResolver:
    """Looks each table up once."""

    def __init__(self, graph: Graph, names: ResolutionOptions) -> None:
        self._graph = graph
        self._names = names
        self._urns: dict[tuple[str, str], str | None] = {}
        self._known: dict[str, DatasetInfo] = {}

    def changes(
        self, deltas: Iterable[TableChange]
    ) -> tuple[list[DatasetChange], list[Problem], list[str]]:
        """What to ask, what cannot be assessed, and what is new and so affects nobody."""
        asked: list[DatasetChange] = []
        problems: list[Problem] = []
        new: list[str] = []
        for delta in deltas:
            try:
                urn = self._urn(delta)
                if urn is not None:
                    asked += self._asked(delta, urn)
                elif delta.is_new:
                    new.append(delta.relation)
                else:
                    problems.append(Problem(delta.file, _unknown(delta), delta.line))
            except _AmbiguousError as error:
                problems.append(Problem(delta.file, str(error), delta.line))
        return asked, list(dict.fromkeys(problems)), sorted(set(new))

    def _urn(self, delta: TableChange) -> str | None:
        said = self._names.said.get(delta.relation) or self._names.said.get(delta.relation.lower())
        if said:
            return said
        name = self._full_name(delta)
        key = (name, delta.relation)
        if key not in self._urns:
            self._urns[key] = self._search(name, delta.relation)
        return self._urns[key]

    def _full_name(self, delta: TableChange) -> str:
        """The name that the manifest tells; its paths are those in the dbt project, wherever that is in the
        repository."""
        if delta.made_by in (MODEL, SEED):
            paths = [
                path
                for path in self._names.manifest
                if delta.file == path or delta.file.endswith(f"/{path}")
            ]
            if paths:
                return self._names.manifest[max(paths, key=len)]
        return self._names.manifest.get(delta.relation.lower(), delta.relation)

    def _search(self, name: str, relation: str) -> str | None:
        parts = name_parts(name)
        if not parts:
            return None
        found, is_cut = self._graph.datasets(re.split(r"[./]", name.rstrip("./"))[-1])
        kept = [one for one in found if self._is_kept(one)]
        exact = [
            one
            for one in kept
            if parts in (name_parts(one.name), name_parts(f"{one.namespace}/{one.name}"))
        ]
        close = exact or [one for one in kept if _ends_so(one, parts)]
        shorter = [one for one in kept if same_table(tuple(parts), one.name)] if not close else []
        if shorter:
            raise _AmbiguousError(
                f"{relation} may be {shorter[0].urn}, which has a shorter name; say so with --map"
            )
        if len(close) > 1:
            shown = ", ".join(one.urn for one in close[:SHOWN_MAX])
            raise _AmbiguousError(
                f"{relation} may be any of {len(close)} datasets: {shown}; say which with --map"
            )
        if not exact and is_cut:
            raise _AmbiguousError(
                f"{relation}: too many datasets are called like it; say which with --map"
            )
        return close[0].urn if close else None

    def _is_kept(self, one: SearchHit) -> bool:
        return not self._names.namespaces or any(
            fnmatchcase(one.namespace, p) for p in self._names.namespaces
        )

    def _asked(self, delta: TableChange, urn: str) -> list[DatasetChange]:
        known = self._of(urn)
        changes = [{**delta.change, "urn": urn}]
        if delta.change["type"] == "job_delete":
            # Without the one job that makes it, the dataset is as good as gone.
            sole = len(known.makers) == 1
            changes = [
                {"type": "job_delete", "urn": known.makers[0]}
                if sole
                else {"type": "table_drop", "urn": urn}
            ]
        if delta.columns:
            if not known.columns:
                raise _AmbiguousError(
                    f"{delta.relation} is defined anew, and which columns it had, nobody told"
                )
            kept = {fold_case(column) for column in delta.columns}
            gone = [
                column
                for column in known.columns
                if fold_case(column) not in kept and "." not in column
            ]
            changes += [{"type": "column_drop", "column": column, "urn": urn} for column in gone]
        certified = is_certified(known.tags)
        return [DatasetChange(delta, urn, change, certified, known.makers) for change in changes]

    def _of(self, urn: str) -> DatasetInfo:
        if urn not in self._known:
            self._known[urn] = self._graph.known(urn)
        return self._known[urn]


def _ends_so(one: SearchHit, parts: list[str]) -> bool:
    """Whether a dataset is called like this table, with more before it."""
    return any(
        name_parts(name)[-len(parts) :] == parts
        for name in (one.name, f"{one.namespace}/{one.name}")
    )


class _AmbiguousError(Exception):
    """Which dataset it is, or what it was, cannot be told."""


def _unknown(delta: TableChange) -> str:
    return f"{delta.relation} is in no lineage, so what reads it is not known; if it is there, say so with --map"


def is_certified(tags: Iterable[str]) -> bool:
    """Whether a tag says so: `certified` or `canonical`, by itself or with any value that is not a no."""
    pairs = (tag.casefold().partition("=") for tag in tags)
    return any(key.strip() in _CERTIFIED and value.strip() not in _NO for key, _, value in pairs)


def parse_map_options(pairs: Iterable[str]) -> dict[str, str]:
    """`--map table=urn`, as a mapping. Raises QueryError for a pair that is none."""
    said = {}
    for pair in pairs:
        name, equals, urn = pair.partition("=")
        if not name or not equals or parse_urn(urn).kind != "dataset":
            raise QueryError(
                f"--map {pair!r} is not table=urn",
                hint="For example orders=dataset:db:shop.orders.",
            )
        said[name.lower()] = urn
    return said
