"""The data contracts in an evidence pack: the state of each clause, and since when."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime

from headwater.evidence.digest import Data
from headwater.governance.contracts.evaluate import ClauseState
from headwater.health.contracts import DatasetContract, contracts_of
from headwater.lineage.view import GraphView

_STATES = {True: "KEPT", False: "BROKEN", None: "UNKNOWN"}


def list_clauses(view: GraphView, datasets: Collection[str], instant: datetime) -> list[Data]:
    """Return the clauses of the contracts in force, by dataset and contract, in their order."""
    found: list[Data] = []
    for contract in contracts_of(view, datasets, instant):
        found += _clauses(contract)
    return found


def _clauses(contract: DatasetContract) -> Iterator[Data]:
    facet = contract.assessment.version.facet
    for one in contract.assessment.clauses:
        yield {
            "dataset": contract.urn,
            "contract": facet.contract_id,
            "version": facet.version,
            **_clause(one),
        }


def _clause(one: ClauseState) -> Data:
    return {
        "state": _STATES[one.outcome.kept],
        "since": one.since,
        "clause": one.clause.kind,
        "column": one.clause.column or None,
        "expected": one.clause.expected,
        "actual": one.outcome.actual or None,
        "observedAt": one.at,
    }
