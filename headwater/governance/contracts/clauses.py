"""The clauses of a contract, and whether one observation keeps them. Pure.

| clause | broken if |
|---|---|
| `column` | the schema lacks the column |
| `type` | the column has a type that does not keep the promised one |
| `registered` | the schema has a column that no registered version of it has |
| `required` | values of the column are null |
| `unique` | the column has fewer distinct values than the dataset has rows |
| `rule` | a measure of the data is not as promised, or the check of that name failed |
| `freshness` | no new data came in time |

A clause that no observation has facts about is neither kept nor broken. Checks in prose, and
service levels that the lineage graph has no facts about, as retention, are no clauses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from headwater.governance.contracts.observations import Observation
from headwater.governance.contracts.types import keeps_type
from headwater.schema.drift import Fields
from headwater.schema.facets.contracts import (
    ContractColumn,
    ContractFacet,
    ContractRule,
    ServiceLevel,
)

COLUMN, TYPE, REGISTERED, REQUIRED, UNIQUE, RULE, FRESHNESS = (
    "column",
    "type",
    "registered",
    "required",
    "unique",
    "rule",
    "freshness",
)
# Clauses without facts leave the state of the contract unknown. Of the flags of a column, many
# producers send no measures, so these count only where measures came.
NEEDED = frozenset({COLUMN, REGISTERED, RULE, FRESHNESS})
_FRESH = frozenset({"freshness", "latency", "frequency"})
_UNITS: dict[str, timedelta] = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), timedelta(seconds=1)),
    **dict.fromkeys(("m", "min", "minute", "minutes"), timedelta(minutes=1)),
    **dict.fromkeys(("h", "hr", "hour", "hours"), timedelta(hours=1)),
    **dict.fromkeys(("d", "day", "days"), timedelta(days=1)),
    **dict.fromkeys(("w", "week", "weeks"), timedelta(weeks=1)),
    **dict.fromkeys(("y", "yr", "year", "years"), timedelta(days=365)),
}
_DAYS_MAX = 36_500
_LISTED_MAX = 20
_NULLS = frozenset({"nullValues", "missingValues"})


@dataclass(frozen=True)
class Clause:
    """One promise of a contract. `expected` is what it promises, in a few words."""

    kind: str
    column: str = ""
    expected: str = ""
    promised: ContractColumn | ContractRule | timedelta | frozenset[str] | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what identifies the clause across the versions of a contract."""
        name = self.promised.name or "" if isinstance(self.promised, ContractRule) else ""
        return self.kind, self.column, name or (self.expected if self.kind == RULE else "")


@dataclass(frozen=True)
class Outcome:
    """Whether an observation keeps a clause (None: no facts), and what was observed."""

    kept: bool | None
    actual: str = ""


NO_FACTS = Outcome(None)


def clauses_of(contract: ContractFacet) -> Iterator[Clause]:
    """Yield the clauses of a contract: columns first, then rules, then service levels."""
    keys = sum(bool(column.primary_key) for column in contract.columns or ())
    for column in contract.columns or ():
        type = column.physical_type or column.logical_type or ""
        if contract.allowed is None:
            yield Clause(COLUMN, column.name, "present", column)
        if type:
            yield Clause(TYPE, column.name, type, column)
        if column.required or column.primary_key:
            yield Clause(REQUIRED, column.name, "no nulls", column)
        if column.unique or (column.primary_key and keys == 1):
            yield Clause(UNIQUE, column.name, "unique values", column)
    if contract.allowed is not None:
        yield Clause(REGISTERED, "", "only registered columns", frozenset(contract.allowed))
    for rule in contract.rules or ():
        if rule.metric or rule.name:
            yield Clause(RULE, rule.column or "", rule_words(rule), rule)
    for level in contract.service_levels or ():
        limit = freshness_of(level)
        if limit is not None:
            yield Clause(FRESHNESS, "", f"new data within {limit}", limit)


def freshness_of(level: ServiceLevel) -> timedelta | None:
    """Return how old the newest data may be; None for a service level of another kind."""
    unit = _UNITS.get((level.unit or "").strip().casefold())
    if level.property.strip().casefold() not in _FRESH or unit is None or level.value is None:
        return None
    if not 0 < level.value <= _DAYS_MAX * timedelta(days=1) / unit:
        return None
    return unit * level.value


