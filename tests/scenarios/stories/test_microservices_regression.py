"""The data of the story of a service with a wrong formula, worked out by hand."""

from __future__ import annotations

from headwater.scenarios.stories import microservices_regression as story

CLICKS = [
    {"click_id": 1, "partner": "P1", "cents": 1000},
    {"click_id": 2, "partner": "P0", "cents": 0},
    {"click_id": 3, "partner": "P1", "cents": 2000},
]


def test_invalid_clicks_are_left_out_and_the_discount_is_given_once() -> None:
    accepted = story.accept(CLICKS)
    assert [row["click_id"] for row in accepted] == [1, 3]
    # 30.00 less 30 %.
    assert story.usage(story.enrich(accepted)) == [{"partner": "P1", "amount": 21.0}]


def test_the_new_formula_gives_it_twice() -> None:
    found = story.usage(story.enrich_twice(story.accept(CLICKS)))
    assert found == [{"partner": "P1", "amount": 14.7}]
    assert story.enricher().version != story.enricher(broken=True).version
