"""Tests of the evaluator: which policies concern a node, and what a violation contains."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

from headwater.governance.policies.evaluate import evaluate
from headwater.governance.policies.files import PolicyFile, parse_policies
from headwater.governance.policies.models import Approval, Facts, Policy, Subject

NOW = datetime(2026, 3, 1, tzinfo=UTC)
URN = "dataset:file:/lake/orders"
VALUES: dict[str, Any] = {
    "node.urn": URN,
    "node.kind": "dataset",
    "node.namespace": "file",
    "node.name": "/lake/orders",
    "node.type": "TABLE",
    "node.tags": ["pii=email", "Certified"],
    "node.owners": ["team:sales"],
    "node.certified": True,
    "downstream.nodes": 9,
    "downstream.certified": 0,
    "upstream.inputs": [{"urn": f"dataset:a:{number}"} for number in range(30)],
}


def policies(text: str) -> tuple[Policy, ...]:
    return parse_policies([PolicyFile("a.yaml", text)]).policies


def facts(subject: Subject = Subject.DATASET, more: Mapping[str, Any] | None = None) -> Facts:
    return Facts(URN, frozenset((subject,)), {**VALUES, **(more or {})})


def names(text: str, some: Facts | None = None, instant: datetime = NOW) -> list[str]:
    return [one.policy for one in evaluate(policies(text), some or facts(), instant)]


def policy(more: str = "", condition: str = "node.certified", on: str = "dataset") -> str:
    return f"name: x\non: {on}\ncondition: {condition}\n{more}"


def test_a_policy_concerns_what_it_names() -> None:
    assert names(policy()) == ["x"]
    assert names(policy(on="job")) == []
    assert names(policy(on="[job, delete]"), facts(Subject.DELETE)) == ["x"]


def test_a_policy_concerns_matched_nodes() -> None:
    assert names(policy("match: {namespace: fi*, name: '/lake/*', type: table, tags: pii}")) == [
        "x"
    ]
    assert names(policy("match: {tags: [other, certified]}")) == ["x"]
    assert names(policy("match: {tags: pii=phone}")) == []
    assert names(policy("match: {namespace: fil}")) == []
    assert names(policy("match: {name: lake}")) == []
    assert names(policy("match: {type: view}")) == []


def test_an_answer_has_no_namespace_to_match() -> None:
    some = Facts("answer:a", frozenset((Subject.ANSWER,)), {"node.certified": True})
    assert names(policy(on="answer"), some) == ["x"]
    assert names(policy("match: {namespace: '*'}", on="answer"), some) == []


def test_exceptions_and_policies_end() -> None:
    text = "exceptions: [{node: 'dataset:file:/lake/*', reason: old, until: 2026-03-01}]"
    assert names(policy(text)) == ["x"]
    assert names(policy(text), instant=datetime(2026, 2, 28, tzinfo=UTC)) == []
    assert names(policy("exceptions: [{node: 'dataset:*', reason: old}]")) == []
    assert names(policy("until: 2026-03-01")) == []
    assert names(policy("until: 2026-03-02")) == ["x"]


def test_an_approval_is_for_one_policy_until_it_ends() -> None:
    text = "name: x\nrule: approval-for-blast-radius\nwith: {over: 5}"
    approval = Approval("x", "alice", "planned", datetime(2026, 3, 2, tzinfo=UTC))
    values = {**VALUES, "node.certified": False}
    subjects = frozenset((Subject.CHANGE,))
    assert names(text, Facts(URN, subjects, values, (approval,))) == []
    assert names(text, Facts(URN, subjects, values, (Approval("y", "alice"),))) == ["x"]
    assert names(
        text, Facts(URN, subjects, values, (approval,)), datetime(2026, 3, 2, tzinfo=UTC)
    ) == ["x"]


def test_an_approval_is_an_exception_unless_the_condition_reads_approvals() -> None:
    approved = Facts(URN, frozenset((Subject.DATASET,)), VALUES, (Approval("x", "alice"),))
    assert names(policy(), approved) == []
    assert names(policy().replace("name: x", "name: y"), approved) == ["y"]
    # Two people must approve; one is no exception.
    assert names(policy(condition="size(approvers) < 2"), approved) == ["x"]


def test_a_violation_has_message_evidence_and_owners() -> None:
    text = policy(
        "message: '{node.name} from {upstream.inputs} by {node.owners}, {node.ageSeconds}'",
        condition="size(upstream.inputs) > 2",
    )
    (found,) = evaluate(policies(text), facts(), NOW)
    assert found.message.startswith("/lake/orders from dataset:a:0, dataset:a:1, ")
    assert found.message.endswith("dataset:a:19, 10 more by team:sales, unknown")
    assert found.evidence == {
        "upstream.inputs": [f"dataset:a:{number}" for number in range(20)],
        "node.name": "/lake/orders",
        "node.owners": ["team:sales"],
    }
    assert found.owners == ("team:sales",)
    assert not found.unknown


def test_an_unknown_fact_is_no_silence() -> None:
    (found,) = evaluate(policies(policy(condition="node.ageSeconds > 3")), facts(), NOW)
    assert found.unknown == "The value of node.ageSeconds is unknown"


def test_control_characters_do_not_reach_messages() -> None:
    some = facts(more={"node.name": "a\x1b[31m\nb"})
    (found,) = evaluate(policies(policy("message: '{node.name}'")), some, NOW)
    assert found.message == "a [31m b"


def test_the_order_of_policies_does_not_matter() -> None:
    documents = [
        "name: a\non: dataset\ncondition: node.certified\nseverity: P3",
        "name: b\non: dataset\ncondition: node.certified\nseverity: P1",
        "name: c\non: dataset\ncondition: '!node.certified'",
    ]
    for some in permutations(documents):
        assert names("\n---\n".join(some)) == ["b", "a"]


def test_thousands_of_evaluations_a_second() -> None:
    some = policies("\n---\n".join(policy().replace("x", f"p{n}", 1) for n in range(10)))
    started = time.perf_counter()
    for _ in range(200):
        evaluate(some, facts(), NOW)
    # 2,000 evaluations; on a quiet machine they take 0.05 s.
    assert time.perf_counter() - started < 10
