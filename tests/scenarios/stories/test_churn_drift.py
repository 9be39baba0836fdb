"""The numbers of the case, counted on the rows."""

from __future__ import annotations

from headwater.scenarios.stories import churn_drift as story


def mean(rows: list[dict[str, int]]) -> float:
    return sum(row["tenure"] for row in rows) / len(rows)


def test_the_mean_of_2023_is_24_3_months_and_no_tenure_is_0() -> None:
    rows = story.extract(story.customers_2023(0))
    assert (len(rows), mean(rows)) == (1000, 24.3)
    assert all(row["tenure"] for row in rows)


def test_the_mean_of_2024_is_18_7_months_with_34_percent_zeros() -> None:
    rows = story.extract(story.customers_2024())
    assert mean(rows) == 18.7
    assert sum(row["tenure"] == 0 for row in rows) == 340


def test_f1_falls_by_twelve_percent() -> None:
    # 445 of 500 who are predicted to leave do, and 500 leave: 2 * 445 / 1000.
    assert story.f1(story.extract(story.customers_2023(0))) == 0.89
    # 137 more are predicted to leave, and none of them does: 2 * 445 / 1137.
    fallen = story.f1(story.extract(story.customers_2024()))
    assert round(fallen, 3) == 0.783
    assert round(1 - fallen / 0.89, 2) == 0.12


def test_the_repair_restores_the_tenures() -> None:
    rows = story.extract_with_signup(story.customers_2024())
    assert (mean(rows), story.f1(rows)) == (24.3, 0.89)


def test_the_nights_differ_a_little() -> None:
    sums = {sum(row["customer_tenure"] for row in story.customers_2023(n)) for n in range(10)}
    assert sums == {24300, 24301, 24302, 24303, 24304}
