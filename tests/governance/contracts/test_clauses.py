"""Clauses of contracts, and single observations of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from headwater.governance.contracts.clauses import clauses_of, freshness_of, outcome_of
from headwater.schema.facets.contracts import ServiceLevel
from tests.governance.contracts.contracts import facet, seen


def kept(rule: dict[str, Any], **observed: Any) -> bool | None:
    [clause] = clauses_of(facet(rules=[rule]))
    return outcome_of(clause, seen(0, **observed)).kept


@pytest.mark.parametrize(
    ("operator", "values", "expected"),
    [
        ("mustBe", [10], True),
        ("mustBe", [11], False),
        ("mustNotBe", [10], False),
        ("mustBeGreaterThan", [10], False),
        ("mustBeGreaterOrEqualTo", [10], True),
        ("mustBeLessThan", [10], False),
        ("mustBeLessOrEqualTo", [10], True),
        ("mustBeBetween", [10, 20], True),
        ("mustNotBeBetween", [10, 20], False),
        ("mustNotBeBetween", [11, 20], True),
        ("mustFly", [1], None),
    ],
)
def test_operators(operator: str, values: list[float], expected: bool | None) -> None:
    assert (
        kept({"metric": "rowCount", "operator": operator, "values": values}, rows=10.0) is expected
    )


def test_measures_of_the_library() -> None:
    data = {"rows": 200.0, "null_shares": {"mail": 0.05}, "distinct_counts": {"mail": 180.0}}
    none = {"column": "mail", "operator": "mustBe", "values": [0]}
    assert kept({**none, "metric": "nullValues"}, **data) is False
    assert kept({**none, "metric": "nullValues", "values": [10]}, **data) is True
    assert (
        kept({**none, "metric": "missingValues", "values": [5], "unit": "percent"}, **data) is True
    )
    # 190 values, of which 180 differ.
    assert kept({**none, "metric": "duplicateValues", "values": [10]}, **data) is True
    share = {**none, "metric": "duplicateValues", "values": [5], "unit": "percent"}
    assert kept(share, **data) is True
    assert kept({**none, "metric": "invalidValues"}, **data) is None
    assert kept({**none, "metric": "nullValues"}) is None


def test_a_check_of_the_same_name_stands_for_a_rule() -> None:
    rule = {"name": "positive", "column": "amount"}
    assert kept(rule, checks={("positive", "amount"): True}) is True
    assert kept(rule, checks={("positive", "amount"): False, ("positive", ""): True}) is False
    assert kept(rule, checks={("positive", "other"): False}) is None


def test_freshness() -> None:
    assert freshness_of(ServiceLevel("freshness", 24, "h")) == timedelta(days=1)
    assert freshness_of(ServiceLevel("Latency", 4, "d")) == timedelta(days=4)
    for level in (
        ServiceLevel("retention", 3, "y"),
        ServiceLevel("freshness", 0, "h"),
        ServiceLevel("freshness", 1e300, "y"),
        ServiceLevel("freshness", float("nan"), "h"),
        ServiceLevel("freshness", 4, "fortnights"),
        ServiceLevel("freshness"),
    ):
        assert freshness_of(level) is None


def test_a_composite_key_need_not_be_unique_by_column() -> None:
    keys = [{"name": name, "primaryKey": True} for name in ("day", "shop")]
    kinds = [clause.kind for clause in clauses_of(facet(columns=keys))]
    assert kinds == ["column", "required"] * 2
    assert [clause.kind for clause in clauses_of(facet(columns=keys[:1]))][-1] == "unique"
