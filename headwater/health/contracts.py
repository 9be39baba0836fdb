"""The data contracts of the graph, with their state and their violations now and before.

Everything is worked out from the histories of the datasets, so an answer needs no detector.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.governance.contracts.evaluate import Assessment, Violation, assess
from headwater.governance.contracts.observations import Observed
from headwater.health.findings.datasets.contract_violation import contract_violations, observed_of
from headwater.health.findings.datasets.history import DatasetHistory
from headwater.health.findings.datasets.reader import read_dataset_histories
from headwater.lineage.node_visibility import select_visible
from headwater.lineage.pagination import Page
from headwater.lineage.view import GraphView
from headwater.schema.contracts import ContractVersion, current_versions
from headwater.schema.events import parse_instant
from headwater.schema.facets.contracts import ContractFacet
from headwater.schema.facets.kinds import salvage

# The contracts that are read to find violations, in one request.
CONTRACTS_MAX = 1_000
_CONTRACTS_PER_READ = 50


@dataclass(frozen=True)
class ContractFilter:
    """Conditions on contracts: the urn of their dataset and their id; empty ones match all."""

    urn: str = ""
    contract: str = ""


@dataclass(frozen=True)
class DatasetContract:
    """A contract about a dataset: its newest version, its state, and all its violations.

    urn: of the dataset; "" if the graph has none of that name. versions: oldest first.
    """

    urn: str
    assessment: Assessment
    violations: tuple[Violation, ...] = ()
    versions: tuple[ContractVersion, ...] = ()


@dataclass(frozen=True)
class DatasetViolation:
    """A violation of a contract about a dataset, with its cursor in the list of all."""

    urn: str
    violation: Violation
    cursor: str


def contracts(
    view: GraphView, filter: ContractFilter, instant: datetime, *, first: int, after: str = ""
) -> Page[DatasetContract]:
    """Return a page of contracts by dataset and id. Raises QueryError for a bad cursor."""
    urn, contract, _ = _position(after)
    rows = _rows(view, filter, urn, contract, first + 1)
    found = _assessed(view, rows[:first], instant)
    cursors = [_cursor(one.urn, one.assessment.version.facet.contract_id) for one in found]
    return Page(found, cursors, len(rows) > first, bool(after))


def contracts_of(
    view: GraphView, urns: Collection[str], instant: datetime
) -> list[DatasetContract]:
    """Return the contracts in force at an instant about visible datasets, by dataset and id."""
    visible = select_visible(view, sorted(urns))
    found: list[DatasetContract] = []
    for history in read_dataset_histories(view, visible, instant):
        for contract in sorted({one.facet.contract_id for one in history.contracts}):
            one = _of_history(history, contract, instant)
            if one is not None and one.assessment.version.is_binding and not history.is_gone:
                found.append(one)
    return sorted(found, key=lambda one: (one.urn, one.assessment.version.facet.contract_id))


def count_contracts(view: GraphView, filter: ContractFilter) -> int:
    """Return the number of contracts on all pages."""
    [row] = view.read(
        "read/governance/contracts_count",
        urn=filter.urn,
        contract=filter.contract,
        visible=view.visibility.regexes,
    )
    return int(row["count"])


def violations(
    view: GraphView,
    filter: ContractFilter,
    instant: datetime,
    *,
    open: bool | None = None,
    first: int,
    after: str = "",
) -> Page[DatasetViolation]:
    """Return a page of violations by dataset, contract and time. Raises QueryError."""
    found: list[DatasetViolation] = []
    for one in _violations(view, filter, instant, after):
        if open is None or (one.violation.ended_at is None) == open:
            found.append(one)
        if len(found) > first:
            break
    shown = found[:first]
    return Page(shown, [one.cursor for one in shown], len(found) > first, bool(after))


def count_violations(
    view: GraphView, filter: ContractFilter, instant: datetime, *, open: bool | None = None
) -> int | None:
    """Return the number of violations on all pages; None if there are too many contracts."""
    if count_contracts(view, filter) > CONTRACTS_MAX:
        return None
    found = _violations(view, filter, instant, "")
    return sum(open is None or (one.violation.ended_at is None) == open for one in found)


def check_contract(
    view: GraphView, urn: str, content: Mapping[str, Any], instant: datetime
) -> DatasetContract:
    """Return the state that a contract would have, if it were in force for a dataset now."""
    facet = salvage(ContractFacet, msgspec.json.encode(content))
    if facet is None or not facet.contract_id.strip():
        raise QueryError(
            "`contract` must have a contractId and a version",
            hint="Send what `headwater contract import --dry-run` prints as the facet.",
        )
    # A draft is checked as if it were active.
    facet = msgspec.structs.replace(facet, status="active")
    version = ContractVersion(facet, parse_instant(instant.isoformat()))
    histories = read_dataset_histories(view, [urn], instant)
    visible = [one for one in histories if view.visibility.includes(one.namespace)]
    observed = observed_of(visible[0]) if visible else Observed()
    return DatasetContract(
        visible[0].urn if visible else "", assess(version, observed, instant), (), (version,)
    )


def _violations(
    view: GraphView, filter: ContractFilter, instant: datetime, after: str
) -> Iterator[DatasetViolation]:
    urn, contract, number = _position(after)
    if after:
        rows = _rows(view, ContractFilter(urn, contract), "", "", 1)
        if filter.urn in ("", urn) and filter.contract in ("", contract):
            yield from _violations_of(view, rows, instant, number + 1)
    for _ in range(CONTRACTS_MAX // _CONTRACTS_PER_READ):
        rows = _rows(view, filter, urn, contract, _CONTRACTS_PER_READ)
        yield from _violations_of(view, rows, instant, 0)
        if len(rows) < _CONTRACTS_PER_READ:
            return
        urn, contract = rows[-1]["urn"], rows[-1]["contract"]


def _violations_of(
    view: GraphView, rows: list[Row], instant: datetime, begin: int
) -> Iterator[DatasetViolation]:
    for one in _assessed(view, rows, instant):
        contract = one.assessment.version.facet.contract_id
        for number, violation in enumerate(one.violations):
            if number >= begin:
                yield DatasetViolation(one.urn, violation, _cursor(one.urn, contract, number))


def _rows(
    view: GraphView, filter: ContractFilter, after_urn: str, after_contract: str, limit: int
) -> list[Row]:
    return view.read(
        "read/governance/contracts",
        urn=filter.urn,
        contract=filter.contract,
        visible=view.visibility.regexes,
        afterUrn=after_urn,
        afterContract=after_contract,
        limit=limit,
    )


def _assessed(view: GraphView, rows: list[Row], instant: datetime) -> list[DatasetContract]:
    """Return the contracts of rows, in their order."""
    urns = {row["urn"] for row in rows}
    histories = {one.urn: one for one in read_dataset_histories(view, urns, instant)}
    found = []
    for row in rows:
        history = histories.get(row["urn"])
        one = _of_history(history, row["contract"], instant) if history else None
        if one is not None:
            found.append(one)
    return found


def _of_history(
    history: DatasetHistory, contract: str, instant: datetime
) -> DatasetContract | None:
    versions = tuple(one for one in history.contracts if one.facet.contract_id == contract)
    if not versions:
        return None
    [newest] = current_versions(versions)
    broken = contract_violations(history, instant)
    return DatasetContract(
        urn=history.urn,
        assessment=assess(newest, observed_of(history), instant),
        violations=tuple(one for one in broken if one.contract_id == contract),
        versions=versions,
    )


def _cursor(urn: str, contract: str, number: int = 0) -> str:
    return json.dumps([urn, contract, number])


def _position(cursor: str) -> tuple[str, str, int]:
    """Return the position of a cursor, or the beginning. Raises QueryError for a bad one."""
    if not cursor:
        return "", "", -1
    try:
        urn, contract, number = msgspec.json.decode(cursor, type=tuple[str, str, int])
    except (msgspec.MsgspecError, ValueError) as error:
        raise QueryError(f"cursor {cursor[:80]!r} is not one of this list") from error
    return urn, contract, number
