"""Policies in the schema: the number of violations of each policy."""

from __future__ import annotations

from headwater.governance.policies.models import Enforcement, Severity, Violation
from headwater.graphql.queries.policies import PolicyCount


def violation(policy: str, node: str, unknown: str = "") -> Violation:
    return Violation(
        policy, f"dataset:db:{node}", Severity.P1, Enforcement.BLOCK, "Wrong.", unknown=unknown
    )


def test_violations_are_counted_by_policy() -> None:
    found = [
        violation("owners", "a"),
        violation("owners", "b"),
        violation("owners", "c", "no facts"),
        violation("age", "a", "no facts"),
    ]
    assert PolicyCount.all_of(found) == [
        PolicyCount(policy="age", violations=0, unknown=1),
        PolicyCount(policy="owners", violations=2, unknown=1),
    ]
    assert PolicyCount.all_of([]) == []
