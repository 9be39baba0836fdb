"""Findings of broken contracts: who broke them, and who reads the data."""

from __future__ import annotations

import pytest

from headwater.health.findings.datasets.contract_violation import (
    contract_violations,
    detect_contract_violation,
)
from headwater.health.findings.datasets.history import Check, Schema
from headwater.schema.drift import Fields
from tests.governance.contracts.contracts import in_force
from tests.health.findings.datasets.histories import (
    checked,
    day,
    history,
    measured,
    reader,
    version,
    with_schema,
)

COLUMNS = [{"name": "id", "physicalType": "bigint"}, {"name": "mail", "required": True}]
FULL: Fields = {"id": "bigint", "mail": "string"}


def test_clauses_that_one_version_broke_are_one_finding() -> None:
    given = history(
        versions=(with_schema(0, FULL), with_schema(1, {"id": "string"}), with_schema(2, FULL)),
        readers=(reader("letters", 1),),
        contracts=(in_force(columns=COLUMNS),),
    )
    [one] = detect_contract_violation(given, day(3))
    assert (one.rule, one.subject) == ("contract-violation", "dataset:db:orders")
    assert one.key.endswith(":artifact:db:orders:1")
    assert (one.first_seen, one.resolved_at, one.resolved_by) == (
        day(1),
        day(2),
        "artifact:db:orders:2",
    )
    assert one.evidence == {
        "contract": "orders",
        "contractVersion": "1.0.0",
        "clauses": [
            {"clause": "column", "column": "mail", "expected": "present", "actual": "missing"},
            {"clause": "type", "column": "id", "expected": "bigint", "actual": "string"},
        ],
        "count": 2,
        "begunBy": "artifact:db:orders:1",
        "run": "run:1",
        "job": "job:etl:load",
        "serviceLevel": None,
        "readers": ["job:etl:letters"],
        "readerCount": 1,
    }


def test_a_late_dataset_breaks_its_contract_by_the_clock() -> None:
    level = {"property": "freshness", "value": 1, "unit": "d"}
    given = history(versions=(version(0),), contracts=(in_force(serviceLevels=[level]),))
    assert list(detect_contract_violation(given, day(0.9))) == []
    [one] = detect_contract_violation(given, day(2))
    assert (one.first_seen, one.resolved_at) == (day(1), None)


@pytest.mark.parametrize(
    ("driver", "late", "missing"),
    [
        ("regulatory", "regulatory", "regulatory"),
        (" Operational", "operational", None),
        ("analytics", None, None),
        (None, None, None),
    ],
)
def test_a_service_level_makes_a_broken_contract_urgent(
    driver: str | None, late: str | None, missing: str | None
) -> None:
    level = {"property": "freshness", "value": 1, "unit": "d", "driver": driver}
    contract = in_force(serviceLevels=[level], columns=[{"name": "mail"}])
    given = history(versions=(with_schema(0, {"id": "int"}),), contracts=(contract,))
    found = {
        one.evidence["clauses"][0]["clause"]: one.evidence["serviceLevel"]
        for one in detect_contract_violation(given, day(2))
    }
    assert found == {"freshness": late, "column": missing}


def test_a_check_job_names_the_run_that_wrote_the_version() -> None:
    report = checked(0.5, Check("positive", "amount", False), of=0)
    rule = {"name": "positive", "column": "amount"}
    given = history(versions=(version(0),), reports=(report,), contracts=(in_force(rules=[rule]),))
    [one] = contract_violations(given, day(1))
    assert (one.since, one.run, one.job) == (day(0.5), "run:0", "job:etl:load")


def test_measures_of_reports() -> None:
    given = history(
        versions=(version(0),),
        reports=(measured(0, 0.25, measure="null share"),),
        contracts=(in_force(columns=[{"name": "amount", "required": True}]),),
    )
    assert [one.actual for one in contract_violations(given, day(1))] == ["25.00% nulls"]


def test_a_source_without_versions_has_schemas() -> None:
    schema = Schema("schema:1", {"id": "bigint"}, day(0), day(1))
    given = history(schemas=(schema,), contracts=(in_force(columns=COLUMNS),))
    [one] = contract_violations(given, day(2))
    assert (one.begun_by, one.clause.column) == ("schema:1", "mail")


def test_incomplete_versions_and_dropped_datasets_break_nothing() -> None:
    half = with_schema(0, {}, complete=False)
    contracts = (in_force(columns=COLUMNS),)
    assert contract_violations(history(versions=(half,), contracts=contracts), day(1)) == []
    gone = history(versions=(with_schema(0, {}),), contracts=contracts, dropped_at=day(1))
    assert contract_violations(gone, day(1)) == []
