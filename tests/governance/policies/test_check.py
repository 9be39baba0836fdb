"""Tests of filters of violations, and of the policies that concern an action."""

from __future__ import annotations

from headwater.governance.policies.check import ViolationFilter, policies_of
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


def test_a_filter_of_policies() -> None:
    first, second, _ = POLICIES.policies
    assert ViolationFilter().includes_policy(first)
    assert ViolationFilter(policy="a").includes_policy(first)
    assert not ViolationFilter(policy="a").includes_policy(second)
    assert not ViolationFilter(severity="P2").includes_policy(first)


def test_a_filter_of_namespaces() -> None:
    filter = ViolationFilter(namespace="db")
    assert filter.includes_node("dataset:db:orders")
    assert not filter.includes_node("dataset:db2:orders")
    assert not filter.includes_node("answer:db")


def test_the_policies_of_an_action() -> None:
    assert [one.name for one in policies_of(POLICIES, "drop")] == ["b"]
    assert [one.name for one in policies_of(POLICIES, "read")] == ["c"]
    assert policies_of(POLICIES, "inference") == ()
