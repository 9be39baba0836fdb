"""Tiers by the kind of harm and by whom a finding reaches."""

from __future__ import annotations

import pytest

from headwater.health.findings.models import Affected
from headwater.health.findings.severity import is_critical, own_tier, tier_of

NOBODY = Affected(datasets=3, jobs=2)
ANSWER = Affected(answers=1)
CRITICAL = Affected(datasets=3, critical=1)


@pytest.mark.parametrize(
    ("rule", "affected", "is_subject_critical", "tier"),
    [
        ("failed-run", NOBODY, False, "P2"),
        ("failed-run", ANSWER, False, "P1"),
        ("failed-run", CRITICAL, False, "P1"),
        ("failed-check", NOBODY, True, "P1"),
        ("personal-data-in-metadata", NOBODY, False, "P2"),
        ("personal-data-in-metadata", CRITICAL, False, "P1"),
        ("row-count", NOBODY, False, "P2"),
        ("row-count", CRITICAL, False, "P2"),
        ("schema-drift", ANSWER, False, "P2"),
        ("schema-drift", CRITICAL, False, "P1"),
        ("schema-drift", NOBODY, True, "P2"),
        ("unused-dataset", CRITICAL, True, "P3"),
        ("clock-skew", NOBODY, False, "P3"),
    ],
)
def test_the_tier_follows_from_harm_and_reach(
    rule: str, affected: Affected, is_subject_critical: bool, tier: str
) -> None:
    assert tier_of(rule, affected, is_subject_critical=is_subject_critical) == tier


@pytest.mark.parametrize(
    ("tags", "type", "expected"),
    [
        ([], None, False),
        (["pii"], "table", False),
        (["Certified"], None, True),
        (["certified=true"], None, True),
        (["certified=false"], None, False),
        (["tier=1"], None, True),
        (["criticality=low"], None, False),
        ([], "MODEL", True),
    ],
)
def test_critical_nodes_are_certified_of_a_critical_tier_or_models(
    tags: list[str], type: str | None, expected: bool
) -> None:
    assert is_critical(tags, type) is expected


def test_policies_and_urgent_service_levels_set_the_tier() -> None:
    assert own_tier("policy-violation", {"severity": "P3"}) == "P3"
    assert own_tier("contract-violation", {"serviceLevel": "regulatory"}) == "P1"
    assert own_tier("contract-violation", {"serviceLevel": None}) is None
    assert own_tier("stale-dataset", {"serviceLevel": "regulatory"}) is None
