"""Card numbers in runs of digit groups, with check digits worked out by hand."""

from __future__ import annotations

import pytest

from headwater.ingest.receive.card_numbers import without_cards


def shown(run: str) -> str:
    return without_cards(run, lambda kind, digits: f"<{kind} {digits[-4:]}>")


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        # 4+1+... doubled from the right: 8+1+2+1+2+1+2+1+2+1+2+1+2+1+2+1 = 30.
        ("4111111111111111", "<card 1111>"),
        ("4111 1111 1111 1111", "<card 1111>"),
        ("3782-822463-10005", "<card 0005>"),
        ("7 4111-1111-1111-1111 99", "7 <card 1111> 99"),
        ("4111 1111 1111 1111 5500 0000 0000 0004", "<card 1111> <card 0004>"),
    ],
)
def test_card_numbers_are_replaced(run: str, expected: str) -> None:
    assert shown(run) == expected


@pytest.mark.parametrize(
    "run",
    [
        # A wrong check digit, a first digit of no card, too short, too long, groups of two digits.
        "4111111111111112",
        "9111111111111111",
        "411111111111",
        "41111111111111111111",
        "41 11 11 11 11 11 11 11",
        "2026 11 24",
    ],
)
def test_other_digits_stay(run: str) -> None:
    assert shown(run) == run
