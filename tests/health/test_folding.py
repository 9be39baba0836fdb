"""For how long events have waited without a commit."""

from __future__ import annotations

import pytest

from headwater.health.folding import seconds_without_progress


@pytest.mark.parametrize(
    ("oldest_waiting", "committed_at", "started_at", "expected"),
    [
        (None, None, 0.0, 0.0),
        (None, 10.0, 0.0, 0.0),
        (40.0, None, 0.0, 60.0),
        (40.0, 70.0, 0.0, 30.0),
        (80.0, 70.0, 0.0, 20.0),
        (40.0, 70.0, 95.0, 5.0),
        (101.0, None, 0.0, 0.0),
    ],
    ids=[
        "nothing waits",
        "all is folded",
        "nothing was ever folded",
        "a commit since",
        "the event came after the commit",
        "this process has just started",
        "an event of the next moment",
    ],
)
def test_the_time_since_something_could_have_been_folded(
    oldest_waiting: float | None,
    committed_at: float | None,
    started_at: float,
    expected: float,
) -> None:
    found = seconds_without_progress(
        oldest_waiting=oldest_waiting, committed_at=committed_at, started_at=started_at, now=100.0
    )
    assert found == expected
