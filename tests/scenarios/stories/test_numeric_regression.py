"""The data of the story of a wrong margin, worked out by hand."""

from __future__ import annotations

from headwater.scenarios.stories import numeric_regression as story


def test_a_price_is_converted_in_full_precision() -> None:
    prices = [{"sku": "A001", "price": 20.0}]
    assert story.convert(prices) == [{"sku": "A001", "price": 25.674}]


def test_a_margin_is_the_mean_of_its_group_over_the_cost() -> None:
    prices = [
        {"sku": "A1", "price": 16.0},
        {"sku": "B1", "price": 25.0},
        {"sku": "A2", "price": 18.0},
    ]
    assert story.margins(prices) == [
        {"group": "A", "margin": 2.0},
        {"group": "B", "margin": 10.0},
    ]


def test_the_broken_code_has_a_new_version() -> None:
    assert (story.conversion().version, story.conversion(broken=True).version) == ("1.9", "2.0")
