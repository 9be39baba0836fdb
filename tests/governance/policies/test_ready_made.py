"""Tests of the ready-made rules: each on an example that violates it, and on one that does not."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.governance.policies.cases import run_cases
from headwater.governance.policies.files import PolicyFile, parse_policies
from headwater.governance.policies.ready_made import RULES

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAY = 86_400
EU = {"urn": "dataset:a:x", "namespace": "crm", "region": "eu", "purpose": "billing"}
CERTIFIED = {"node.certified": True, "downstream.nodes": 0, "downstream.certified": 0}

# The rule, its arguments, variables, and what they give.
CASES: list[tuple[str, str, dict[str, Any], str]] = [
    ("no-delete-with-consumers", "{}", {"consumers.active": 1}, "violated"),
    ("no-delete-with-consumers", "{}", {"consumers.active": 0}, "fine"),
    ("no-delete-with-consumers", "{}", {}, "unknown"),
    ("required-owners", "{}", {"node.owners": []}, "violated"),
    ("required-owners", "{}", {"node.owners": ["a"]}, "fine"),
    ("required-owners", "{at_least: 2}", {"node.owners": ["a"]}, "violated"),
    ("required-description", "{}", {"node.description": ""}, "violated"),
    ("required-description", "{}", {"node.description": "x"}, "fine"),
    ("certified-inputs", "{}", {"node.certified": True, "upstream.uncertified": ["x"]}, "violated"),
    ("certified-inputs", "{}", {"node.certified": False, "upstream.uncertified": ["x"]}, "fine"),
    ("certified-inputs", "{}", {"node.certified": True, "upstream.uncertified": []}, "fine"),
    ("prefer-certified", "{}", {"upstream.replaceable": ["x"]}, "violated"),
    ("prefer-certified", "{}", {"upstream.replaceable": []}, "fine"),
    ("prefer-certified", "{}", {}, "unknown"),
    ("fresh-before-inference", "{}", {"upstream.sources": [{"ageSeconds": DAY + 1}]}, "violated"),
    ("fresh-before-inference", "{}", {"upstream.sources": [{"ageSeconds": DAY}]}, "fine"),
    (
        "fresh-before-inference",
        "{within: 2d}",
        {"upstream.sources": [{"ageSeconds": DAY + 1}]},
        "fine",
    ),
    ("fresh-before-inference", "{}", {"upstream.sources": [{"urn": "x"}]}, "unknown"),
    ("fresh-before-inference", "{}", {}, "unknown"),
    (
        "allowed-flows",
        "{from_regions: eu, to_regions: [eu, uk]}",
        {"node.region": "us", "upstream.inputs": [EU]},
        "violated",
    ),
    (
        "allowed-flows",
        "{from_regions: eu, to_regions: [eu, uk]}",
        {"node.region": "uk", "upstream.inputs": [EU]},
        "fine",
    ),
    (
        "allowed-flows",
        "{from_purposes: billing, to_purposes: billing}",
        {"node.purpose": "", "node.region": "", "upstream.inputs": [EU]},
        "violated",
    ),
    (
        "allowed-flows",
        "{from: crm*, to: [crm*, mart]}",
        {"node.namespace": "lab", "upstream.inputs": [EU]},
        "violated",
    ),
    (
        "allowed-flows",
        "{from: crm*, to: [crm*, mart]}",
        {"node.namespace": "mart", "upstream.inputs": [EU]},
        "fine",
    ),
    (
        "allowed-flows",
        "{from_purposes: billing, to_purposes: billing}",
        {"change.action": "read", "node.purpose": "billing", "change.purpose": "marketing"},
        "violated",
    ),
    (
        "allowed-flows",
        "{from_purposes: billing, to_purposes: billing}",
        {"change.action": "read", "node.purpose": "billing", "change.purpose": "billing"},
        "fine",
    ),
    (
        "masked-personal-data",
        "{}",
        {"node.kind": "answer", "personalData.unmasked": ["email"]},
        "violated",
    ),
    (
        "masked-personal-data",
        "{classes: [ssn]}",
        {"node.kind": "answer", "personalData.unmasked": ["email"]},
        "fine",
    ),
    (
        "masked-personal-data",
        "{}",
        {"node.kind": "dataset", "node.type": "MODEL", "personalData.unmasked": ["email"]},
        "violated",
    ),
    (
        "masked-personal-data",
        "{}",
        {"node.kind": "dataset", "node.type": "TABLE", "personalData.unmasked": ["email"]},
        "fine",
    ),
    ("masked-personal-data", "{}", {"node.kind": "answer"}, "unknown"),
    (
        "no-deprecated-sources",
        "{}",
        {"node.deprecated": False, "upstream.deprecated": ["x"]},
        "violated",
    ),
    ("no-deprecated-sources", "{}", {"node.deprecated": False, "upstream.deprecated": []}, "fine"),
    ("retention", "{days: 30}", {"node.oldestSeconds": 31 * DAY}, "violated"),
    ("retention", "{days: 30}", {"node.oldestSeconds": 30 * DAY}, "fine"),
    ("retention", "{days: 30}", {}, "unknown"),
    ("retention", "{}", {"node.tags": []}, "fine"),
    (
        "retention",
        "{}",
        {"node.tags": ["retention=30"], "node.retentionDays": 30, "node.oldestSeconds": 31 * DAY},
        "violated",
    ),
    (
        "approval-for-blast-radius",
        "{}",
        {"node.certified": False, "downstream.nodes": 6, "downstream.certified": 0},
        "violated",
    ),
    (
        "approval-for-blast-radius",
        "{}",
        {"node.certified": False, "downstream.nodes": 5, "downstream.certified": 0},
        "fine",
    ),
    ("approval-for-blast-radius", "{}", CERTIFIED, "violated"),
    ("approval-for-blast-radius", "{}", {**CERTIFIED, "approved": True}, "fine"),
]


@pytest.mark.parametrize(("rule", "arguments", "values", "expected"), CASES)
def test_a_rule_on_examples(
    rule: str, arguments: str, values: dict[str, Any], expected: str
) -> None:
    case = {"name": "case", "given": values, "expect": expected}
    text = f"name: x\nrule: {rule}\nwith: {arguments}\ntests: {[case]!r}"
    (result,) = run_cases(parse_policies([PolicyFile("a.yaml", text)]), NOW)
    assert result.outcome == expected, result


def test_each_rule_is_tried() -> None:
    assert {rule for rule, _, _, _ in CASES} == set(RULES)


def test_names_cannot_break_out_of_their_text() -> None:
    evil = "'x' || true || \"" + '\\" || true'
    evil_text = json.dumps([evil, "\U0001f600"], ensure_ascii=False)
    text = f"name: x\nrule: allowed-flows\nwith:\n  from_regions: {evil_text}\n  to_regions: eu"
    (policy,) = parse_policies([PolicyFile("a.yaml", text)]).policies
    values = {"change.action": "", "node.region": "us", "upstream.inputs": [EU]}
    outcome = policy.condition.evaluate({**values, "node.namespace": "a", "node.purpose": ""})
    assert not outcome.is_violated
