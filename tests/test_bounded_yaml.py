"""Tests of the limits of YAML: each refusal has a place, and comes before much is read."""

from __future__ import annotations

import json

import pytest
import yaml

from headwater import bounded_yaml
from headwater.bounded_yaml import DEPTH_MAX, BoundedAliasLoader, BoundedLoader

BOMB = "a: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: [*b, *b, *b, *b]\n"


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        (BOMB, "aliases are not supported; write the value again", 2),
        ("a: &a {b: 1}\nc:\n  <<: *a", "aliases are not supported; write the value again", 3),
        ("a: 1\nb: {c: 1,\n  c: 2}", "the key 'c' stands twice", 3),
        ("[" * (DEPTH_MAX + 1), f"is nested more than {DEPTH_MAX} levels deep", 1),
        ("[" * 400_000, f"is nested more than {DEPTH_MAX} levels deep", 1),
        ('a: "\\ud800"', "has half of a surrogate pair, which is no text", 1),
        ('"\\udfff": 1', "has half of a surrogate pair, which is no text", 1),
    ],
)
def test_refusals(text: str, problem: str, line: int) -> None:
    with pytest.raises(yaml.MarkedYAMLError) as caught:
        yaml.load(text, BoundedLoader)
    assert (caught.value.problem or "").startswith(problem)
    assert caught.value.problem_mark is not None
    assert abs(caught.value.problem_mark.line + 1 - line) <= 1


def test_values_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_yaml, "VALUES_MAX", 1_000)
    with pytest.raises(yaml.MarkedYAMLError, match="has more than 1000 values; write several"):
        yaml.load("- 1\n" * 1_000, BoundedLoader)
    assert len(yaml.load("- 1\n" * 999, BoundedLoader)) == 999


def test_what_is_within_the_limits_is_read() -> None:
    assert yaml.load("a: [1, {b: 日本}]\nb: \U0001f600", BoundedLoader) == {
        "a": [1, {"b": "日本"}],
        "b": "\U0001f600",
    }
    deep = "[" * DEPTH_MAX + "]" * DEPTH_MAX
    assert yaml.load(deep, BoundedLoader) is not None


def test_a_character_that_json_escapes_as_a_pair_is_read() -> None:
    text = json.dumps({"\U0001f986": "duck \U0001f986 é"})
    assert "\\ud83e\\udd86" in text
    assert yaml.load(text, BoundedLoader) == {"\U0001f986": "duck \U0001f986 é"}


def merge_bomb(levels: int) -> str:
    """Return a text whose last value stands for 9 ** `levels` merged mappings."""
    lines = ["a0: &a0 {k: v, l: w}"]
    for level in range(1, levels + 1):
        merged = ",".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} {{<<: [{merged}]}}")
    return "\n".join(lines) + "\n"


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", [merge_bomb(12), merge_bomb(12).replace("<<", "many")])
def test_aliases_of_other_programs_stand_for_few_values(text: str) -> None:
    with pytest.raises(yaml.MarkedYAMLError, match="aliases stand for more than 100000 values"):
        yaml.load(text, BoundedAliasLoader)


def test_an_alias_within_its_own_value_is_refused() -> None:
    with pytest.raises(yaml.MarkedYAMLError, match="the alias 'a' is within its own value"):
        yaml.load("a: &a [*a]", BoundedAliasLoader)
    with pytest.raises(yaml.MarkedYAMLError, match="undefined alias"):
        yaml.load("a: *b", BoundedAliasLoader)


def test_files_of_other_programs_are_read_as_by_the_safe_loader() -> None:
    text = "a: &a {b: 1, c: [2]}\nd: {<<: *a, b: 3}\ne: [*a, *a]\nf: 1\nf: 2\n" + merge_bomb(3)
    assert yaml.load(text, BoundedAliasLoader) == yaml.safe_load(text)


def test_many_values_of_other_programs_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_yaml, "VALUES_MAX", 1_000)
    assert len(yaml.load("- 1\n" * 2_000, BoundedAliasLoader)) == 2_000
