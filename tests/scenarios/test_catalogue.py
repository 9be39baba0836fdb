"""The list of scenarios: names, and truths that fit together."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headwater.errors import NotFoundError
from headwater.health.findings.datasets.baseline import Point, is_judged
from headwater.scenarios import catalogue

# The rules that compare a number with those of earlier nights.
MEASURES = {"row-count", "null-share", "distinct-count", "mean", "quantile"}
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "scenarios.md"


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_each_story_has_its_name_and_a_truth_that_fits_together(name: str) -> None:
    story = catalogue.load(name)
    assert story.name == name
    truth = story.truth
    assert truth.root in truth.findings
    assert truth.causes
    assert truth.answers


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_a_number_of_tonight_has_a_baseline_on_each_day_of_the_week(name: str) -> None:
    story = catalogue.load(name)
    if not MEASURES & {rule for rule, _ in story.truth.findings}:
        return
    nights = sys.modules[story.prepare.__module__].NIGHTS
    for day in range(1, 8):
        tonight = datetime(2026, 6, day, tzinfo=UTC)
        earlier = [Point(tonight - timedelta(days=ago), 1.0) for ago in range(nights, 0, -1)]
        assert is_judged(Point(tonight, 2.0), earlier), f"{tonight:%A}"


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(NotFoundError, match="no scenario 'nothing'") as caught:
        catalogue.load("nothing")
    assert "churn-drift" in caught.value.hint


def test_the_page_of_scenarios_lists_each_one_and_no_other() -> None:
    rows = re.findall(
        r"^\| \[([a-z-]+)\]\(scenarios/", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(rows) == sorted(catalogue.NAMES)


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_each_scenario_has_a_page_with_its_runbooks(name: str) -> None:
    text = (PAGE.parent / "scenarios" / f"{name}.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)", text, re.MULTILINE)
    assert headings == ["The fault", "The findings", "The repair", "The output"]
    rules = {rule for rule, _ in catalogue.load(name).truth.findings}
    assert rules <= set(re.findall(r"\.\./runbooks/([a-z-]+)\.md", text))
    assert f"$ headwater scenario {name}\n" in text
