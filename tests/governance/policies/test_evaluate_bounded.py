"""Conditions of callers: the same outcomes as in this process, within bounds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.errors import QueryError
from headwater.governance.policies.evaluate import outcomes_here
from headwater.governance.policies.evaluate_bounded import outcomes_in_process
from headwater.governance.policies.files import PolicyFile, parse_policies
from headwater.governance.policies.models import Outcome, Policy

VALUES: dict[str, Any] = {
    "node.name": "orders",
    "node.tags": ["pii", "tier=1"],
    "node.certified": False,
    "instant": datetime(2026, 11, 28, tzinfo=UTC),
    "node.created": datetime(2026, 11, 1, tzinfo=UTC),
}


def policy(condition: str) -> Policy:
    text = f"name: p\non: dataset\ncondition: |\n  {condition}\n"
    return parse_policies([PolicyFile("p.yaml", text)]).policies[0]


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ("node.tags.exists(t, t == 'pii')", Outcome(True)),
        ("node.certified", Outcome(False)),
        ("instant - node.created > duration('240h')", Outcome(True)),
        ("node.ageSeconds > 3", Outcome(False, "The value of node.ageSeconds is unknown")),
    ],
)
def test_an_outcome_is_the_same_as_in_this_process(condition: str, outcome: Outcome) -> None:
    pairs = [(policy(condition), VALUES)] * 3
    assert outcomes_in_process(pairs) == outcomes_here(pairs) == [outcome] * 3


def test_outcomes_are_in_the_order_of_their_policies() -> None:
    pairs = [(policy(f"node.name == 'n{number}'"), {"node.name": "n7"}) for number in range(250)]
    assert [at for at, one in enumerate(outcomes_in_process(pairs)) if one.is_violated] == [7]


def test_a_text_that_grows_tenfold_again_and_again_is_an_error() -> None:
    grow = ".map(x, x + x + x + x + x + x + x + x + x + x)" * 12
    with pytest.raises(QueryError, match="evaluation of the policies takes more than") as refusal:
        outcomes_in_process([(policy(f"['aaaaaaaaaa']{grow}[0].size() < 1"), VALUES)])
    assert "Simplify their conditions" in refusal.value.hint
    assert outcomes_in_process([(policy("node.certified"), VALUES)]) == [Outcome(False)]
