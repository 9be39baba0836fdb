"""Instants of options: ages, words, dates and ISO 8601."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from headwater.client.times import instant_of
from headwater.errors import QueryError

NOW = datetime(2026, 3, 1, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2h", datetime(2026, 2, 28, 23, 30, tzinfo=UTC)),
        ("90 m", datetime(2026, 3, 1, 0, 0, tzinfo=UTC)),
        ("2h ago", datetime(2026, 2, 28, 23, 30, tzinfo=UTC)),
        ("1w", datetime(2026, 2, 22, 1, 30, tzinfo=UTC)),
        ("now", NOW),
        ("today", datetime(2026, 3, 1, tzinfo=UTC)),
        ("Yesterday", datetime(2026, 2, 28, tzinfo=UTC)),
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31T12:00:00", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("2026-01-31T12:00:00+02:00", datetime(2026, 1, 31, 10, tzinfo=UTC)),
    ],
)
def test_forms(text: str, instant: datetime) -> None:
    assert instant_of("--since", text, now=NOW) == instant


def test_days_begin_in_utc_wherever_the_clock_is() -> None:
    there = NOW.astimezone(timezone(timedelta(hours=-8)))
    assert instant_of("--since", "today", now=there) == datetime(2026, 3, 1, tzinfo=UTC)


def test_nothing_given() -> None:
    assert instant_of("--since", None) is None
    assert instant_of("--since", "") is None


@pytest.mark.parametrize("text", ["soon", "2 fortnights", "-2h", "2026-13-01", "0h", "1e9d"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="--since") as error:
        instant_of("--since", text, now=NOW)
    assert "yesterday" in error.value.hint
