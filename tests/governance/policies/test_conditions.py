"""Tests of conditions in CEL: what the compiler refuses, and what has no value."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from headwater.governance.policies.conditions import compile_condition, variables_of
from headwater.governance.policies.models import Outcome, PolicyError


def test_a_condition_is_true_or_false() -> None:
    condition = compile_condition("consumers.active > 0 && !('test' in node.tags)")
    assert condition.variables == ("consumers.active", "node.tags")
    assert condition.evaluate({"consumers.active": 1, "node.tags": []}) == Outcome(True)
    assert condition.evaluate({"consumers.active": 1, "node.tags": ["test"]}) == Outcome(False)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("node.ownr == ''", "undeclared reference to 'node.ownr'"),
        (
            "node.owners > 3",
            "found no matching overload for '_>_' applied to '(list(string), int)'",
        ),
        ("node.owners ==", "Syntax error"),
        ("size(node.owners)", "The condition has type int, but must be true or false"),
        ("node.urn.unlink()", "undeclared reference to 'unlink'"),
        ("", "Syntax error"),
        ("true || " * 1000 + "true", "longer than 4000 characters"),
        ("\x00", "Syntax error"),
        ("node.name == '\ud83d'", "surrogate"),
    ],
)
def test_the_compiler_refuses_a_condition(source: str, message: str) -> None:
    with pytest.raises(PolicyError, match=r".") as caught:
        compile_condition(source)
    assert message in caught.value.message


def test_the_message_of_the_compiler_names_line_and_column() -> None:
    with pytest.raises(PolicyError) as caught:
        compile_condition("node.certified\n  && node.sertified")
    assert caught.value.message.startswith("line 2, column 10 of the condition: ")


def test_an_unknown_value_has_no_outcome() -> None:
    condition = compile_condition("node.ageSeconds > 86400")
    assert condition.evaluate({}) == Outcome(False, "The value of node.ageSeconds is unknown")


def test_an_unknown_value_does_not_matter_where_another_decides() -> None:
    condition = compile_condition("node.ageSeconds > 86400 || node.deprecated")
    assert condition.evaluate({"node.deprecated": True}) == Outcome(True)
    assert condition.evaluate({"node.deprecated": False}).unknown


def test_an_unknown_key_of_a_map_has_no_outcome() -> None:
    condition = compile_condition("upstream.inputs.exists(i, i.ageSeconds > 10)")
    aged, ageless = {"ageSeconds": 11}, {"urn": "dataset:a:b"}
    assert condition.evaluate({"upstream.inputs": [ageless, aged]}) == Outcome(True)
    assert "ageSeconds" in condition.evaluate({"upstream.inputs": [ageless]}).unknown


def test_iterations_are_bounded() -> None:
    tags = [str(number) for number in range(200)]
    condition = compile_condition(
        "node.tags.all(a, node.tags.all(b, node.tags.all(c, a + b + c != 'x')))"
    )
    started = time.perf_counter()
    outcome = condition.evaluate({"node.tags": tags})
    # 8 million iterations would take more than a second each million.
    assert "Iteration budget exceeded" in outcome.unknown
    assert time.perf_counter() - started < 30


def test_a_value_of_a_wrong_type_has_no_outcome() -> None:
    condition = compile_condition("node.owners.size() == 0")
    assert condition.evaluate({"node.owners": 3}).unknown
    assert condition.evaluate({"node.owners": object()}).unknown


def test_times_are_compared() -> None:
    condition = compile_condition("instant - node.updated > duration('24h')")
    first, second = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, 1, tzinfo=UTC)
    assert condition.evaluate({"instant": second, "node.updated": first}).is_violated
    assert not condition.evaluate({"instant": first, "node.updated": first}).is_violated


def test_names_in_texts_are_no_variables() -> None:
    assert variables_of("node.name == 'node.urn' && change.action != \"node.tags\"") == (
        "node.name",
        "change.action",
    )
