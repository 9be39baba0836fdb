"""The differences of two versions of a contract, and which of them break consumers. Pure.

A consumer breaks if a promise is gone or weaker: a clause was removed, a type holds other values,
or new data may come later. A changed rule counts as breaking: either may be the stricter one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from headwater.governance.contracts.clauses import FRESHNESS, RULE, TYPE, Clause, clauses_of
from headwater.governance.contracts.types import keeps_type
from headwater.schema.facets.contracts import ContractColumn, ContractFacet, ContractRule

ADDED, REMOVED, CHANGED = "added", "removed", "changed"
_Key = tuple[str, str, str]


@dataclass(frozen=True)
class ContractChange:
    """A clause that one version has and another has not, or has otherwise."""

    change: str
    clause: str
    column: str
    before: str
    after: str
    is_breaking: bool


def contract_diff(old: ContractFacet, new: ContractFacet) -> list[ContractChange]:
    """Return the changes from one version of a contract to another, by clause and column."""
    before, after = _by_key(old), _by_key(new)
    found = [*_changes(before, after)]
    return sorted(found, key=lambda one: (one.clause, one.column, one.change, one.before))


def _changes(before: dict[_Key, Clause], after: dict[_Key, Clause]) -> Iterator[ContractChange]:
    for key, clause in before.items():
        other = after.get(key)
        if other is None:
            yield _change(REMOVED, clause, clause.expected, "", is_breaking=True)
        elif other.expected != clause.expected:
            is_breaking = not _is_as_strict(clause, other)
            yield _change(CHANGED, clause, clause.expected, other.expected, is_breaking=is_breaking)
    for key, clause in after.items():
        if key not in before:
            yield _change(ADDED, clause, "", clause.expected, is_breaking=False)


def _change(
    change: str, clause: Clause, before: str, after: str, *, is_breaking: bool
) -> ContractChange:
    return ContractChange(change, clause.kind, clause.column, before, after, is_breaking)


def _by_key(facet: ContractFacet) -> dict[_Key, Clause]:
    found: dict[_Key, Clause] = {}
    for clause in clauses_of(facet):
        promised = clause.promised
        name = promised.metric or promised.name or "" if isinstance(promised, ContractRule) else ""
        # A contract may have two rules about one measure.
        number = 0
        while (clause.kind, clause.column, f"{name}{number}") in found:
            number += 1
        found[clause.kind, clause.column, f"{name}{number}"] = clause
    return found


def _is_as_strict(old: Clause, new: Clause) -> bool:
    """Return True if data that keeps the new clause keeps the old one."""
    if old.kind == TYPE and isinstance(old.promised, ContractColumn):
        return keeps_type(old.promised, new.expected) is True
    if old.kind == FRESHNESS:
        limits = (new.promised, old.promised)
        return all(isinstance(one, timedelta) for one in limits) and limits[0] <= limits[1]  # type: ignore[operator]
    return old.kind != RULE
