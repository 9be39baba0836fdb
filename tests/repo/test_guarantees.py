"""Each promise of docs/guarantees.md names tests that exist."""

from __future__ import annotations

import re

from tests.repo.repository import ROOT, text

PAGE = "docs/guarantees.md"
NUMBERS = range(1, 16)


def test_each_named_test_exists() -> None:
    named = set(re.findall(r"`(tests/[\w/.]+)`", text(PAGE)))
    assert len(named) > 30
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def test_each_promise_names_a_test() -> None:
    promises = [line for line in text(PAGE).splitlines() if re.match(r"\| (P\d+|) ?\|", line)]
    assert [line for line in promises if "`tests/" not in line] == []
    assert re.findall(r"^\| (P\d+) \|", text(PAGE), re.MULTILINE) == [f"P{n}" for n in NUMBERS]
