"""The violations of contracts over time, and the state of each contract now. Pure.

A clause is broken by the first observation that does not keep it while its contract is in force. If
the data was so before, it is broken from the beginning of the contract on. It ends with the next
observation that keeps it, or with the contract. Observations without facts change nothing.

New data is late by the promised age of the newest, and it is in time again when new data comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from headwater.governance.contracts.clauses import (
    FRESHNESS,
    NEEDED,
    NO_FACTS,
    Clause,
    Outcome,
    clauses_of,
    outcome_of,
)
from headwater.governance.contracts.observations import NewData, Observation, Observed
from headwater.schema.contracts import ContractVersion
from headwater.schema.events import to_datetime


class State(StrEnum):
    """Whether a contract is kept. `UNKNOWN`: nothing is broken, and a clause lacks facts."""

    KEPT = "KEPT"
    VIOLATED = "VIOLATED"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True)
class Violation:
    """A broken clause of one version of a contract, from when to when.

    begun_by: the urn of the version or schema that broke it, or a few words.
    run, job: who wrote that; "" if no run is known. ended_at: None while it is broken.
    """

    contract_id: str
    version: str
    clause: Clause
    actual: str
    begun_by: str
    since: datetime
    last_seen: datetime
    run: str = ""
    job: str = ""
    ended_at: datetime | None = None
    ended_by: str | None = None


@dataclass(frozen=True)
class ClauseState:
    """A clause with what was last observed about it; `at` and `since` are None without facts.

    since: from when on each fact says the same, and not before the contract took effect.
    """

    clause: Clause
    outcome: Outcome
    at: datetime | None = None
    since: datetime | None = None


@dataclass(frozen=True)
class Assessment:
    """The state of the newest version of a contract, clause by clause."""

    version: ContractVersion
    state: State
    clauses: tuple[ClauseState, ...]


def violations_of(
    versions: Iterable[ContractVersion], observed: Observed, instant: datetime
) -> list[Violation]:
    """Return the violations of all versions of contracts, earliest first."""
    found: list[Violation] = []
    for version in versions:
        if version.is_binding and to_datetime(version.begin) <= instant:
            found += _violations(version, observed, instant)
    return sorted(found, key=lambda one: (one.since, one.contract_id, one.clause.key))


def assess(version: ContractVersion, observed: Observed, instant: datetime) -> Assessment:
    """Return the state of a contract at an instant, by the newest facts about each clause."""
    begin = to_datetime(version.begin)
    states = tuple(_state(clause, observed, instant, begin) for clause in clauses_of(version.facet))
    if any(one.outcome.kept is False for one in states):
        state = State.VIOLATED
    elif not states or any(_lacks_facts(one) for one in states):
        state = State.UNKNOWN
    else:
        state = State.KEPT
    return Assessment(version, state, states)


def _lacks_facts(one: ClauseState) -> bool:
    return one.outcome.kept is None and one.clause.kind in NEEDED


def _state(clause: Clause, observed: Observed, instant: datetime, begin: datetime) -> ClauseState:
    if clause.kind == FRESHNESS:
        return _freshness_state(clause, observed.updates, instant, begin)
    newest: ClauseState | None = None
    for one in reversed(observed.observations):
        outcome = outcome_of(clause, one) if one.at <= instant else NO_FACTS
        if outcome.kept is None:
            continue
        if newest is None:
            newest = ClauseState(clause, outcome, one.at)
        elif outcome.kept is not newest.outcome.kept:
            break
        newest = replace(newest, since=max(one.at, begin))
    return newest or ClauseState(clause, NO_FACTS)


def _freshness_state(
    clause: Clause, updates: Sequence[NewData], instant: datetime, begin: datetime
) -> ClauseState:
    known = [one.at for one in updates if one.at <= instant]
    if not known or not isinstance(clause.promised, timedelta):
        return ClauseState(clause, NO_FACTS)
    age, since = instant - known[-1], known[-1]
    is_kept = age <= clause.promised
    if not is_kept:
        since += clause.promised
    else:
        for earlier in reversed(known[:-1]):
            if since - earlier > clause.promised:
                break
            since = earlier
    return ClauseState(clause, Outcome(is_kept, _age(age)), known[-1], max(since, begin))


def _violations(
    version: ContractVersion, observed: Observed, instant: datetime
) -> Iterator[Violation]:
    begin = to_datetime(version.begin)
    end = to_datetime(version.end) if version.end is not None else None
    for clause in clauses_of(version.facet):
        if clause.kind == FRESHNESS:
            found = _late(version, clause, observed.updates, instant)
        else:
            found = _broken(version, clause, observed.observations)
        for one in found:
            clipped = _within(one, begin, end)
            if clipped is not None:
                yield clipped


def _broken(
    version: ContractVersion, clause: Clause, observations: Iterable[Observation]
) -> Iterator[Violation]:
    """Yield the violations of a clause, as if its contract had always been in force."""
    current: Violation | None = None
    for one in observations:
        outcome = outcome_of(clause, one)
        if outcome.kept is None:
            continue
        if outcome.kept:
            if current is not None:
                yield replace(current, ended_at=one.at, ended_by=one.urn)
            current = None
        elif current is not None:
            current = replace(current, last_seen=one.at)
        else:
            current = _violation(version, clause, outcome.actual, one)
    if current is not None:
        yield current


def _violation(
    version: ContractVersion, clause: Clause, actual: str, one: Observation
) -> Violation:
    facet = version.facet
    return Violation(
        contract_id=facet.contract_id,
        version=facet.version,
        clause=clause,
        actual=actual,
        begun_by=one.urn,
        since=one.at,
        last_seen=one.at,
        run=one.run,
        job=one.job,
    )


def _late(
    version: ContractVersion, clause: Clause, updates: Sequence[NewData], instant: datetime
) -> Iterator[Violation]:
    if not isinstance(clause.promised, timedelta):
        return
    for number, one in enumerate(updates):
        following = updates[number + 1] if number + 1 < len(updates) else None
        due = one.at + clause.promised
        until = following.at if following is not None else instant
        if until <= due:
            continue
        yield Violation(
            contract_id=version.facet.contract_id,
            version=version.facet.version,
            clause=clause,
            actual=f"nothing new since {_iso(one.at)}",
            begun_by=f"due {_iso(due)}",
            since=due,
            last_seen=due,
            ended_at=following.at if following is not None else None,
            ended_by=following.name if following is not None else None,
        )


def _within(one: Violation, begin: datetime, end: datetime | None) -> Violation | None:
    """Return the part of a violation while its contract was in force; None without one."""
    if (one.ended_at is not None and one.ended_at <= begin) or (end and one.since >= end):
        return None
    since = max(one.since, begin)
    last_seen = max(one.last_seen, since)
    ended_at, ended_by = one.ended_at, one.ended_by
    if end is not None and (ended_at is None or ended_at > end):
        ended_at, ended_by = end, "another version of the contract took effect"
    if ended_at is not None:
        last_seen = min(last_seen, ended_at)
    return replace(one, since=since, last_seen=last_seen, ended_at=ended_at, ended_by=ended_by)


def _age(age: timedelta) -> str:
    return f"{timedelta(seconds=int(age.total_seconds()))} old"


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")
