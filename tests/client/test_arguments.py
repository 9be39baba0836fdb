"""Arguments of questions as people give them, and as the API takes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace

import pytest

from headwater.client.arguments import Direction, Status, Tier, choice, iso, text_of_node, times
from headwater.errors import QueryError


def test_a_node_is_a_text_or_what_another_answer_returned() -> None:
    assert text_of_node("orders") == "orders"
    assert text_of_node(SimpleNamespace(urn="dataset:db:orders")) == "dataset:db:orders"


@pytest.mark.parametrize(
    ("value", "choices", "expected"),
    [
        (None, Direction, None),
        ("upstream", Direction, "UPSTREAM"),
        ("UpStream", Direction, "UPSTREAM"),
        ("p1", Tier, "P1"),
        ("abandoned", Status, "ABANDONED"),
    ],
)
def test_a_choice_in_any_case(value: str | None, choices: object, expected: str | None) -> None:
    assert choice("x", value, choices) == expected


def test_another_word_names_the_choices() -> None:
    with pytest.raises(QueryError, match="direction 'sideways' is none of upstream, downstream"):
        choice("direction", "sideways", Direction)


def test_instants_are_in_utc() -> None:
    noon = datetime(2026, 3, 2, 12, tzinfo=UTC)
    assert iso("since", noon) == "2026-03-02T12:00:00+00:00"
    there = noon.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert iso("since", there) == iso("since", noon)
    assert iso("since", "2026-03-02T12:00:00Z") == iso("since", noon)
    assert iso("since", None) is None


def test_an_age_counts_from_now() -> None:
    before = datetime.now(UTC)
    found = iso("since", timedelta(hours=2))
    assert found is not None
    assert before <= datetime.fromisoformat(found) + timedelta(hours=2) <= datetime.now(UTC)


def test_two_instants() -> None:
    assert times("between", None) is None
    assert times("between", ("2026-03-02T12:00:00Z", datetime(2026, 3, 3, tzinfo=UTC))) == {
        "from": "2026-03-02T12:00:00+00:00",
        "to": "2026-03-03T00:00:00+00:00",
    }


def test_a_malformed_instant_names_its_argument() -> None:
    with pytest.raises(QueryError, match="since"):
        iso("since", "the day after")
