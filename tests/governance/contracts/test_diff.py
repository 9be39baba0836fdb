"""Changes of contracts, and which of them break consumers."""

from __future__ import annotations

from headwater.governance.contracts.diff import contract_diff
from tests.governance.contracts.contracts import facet


def test_changes_of_columns() -> None:
    old = facet(
        columns=[
            {"name": "id", "physicalType": "bigint", "required": True},
            {"name": "mail"},
            {"name": "amount", "physicalType": "bigint"},
        ]
    )
    new = facet(
        columns=[
            {"name": "id", "physicalType": "string"},
            {"name": "amount", "physicalType": "int"},
            {"name": "city"},
        ]
    )
    found = contract_diff(old, new)
    assert [
        (one.change, one.clause, one.column, one.before, one.after, one.is_breaking)
        for one in found
    ] == [
        ("added", "column", "city", "", "present", False),
        ("removed", "column", "mail", "present", "", True),
        ("removed", "required", "id", "no nulls", "", True),
        ("changed", "type", "amount", "bigint", "int", False),
        ("changed", "type", "id", "bigint", "string", True),
    ]
    assert contract_diff(old, old) == []


def test_changes_of_service_levels_and_rules() -> None:
    def of(hours: float, *limits: float) -> object:
        rules = [
            {"metric": "rowCount", "operator": "mustBeGreaterThan", "values": [limit]}
            for limit in limits
        ]
        return facet(
            rules=rules, serviceLevels=[{"property": "freshness", "value": hours, "unit": "h"}]
        )

    [late] = contract_diff(of(24, 1, 2), of(48, 1, 2))  # type: ignore[arg-type]
    assert (late.clause, late.is_breaking) == ("freshness", True)
    [sooner] = contract_diff(of(24), of(12))  # type: ignore[arg-type]
    assert sooner.is_breaking is False
    [rule] = contract_diff(of(24, 1, 2), of(24, 1, 3))  # type: ignore[arg-type]
    assert (rule.before, rule.after, rule.is_breaking) == (
        "rowCount mustBeGreaterThan 2",
        "rowCount mustBeGreaterThan 3",
        True,
    )
