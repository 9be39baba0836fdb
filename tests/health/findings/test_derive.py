"""Episodes of nodes: when the clock alone changes them, and what a broken detector leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from headwater.health.findings.derive import HORIZON, Derived, next_change
from headwater.health.findings.models import Episode
from tests.health.findings.builders import at, episode

Detect = Callable[[datetime], list[Episode]]

LATE = episode("missing-run", "job:s:load", 60, key="due")


def late_after_an_hour(instant: datetime) -> list[Episode]:
    return [LATE] if instant >= at(60) else []


def broken(instant: datetime) -> list[Episode]:
    raise ValueError(instant)


def due_after(detect: Detect, instant: datetime) -> datetime | None:
    return next_change(detect, instant, detect(instant))


def test_the_next_change_is_found_to_half_a_minute() -> None:
    due = due_after(late_after_an_hour, at(0))
    assert due is not None
    assert at(60) <= due <= at(60) + timedelta(seconds=30)
    assert late_after_an_hour(due) == [LATE]


def test_without_a_change_within_the_horizon_nothing_is_due() -> None:
    assert due_after(late_after_an_hour, at(60)) is None
    assert due_after(late_after_an_hour, at(59) - HORIZON) is None
    assert due_after(lambda _: [], at(0)) is None


def test_evidence_that_grows_with_the_clock_is_no_change() -> None:
    assert due_after(lambda now: [episode("duration", "job:s:a", late=str(now))], at(0)) is None


def test_a_broken_detector_is_logged_and_its_node_left_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    derived = Derived()
    derived.add("job:s:bad", broken, at(0))
    derived.add("job:s:load", late_after_an_hour, at(90))
    assert derived.failed == {"job:s:bad"}
    assert derived.episodes == {LATE.id: LATE}
    assert "detector_failed subject=job:s:bad" in caplog.text


def test_rules_without_clock_are_evaluated_once() -> None:
    instants: list[datetime] = []

    def counted(instant: datetime) -> list[Episode]:
        instants.append(instant)
        return late_after_an_hour(instant)

    derived = Derived()
    derived.add("job:s:load", counted, at(0), late_after_an_hour)
    assert instants == [at(0)]
    assert derived.due["job:s:load"] >= at(60)
    derived.add("job:s:other", counted, at(60))
    assert instants == [at(0), at(60), at(60) + HORIZON]
