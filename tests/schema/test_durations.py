"""Durations as text."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headwater.errors import QueryError
from headwater.schema.durations import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), (" 1.5 M ", 90), ("2h", 7200), ("1d", 86_400), ("1w", 604_800)],
)
def test_a_duration_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert parse_duration(text, name="within") == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "5", "5y", "-1h", "0s", "36501d", "1e3s", "9" * 400 + "w"])
def test_another_text_is_refused_with_the_name_of_its_argument(text: str) -> None:
    with pytest.raises(QueryError, match=r"^within "):
        parse_duration(text, name="within")
