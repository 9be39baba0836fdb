"""Episodes of nodes: when the clock alone changes them, and what a broken detector leaves alone."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from headwater.health.findings.derive import HORIZON, Derived, next_change
from headwater.health.findings.models import Episode
from tests.health.findings.builders import at, episode

LATE = episode("missing-run", "job:s:load", 60, key="due")


def late_after_an_hour(instant: datetime) -> list[Episode]:
    return [LATE] if instant >= at(60) else []


def broken(instant: datetime) -> list[Episode]:
    raise ValueError(instant)


def test_the_next_change_is_found_to_half_a_minute() -> None:
    due = next_change(late_after_an_hour, at(0))
    assert due is not None
    assert at(60) <= due <= at(60) + timedelta(seconds=30)
    assert late_after_an_hour(due) == [LATE]


def test_without_a_change_within_the_horizon_nothing_is_due() -> None:
    assert next_change(late_after_an_hour, at(60)) is None
    assert next_change(late_after_an_hour, at(59) - HORIZON) is None
    assert next_change(lambda _: [], at(0)) is None


def test_evidence_that_grows_with_the_clock_is_no_change() -> None:
    assert next_change(lambda now: [episode("duration", "job:s:a", late=str(now))], at(0)) is None


def test_a_broken_detector_is_logged_and_its_node_left_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    derived = Derived()
    derived.add("job:s:bad", broken, at(0))
    derived.add("job:s:load", late_after_an_hour, at(90))
    assert derived.failed == {"job:s:bad"}
    assert derived.episodes == {LATE.id: LATE}
    assert "detector_failed subject=job:s:bad" in caplog.text
