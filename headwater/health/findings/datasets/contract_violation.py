"""Rule `contract-violation`: a dataset breaks a data contract.

The clauses and their violations over time are those of `headwater.governance.contracts`. Clauses of
one version of a contract that the same run or version broke are one finding, which ends when all of
them are kept again. A late dataset breaks its clause by the clock.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from headwater.governance.contracts.clauses import FRESHNESS
from headwater.governance.contracts.evaluate import Violation, violations_of
from headwater.governance.contracts.observations import NewData, Observation, Observed
from headwater.health.findings.datasets.history import DatasetHistory, Measures, Report
from headwater.health.findings.models import Episode
from headwater.lineage.questions.measure_changes import DISTINCT_COUNT, NULL_SHARE

RULE = "contract-violation"
LISTED_MAX = 20
REGULATORY, OPERATIONAL = "regulatory", "operational"
_DIGITS = 12


def detect_contract_violation(history: DatasetHistory, instant: datetime) -> Iterator[Episode]:
    """Yield an episode for the clauses of a contract that one version broke."""
    found: dict[tuple[str, str, str], list[Violation]] = defaultdict(list)
    for one in contract_violations(history, instant):
        found[one.contract_id, one.version, one.begun_by].append(one)
    for (contract, version, begun_by), some in sorted(found.items()):
        digest = hashlib.sha256(f"{contract}\0{version}".encode(errors="replace")).hexdigest()
        yield _episode(history, f"{digest[:_DIGITS]}:{begun_by}", some)


def contract_violations(history: DatasetHistory, instant: datetime) -> list[Violation]:
    """Return the violations of the contracts about a dataset, earliest first."""
    if not history.contracts or history.is_gone:
        return []
    return violations_of(history.contracts, observed_of(history), instant)


def observed_of(history: DatasetHistory) -> Observed:
    """Return what is known about a dataset, as contracts are compared with it."""
    if history.versions:
        updates = [NewData(one.created_at, one.urn) for one in history.complete_versions]
    else:
        updates = [NewData(at, "a capture of its data") for at in history.updates]
    observations = sorted(_observations(history), key=lambda one: (one.at, one.urn, one.run))
    return Observed(tuple(observations), tuple(updates))


def _observations(history: DatasetHistory) -> Iterator[Observation]:
    versions = {one.urn: one for one in history.complete_versions}
    for version in versions.values():
        yield Observation(
            urn=version.urn,
            at=version.created_at,
            run=version.run,
            job=version.job,
            fields=version.fields,
            rows=version.row_count,
        )
    if not any(version.fields for version in history.versions):
        for schema in history.schemas:
            yield Observation(schema.urn, schema.first_seen, fields=schema.fields)
    incomplete = {one.urn for one in history.versions} - versions.keys()
    for report in history.reports:
        if report.version not in incomplete:
            wrote = versions.get(report.version)
            yield _reported(
                history,
                report,
                run=wrote.run if wrote else report.run,
                job=wrote.job if wrote else report.job,
                rows=wrote.row_count if wrote else None,
            )


def _reported(
    history: DatasetHistory, report: Report, *, run: str, job: str, rows: int | None
) -> Observation:
    """Return what a report shows; `run` and `job` wrote the data that it is about."""
    return Observation(
        urn=report.version or history.urn,
        at=report.at,
        run=run,
        job=job,
        rows=report.row_count if report.row_count is not None else rows,
        null_shares=_of(report.measures, NULL_SHARE),
        distinct_counts=_of(report.measures, DISTINCT_COUNT),
        checks={(check.name, check.column): check.success for check in report.checks},
    )


def _of(measures: Measures, measure: str) -> dict[str, float]:
    return {column: value for (column, name), value in measures.items() if name == measure}


def _episode(history: DatasetHistory, key: str, some: Sequence[Violation]) -> Episode:
    ends = [one.ended_at for one in some if one.ended_at is not None]
    is_over = len(ends) == len(some)
    last = max(some, key=lambda one: (one.ended_at or one.last_seen, one.clause.key))
    return Episode(
        rule=RULE,
        subject=history.urn,
        key=key,
        first_seen=min(one.since for one in some),
        last_seen=max(one.last_seen for one in some),
        resolved_at=max(ends) if is_over else None,
        resolved_by=last.ended_by if is_over else None,
        evidence=_evidence(history, some),
    )


def _evidence(history: DatasetHistory, some: Sequence[Violation]) -> dict[str, Any]:
    first = some[0]
    readers = [reader.job for reader in history.current_readers]
    return {
        "contract": first.contract_id,
        "contractVersion": first.version,
        "clauses": list(_clauses(some[:LISTED_MAX])),
        "count": len(some),
        "begunBy": first.begun_by,
        "run": first.run or None,
        "job": first.job or None,
        "serviceLevel": _urgent_driver(history, some),
        "readers": readers[:LISTED_MAX],
        "readerCount": len(readers),
    }


def _urgent_driver(history: DatasetHistory, some: Sequence[Violation]) -> str | None:
    """Return the driver of a service level that makes broken clauses urgent; None without one.

    A law is broken with any clause of its contract, operations wait for the data of a late one.
    """
    broken = (some[0].contract_id, some[0].version)
    facets = [one.facet for one in history.contracts]
    of_contract = [one for one in facets if (one.contract_id, one.version) == broken]
    levels = chain.from_iterable(one.service_levels or () for one in of_contract)
    drivers = {(level.driver or "").strip().casefold() for level in levels}
    if REGULATORY in drivers:
        return REGULATORY
    is_late = any(one.clause.kind == FRESHNESS for one in some)
    return OPERATIONAL if is_late and OPERATIONAL in drivers else None


def _clauses(some: Iterable[Violation]) -> Iterator[dict[str, Any]]:
    for one in some:
        yield {
            "clause": one.clause.kind,
            "column": one.clause.column or None,
            "expected": one.clause.expected,
            "actual": one.actual,
        }
