"""Bad days in a row as episodes, and the laws that all of them keep."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

import pytest

from headwater.health.findings.producers.streaks import BEFORE, DayState, beginning, find_streaks
from tests.health.findings.producers.daily_counts import FIRST, URN, Row, day, rows

RULE = "slow-hook"


def states(text: str) -> list[DayState]:
    """Return a day for each letter: x is bad, - is good, a space has too little to tell."""
    return [DayState(day(n), one == "x") for n, one in enumerate(text) if one != " "]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("---", []),
        ("x", [("2026-03-02", 0, None)]),
        ("-xx-", [("2026-03-03", 1, 3)]),
        ("x-x", [("2026-03-02", 0, 1), ("2026-03-04", 2, None)]),
        # A day with too little to tell neither ends an episode nor begins one.
        ("x x-", [("2026-03-02", 0, 3)]),
        (" x  -", [("2026-03-03", 1, 4)]),
    ],
)
def test_streaks(text: str, expected: list[Row]) -> None:
    assert rows(find_streaks(RULE, URN, states(text))) == expected


def test_a_streak_that_began_before_the_known_days_has_a_key_of_its_own() -> None:
    found = find_streaks(RULE, URN, states("x-x"), cut_at=FIRST)
    assert [one.key for one in found] == [BEFORE, "2026-03-04"]
    # The first known day was good: nothing began before.
    [later] = find_streaks(RULE, URN, states("-x"), cut_at=FIRST)
    assert later.key == "2026-03-03"


def test_the_newest_bad_day_is_the_evidence() -> None:
    bad = [DayState(day(n), is_bad=True, evidence={"late": n}) for n in range(3)]
    [found] = find_streaks(RULE, URN, [*bad, DayState(day(4), is_bad=False)])
    assert found.evidence == {"day": "2026-03-04", "days": 3, "late": 2}
    assert found.last_seen == datetime(2026, 3, 4, tzinfo=UTC)
    assert found.resolved_by == "the events of 2026-03-06"


def test_each_bad_day_is_in_one_episode_and_only_the_last_one_is_open() -> None:
    for letters in itertools.product("x- ", repeat=5):
        text = "".join(letters)
        found = find_streaks(RULE, URN, states(text))
        assert sum(one.evidence["days"] for one in found) == text.count("x")
        is_bad_now = text.replace(" ", "").endswith("x")
        is_open = [one.resolved_at is None for one in found]
        assert is_open == [False] * (len(found) - is_bad_now) + [True] * is_bad_now
        assert len({one.id for one in found}) == len(found)


def test_later_days_do_not_change_the_key() -> None:
    [before] = find_streaks(RULE, URN, states("-x"))
    [after] = find_streaks(RULE, URN, states("-xxx-"))
    assert before.id == after.id == "finding:slow-hook:producer:p@2026-03-03"


def test_days_begin_at_midnight_in_utc() -> None:
    assert beginning(FIRST) == datetime(2026, 3, 2, tzinfo=UTC)
