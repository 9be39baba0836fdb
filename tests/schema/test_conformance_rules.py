"""The table of rules."""

from __future__ import annotations

from headwater.schema.conformance_rules import RULES


def test_each_rule_has_a_severity_and_two_sentences() -> None:
    for name, rule in RULES.items():
        assert rule.severity in {"error", "info"}, name
        assert rule.meaning.endswith("."), name
        assert rule.hint.strip(), name
