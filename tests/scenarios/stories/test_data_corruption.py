"""The data of the story of corrupted totals, worked out by hand."""

from __future__ import annotations

from headwater.scenarios.stories import data_corruption as story


def test_the_wrong_code_changes_the_amounts_in_dollars() -> None:
    entries = story.raw_ledger(0)
    right, wrong = story.load(entries), story.load_cents(entries)
    changed = [one for one, other in zip(right, wrong, strict=True) if one != other]
    assert len(changed) == 150
    assert {row["currency"] for row in changed} == {"USD"}
    assert right[0]["amount"] == 100.0
    assert wrong[0]["amount"] == 1.0


def test_totals_are_sums_of_the_ledger() -> None:
    ledger = [
        {"account": "A01", "currency": "EUR", "amount": 1.5},
        {"account": "A02", "currency": "EUR", "amount": 2.0},
        {"account": "A01", "currency": "USD", "amount": 4.0},
    ]
    assert story.positions(ledger) == [
        {"account": "A01", "balance": 5.5},
        {"account": "A02", "balance": 2.0},
    ]
    assert story.risk(ledger) == [
        {"currency": "EUR", "exposure": 3.5},
        {"currency": "USD", "exposure": 4.0},
    ]


def test_both_codes_have_one_version() -> None:
    assert story.loading().version == story.loading(broken=True).version == "2.3"
