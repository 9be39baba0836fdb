"""The dataset of the graph that each table of a repository is, and so the changes to ask about.

Code rarely names a table in full: `orders` may be `shop.marts.orders`. A dataset of exactly that
name comes first. Otherwise each dataset matches whose name ends with the table name, or that the
table name ends with. With several matches the gate blocks and names them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Protocol

from headwater.code_analysis.model import MODEL, SEED, TableChange
from headwater.code_analysis.names import fold_case, may_be_table, name_parts
from headwater.errors import QueryError
from headwater.gate.changes import Problem
from headwater.schema.urns import parse_urn

SHOWN_MAX = 5
_CERTIFIED_TAGS = {"certified", "canonical"}
_NO_VALUES = {"false", "no", "0"}


@dataclass(frozen=True)
class SearchHit:
    """A dataset that a search found."""

    urn: str
    namespace: str
    name: str


@dataclass(frozen=True)
class GateApproval:
    """An approval that counts today: the policy is the rule of a finding of the gate."""

    policy: str
    reason: str
    by: str = ""
    at: str = ""
    until: str = ""


@dataclass(frozen=True)
class DatasetInfo:
    """The columns, tags and approvals of a dataset in the graph, and the jobs that make it."""

    columns: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    producers: tuple[str, ...] = ()
    approvals: tuple[GateApproval, ...] = ()


class DatasetCatalog(Protocol):
    """Datasets that can be searched and read."""

    def search_datasets(self, text: str) -> tuple[list[SearchHit], bool]: ...

    def dataset_info(self, urn: str) -> DatasetInfo: ...


@dataclass(frozen=True)
class ResolutionOptions:
    """Options that help to find the dataset of a table.

    namespaces: patterns of the namespaces to search; all if empty.
    manifest: full table names by file path and by model name, from dbt's manifest.
    mapped: urns by lower-case table name, from `--map`."""

    namespaces: tuple[str, ...] = ()
    manifest: Mapping[str, str] = field(default_factory=dict)
    mapped: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DatasetChange:
    """A change to a known dataset, as the API takes it, and the table change it comes from.

    producers: the jobs that make the dataset.
    approvals: what people approved for the dataset."""

    source: TableChange
    urn: str
    change: Mapping[str, Any]
    is_certified: bool = False
    producers: tuple[str, ...] = ()
    approvals: tuple[GateApproval, ...] = ()


@dataclass
class ResolvedChanges:
    """The changes to ask about, the tables without a certain dataset, and the new tables."""

    changes: list[DatasetChange] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    new_tables: list[str] = field(default_factory=list)


class _AmbiguousError(Exception):
    """A table whose dataset, or whose columns before, are not certain."""


class DatasetResolver:
    """Resolves tables to datasets; each table is searched once."""

    def __init__(self, catalog: DatasetCatalog, options: ResolutionOptions) -> None:
        self._catalog = catalog
        self._options = options
        self._urns: dict[tuple[str, str], str | None] = {}
        self._infos: dict[str, DatasetInfo] = {}

    def resolve(self, changes: Iterable[TableChange]) -> ResolvedChanges:
        """Return the changes of datasets.

        A table in no lineage is a problem, unless the branch creates it."""
        resolved = ResolvedChanges()
        for change in changes:
            try:
                self._resolve_change(change, resolved)
            except _AmbiguousError as error:
                resolved.problems.append(Problem(change.file, str(error), change.line))
        resolved.problems = list(dict.fromkeys(resolved.problems))
        resolved.new_tables = sorted(set(resolved.new_tables))
        return resolved

    def _resolve_change(self, change: TableChange, resolved: ResolvedChanges) -> None:
        urn = self._urn(change)
        if urn is not None:
            resolved.changes += self._dataset_changes(change, urn)
        elif change.is_new:
            resolved.new_tables.append(change.table)
        else:
            message = (
                f"{change.table} is in no lineage, so its readers are not known; "
                "if it is in the graph, give its urn with --map"
            )
            resolved.problems.append(Problem(change.file, message, change.line))

    def _urn(self, change: TableChange) -> str | None:
        mapped = self._options.mapped.get(change.table.lower())
        if mapped:
            return mapped
        name = self._full_name(change)
        key = (name, change.table)
        if key not in self._urns:
            self._urns[key] = self._search(name, change.table)
        return self._urns[key]

    def _full_name(self, change: TableChange) -> str:
        """Return the full name in the manifest, by path or name, or else the table name."""
        manifest = self._options.manifest
        if change.kind in (MODEL, SEED):
            file = f"/{change.file}"
            paths = [path for path in manifest if file.endswith(f"/{path}")]
            if paths:
                return manifest[max(paths, key=len)]
        return manifest.get(change.table.lower(), change.table)

    def _search(self, name: str, table: str) -> str | None:
        """Return the one dataset that a name can mean.

        None if there is none. Raises _AmbiguousError."""
        parts = name_parts(name)
        if not parts:
            return None
        last_part = re.split(r"[./]", name.rstrip("./"))[-1]
        hits, is_truncated = self._catalog.search_datasets(last_part)
        hits = [hit for hit in hits if self._is_in_namespaces(hit)]
        exact = [hit for hit in hits if parts in _spellings(hit)]
        matching = exact or [hit for hit in hits if _ends_with(hit, parts)]
        if not matching:
            shorter = [hit for hit in hits if may_be_table(tuple(parts), hit.name)]
            if shorter:
                raise _AmbiguousError(
                    f"{table} may be {shorter[0].urn}, which has a shorter name; confirm with --map"
                )
        if len(matching) > 1:
            shown = ", ".join(hit.urn for hit in matching[:SHOWN_MAX])
            raise _AmbiguousError(
                f"{table} may be any of {len(matching)} datasets: {shown}; choose one with --map"
            )
        if not exact and is_truncated:
            raise _AmbiguousError(
                f"{table}: too many datasets have a name like it; choose one with --map"
            )
        return matching[0].urn if matching else None

    def _is_in_namespaces(self, hit: SearchHit) -> bool:
        patterns = self._options.namespaces
        return not patterns or any(fnmatchcase(hit.namespace, pattern) for pattern in patterns)

    def _dataset_changes(self, change: TableChange, urn: str) -> list[DatasetChange]:
        """Return the changes to ask about, columns that a new definition lacks included."""
        info = self._info(urn)
        changes = [{**change.change, "urn": urn}]
        if change.change["type"] == "job_delete":
            # Without its only job the dataset is no longer made.
            changes = [{"type": "table_drop", "urn": urn}]
            if len(info.producers) == 1:
                changes = [{"type": "job_delete", "urn": info.producers[0]}]
        if change.columns:
            if not info.columns:
                raise _AmbiguousError(
                    f"{change.table} has a new definition, and the graph does not know its columns"
                )
            changes += _missing_columns(info.columns, change.columns, urn)
        certified = is_certified(info.tags)
        return [
            DatasetChange(change, urn, body, certified, info.producers, info.approvals)
            for body in changes
        ]

    def _info(self, urn: str) -> DatasetInfo:
        if urn not in self._infos:
            self._infos[urn] = self._catalog.dataset_info(urn)
        return self._infos[urn]


def _missing_columns(
    dataset_columns: Iterable[str], defined: Iterable[str], urn: str
) -> list[dict[str, Any]]:
    """Return a drop for each known column that a definition lacks, fields of structs aside."""
    defined_names = {fold_case(column) for column in defined}
    missing = [
        column
        for column in dataset_columns
        if fold_case(column) not in defined_names and "." not in column
    ]
    return [{"type": "column_drop", "column": column, "urn": urn} for column in missing]


def _spellings(hit: SearchHit) -> list[list[str]]:
    """Return the parts of the name of a dataset, without and with its namespace."""
    return [name_parts(hit.name), name_parts(f"{hit.namespace}/{hit.name}")]


def _ends_with(hit: SearchHit, parts: list[str]) -> bool:
    return any(spelling[-len(parts) :] == parts for spelling in _spellings(hit))


def is_certified(tags: Iterable[str]) -> bool:
    """Return True for a tag `certified` or `canonical`, unless its value is false, no or 0."""
    for tag in tags:
        key, _, value = tag.casefold().partition("=")
        if key.strip() in _CERTIFIED_TAGS and value.strip() not in _NO_VALUES:
            return True
    return False


def parse_map_options(pairs: Iterable[str]) -> dict[str, str]:
    """Return `--map TABLE=URN` options as urns by lower-case table name. Raises QueryError."""
    mapped = {}
    for pair in pairs:
        name, equals, urn = pair.partition("=")
        if not name or not equals or parse_urn(urn).kind != "dataset":
            raise QueryError(
                f"--map {pair!r} is not of the form TABLE=URN",
                hint="For example orders=dataset:db:shop.orders.",
            )
        mapped[name.lower()] = urn
    return mapped