def rule_words(rule: ContractRule) -> str:
    """Return a rule in a few words: `rowCount mustBeGreaterThan 100`."""
    values = " and ".join(f"{value:g}" for value in rule.values or ())
    words = [rule.metric or rule.name or "", rule.operator or "", values]
    if rule.unit and rule.unit != "rows":
        words.append(rule.unit)
    return " ".join(word for word in words if word)


def outcome_of(clause: Clause, observation: Observation) -> Outcome:
    """Return whether an observation keeps a clause; freshness is not a matter of one."""
    promised = clause.promised
    if isinstance(promised, ContractColumn):
        return _outcome_of_column(clause, promised, observation)
    if isinstance(promised, ContractRule):
        return _outcome_of_rule(promised, observation)
    if isinstance(promised, frozenset) and observation.fields is not None:
        return _outcome_of_columns(promised, observation.fields)
    return NO_FACTS


def _outcome_of_column(clause: Clause, column: ContractColumn, seen: Observation) -> Outcome:
    name = _observed_name(column.name, seen.fields) if seen.fields is not None else None
    if clause.kind == COLUMN:
        if seen.fields is None:
            return NO_FACTS
        return Outcome(name is not None, "present" if name is not None else "missing")
    if clause.kind == TYPE:
        observed = seen.fields.get(name) if seen.fields is not None and name is not None else None
        return Outcome(keeps_type(column, observed), observed) if observed else NO_FACTS
    known = name or column.name
    if clause.kind == REQUIRED:
        share = seen.null_shares.get(known)
        return NO_FACTS if share is None else Outcome(share <= 0, f"{share:.2%} nulls")
    duplicates = _duplicates(known, seen)
    return (
        NO_FACTS if duplicates is None else Outcome(duplicates <= 0, f"{duplicates:g} duplicates")
    )


def _outcome_of_columns(allowed: frozenset[str], fields: Fields) -> Outcome:
    known = {name.casefold() for name in allowed}
    others = [name for name in fields if name.casefold() not in known]
    listed = ", ".join(others[:_LISTED_MAX])
    return Outcome(not others, f"unregistered: {listed}" if others else "registered")


def _observed_name(name: str, fields: Fields) -> str | None:
    """Return a column by its name, or else by its name in other case; None if it is missing."""
    if name in fields:
        return name
    folded = name.casefold()
    return next((other for other in sorted(fields) if other.casefold() == folded), None)


def _duplicates(column: str, seen: Observation) -> float | None:
    distinct = seen.distinct_counts.get(column)
    if distinct is None or seen.rows is None:
        return None
    # Nulls are no values.
    return round(seen.rows * (1 - seen.null_shares.get(column, 0.0))) - distinct


def _outcome_of_rule(rule: ContractRule, seen: Observation) -> Outcome:
    value = _measure(rule, seen)
    if value is not None and rule.operator and rule.values:
        return Outcome(_holds(rule.operator, value, rule.values), f"{value:g}")
    checks = [
        success
        for (name, column), success in seen.checks.items()
        if rule.name and name == rule.name and (not rule.column or column in ("", rule.column))
    ]
    if not checks:
        return NO_FACTS
    return Outcome(all(checks), "check passed" if all(checks) else "check failed")


def _measure(rule: ContractRule, seen: Observation) -> float | None:
    """Return the value that a rule of the library is about; None without facts."""
    rows, column = seen.rows, rule.column or ""
    is_share = (rule.unit or "").strip().casefold() == "percent"
    if rule.metric == "rowCount":
        return None if is_share else rows
    if rule.metric in _NULLS:
        share = seen.null_shares.get(column)
        if share is None or is_share:
            return None if share is None else share * 100
        return None if rows is None else round(share * rows)
    if rule.metric == "duplicateValues":
        duplicates = _duplicates(column, seen)
        if duplicates is None or not is_share:
            return duplicates
        return duplicates / rows * 100 if rows else 0.0
    return None


def _holds(operator: str, value: float, limits: list[float]) -> bool | None:
    """Return True if a value is as promised; None for an operator that is not of the standard."""
    limit, other = limits[0], limits[-1]
    is_equal = math.isclose(value, limit, rel_tol=1e-9, abs_tol=1e-9)
    results = {
        "mustBe": is_equal,
        "mustNotBe": not is_equal,
        "mustBeGreaterThan": value > limit,
        "mustBeGreaterOrEqualTo": value >= limit,
        "mustBeLessThan": value < limit,
        "mustBeLessOrEqualTo": value <= limit,
        "mustBeBetween": limit <= value <= other,
        "mustNotBeBetween": not limit <= value <= other,
    }
    return results.get(operator)
