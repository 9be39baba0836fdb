"""The catalogue of rules is complete in itself."""

from __future__ import annotations

from headwater.health.findings.rules import RULES


def test_causes_are_rules() -> None:
    named = {cause for rule in RULES.values() for cause in rule.causes}
    assert named <= RULES.keys()


def test_each_rule_names_a_kind_of_node() -> None:
    assert {rule.subject for rule in RULES.values()} == {"job", "dataset", "answer", "producer"}
