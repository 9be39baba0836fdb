"""Shares estimated from samples, worked out by hand."""

from __future__ import annotations

import pytest

from headwater.steps import estimate_share, miss_probability


def test_an_estimate_has_bounds_that_hold_the_share() -> None:
    # Wilson's interval of 10 of 100 is 5.52 % to 17.44 % (z = 1.96):
    # (0.1 + 3.8415 / 200) / 1.038415 = 0.1148; sqrt(0.0009 + 0.00009604) * 1.96 / 1.038415 = 0.0596
    found = estimate_share(10, 100)
    assert found.share == 0.1
    assert (round(found.low, 4), round(found.high, 4)) == (0.0552, 0.1744)


def test_bounds_stay_between_nothing_and_all() -> None:
    # Of 0 in n the upper bound is z**2 / (n + z**2) = 3.8415 / 103.8415.
    none, every = estimate_share(0, 100), estimate_share(100, 100)
    assert (none.share, none.low, round(none.high, 4)) == (0.0, 0.0, 0.037)
    assert (every.share, every.high, round(every.low, 4)) == (1.0, 1.0, 0.963)


@pytest.mark.parametrize(("found", "sampled"), [(0, 0), (1, 0), (-1, 5), (6, 5)])
def test_counts_that_do_not_fit_are_refused(found: int, sampled: int) -> None:
    with pytest.raises(ValueError, match="found"):
        estimate_share(found, sampled)


def test_the_probability_to_miss_a_fault() -> None:
    assert miss_probability(0, 0.01) == 1.0
    assert miss_probability(1, 0.25) == 0.75
    assert miss_probability(2, 0.25) == 0.5625
    assert round(miss_probability(100, 0.01), 4) == 0.366
    assert miss_probability(3, 1.0) == 0.0
    with pytest.raises(ValueError, match="rate"):
        miss_probability(1, 1.5)
    with pytest.raises(ValueError, match="events"):
        miss_probability(-1, 0.5)
