"""Tests of the policies that concern an action."""

from __future__ import annotations

from headwater.governance.policies.check import policies_of
from headwater.governance.policies.files import PolicyFile, parse_policies

POLICIES = parse_policies(
    [
        PolicyFile(
            "a.yaml",
            "policies:\n- {name: a, rule: required-owners, severity: P1}\n"
            "- {name: b, rule: no-delete-with-consumers}\n- {name: c, rule: allowed-flows}\n",
        )
    ]
)


def test_the_policies_of_an_action() -> None:
    assert [one.name for one in policies_of(POLICIES, "drop")] == ["b"]
    assert [one.name for one in policies_of(POLICIES, "read")] == ["c"]
    assert policies_of(POLICIES, "inference") == ()
