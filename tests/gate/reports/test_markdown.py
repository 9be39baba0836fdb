"""The comment on a pull request."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from headwater.gate.reports.markdown import BAR, CHARACTERS_MAX, MARK, code_span, render_markdown
from headwater.gate.verdict import (
    Report,
)
from tests.gate.report_builders import BLOCKED, FAILED, HARMED, PASSED, affected, judged


def spans(text: str) -> str:
    """Return Markdown without its code spans, as CommonMark reads them."""
    return re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", text)


def test_the_comment_has_all_parts() -> None:
    text = render_markdown(replace(FAILED, problems=BLOCKED.problems, new_tables=("fresh",)))
    assert text.startswith(f"{MARK}\n### ❌ Headwater gate: failed\n")
    assert (
        "| `models/orders.sql:7` | `orders` | `column amount is dropped` "
        "| `board` |  | `board`, `other` |" in text
    )
    assert "| **breaking** | `board` (job) | `amount` | `its SQL line 3: amount` | `team` |" in text
    assert "| `models/x.sql:3` | `it cannot be read` |" in text
    assert "`fresh`" in text
    assert "No table in the lineage changes against `main`." in render_markdown(Report("main"))


def test_names_that_mean_harm_stay_in_code_spans() -> None:
    text = render_markdown(HARMED)
    outside = spans(text)
    for harm in ("<img", "evil", "@everyone", "error", "add-mask"):
        assert harm not in outside.replace("cannot", "")
    assert text.count("\n### ") == 1
    rows = [row for row in text.splitlines() if row.startswith("|")]
    assert {row.count("|") for row in rows} == {6, 7, 3}


@pytest.mark.parametrize("text", ["`", "``", "a`", "`a", " ", "", "a|b", "\\|"])
def test_a_code_span_holds_any_text(text: str) -> None:
    shown = code_span(text)
    ticks = re.match("`+", shown)
    assert ticks is not None
    inner = shown[len(ticks[0]) : -len(ticks[0])]
    assert ticks[0] not in re.findall("`+", inner)
    assert "|" not in inner
    assert inner.strip(" ").replace(BAR, "|") == text.strip(" ")


def test_a_comment_is_never_longer_than_github_takes() -> None:
    names = [f"{'x' * 290}{number}" for number in range(20)]
    row = judged(*map(affected, names), name="y" * 300)
    wide = [row] * 60
    text = render_markdown(replace(PASSED, assessed=tuple(wide)))
    assert len(text) <= CHARACTERS_MAX
    assert "left out" in text
