"""Tests of the examples in files of policies."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headwater.governance.policies.cases import case_values, run_cases
from headwater.governance.policies.files import PolicyFile, parse_policies
from headwater.governance.policies.models import PolicyError

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TEXT = """\
name: old
on: dataset
condition: instant - node.updated > duration('24h')
match: {namespace: file}
message: "{node.name} is of {node.updated}"
tests:
  - name: old data
    given: {node: {namespace: file, name: /a, updated: 2026-02-27}}
    expect: violated
  - name: fresh data, by another clock
    given: {node.namespace: file, node.name: /a, node.updated: 2026-02-27}
    instant: 2026-02-27T12:00:00
    expect: fine
  - name: another namespace
    given: {node.namespace: s3, node.updated: 2026-02-27}
    expect: violated
"""


def test_examples_are_run() -> None:
    results = run_cases(parse_policies([PolicyFile("a.yaml", TEXT)]), NOW)
    assert [(one.case.name, one.outcome, one.passes) for one in results] == [
        ("old data", "violated", True),
        ("fresh data, by another clock", "fine", True),
        ("another namespace", "fine", False),
    ]
    assert results[0].message == "/a is of 2026-02-27T00:00:00+00:00"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"node.nam": "x"}, "node.nam is no variable; write node.name"),
        ({"node": {"owners": "x"}}, "node.owners must be a list(string)"),
        ({"node": {"owners": [1]}}, "node.owners must be a list(string)"),
        ({"consumers.active": True}, "consumers.active must be a int"),
        ({"node.updated": "soon"}, "node.updated is no time; write ISO 8601"),
        ({"node": 3}, "node is no variable"),
    ],
)
def test_wrong_variables_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        case_values(given)
    assert message in caught.value.message
