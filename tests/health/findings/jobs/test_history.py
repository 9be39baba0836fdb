"""What the facts of a run and of a job say of themselves."""

from __future__ import annotations

import pytest

from tests.health.findings.jobs.builders import daily, job, moment, run


@pytest.mark.parametrize(
    ("status", "is_complete", "seconds"),
    [("COMPLETE", True, 300.0), ("FAIL", False, 300.0), ("RUNNING", False, None)],
)
def test_a_run_has_a_duration_once_it_ended(
    status: str, is_complete: bool, seconds: float | None
) -> None:
    one = run("a", 10, status, minutes=5)
    assert (one.is_complete, one.seconds) == (is_complete, seconds)


def test_a_run_that_ended_at_its_start_took_no_time() -> None:
    assert run("a", 10, minutes=0).seconds == 0.0


def test_a_history_with_older_runs_begins_with_the_oldest_that_was_read() -> None:
    runs = daily(3, first=7)
    assert job(runs, is_truncated=True).since == moment(7 * 24 * 60)
    assert job(runs).since is None
    assert job([], is_truncated=True).since is None
