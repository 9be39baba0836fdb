"""Outliers, worked out by hand and by their laws."""

from __future__ import annotations

import math
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.lineage.questions.outliers import EARLIER_MAX, find_outlier

NUMBERS = st.lists(st.integers(0, 10**9).map(float), min_size=3, max_size=EARLIER_MAX)


def test_by_hand() -> None:
    """The median is 102, the deviations 2, 0, 2, so MAD is 2: 112 scores 0.6745 * 10 / 2 = 3.37,
    113 scores 3.71.
    """
    assert find_outlier(112, [100, 102, 104]) is None
    found = find_outlier(113, [100, 102, 104])
    assert found is not None
    assert (found.value, found.median) == (113, 102)
    assert found.score == pytest.approx(3.71, abs=0.005)
    assert find_outlier(91, [100, 102, 104]) is not None


def test_too_few_values_have_no_outlier() -> None:
    assert find_outlier(0, [100, 100]) is None
    assert find_outlier(0, []) is None


def test_where_most_are_the_same() -> None:
    """MAD is 0; the mean deviation is 10, times 1.2533 is 12.53: 43 away is less than 3.5 of them,
    44 is more.
    """
    earlier = [100.0, 100, 100, 100, 150]
    assert find_outlier(143, earlier) is None
    assert find_outlier(144, earlier) is not None


def test_where_all_are_the_same_a_tenth_counts() -> None:
    assert find_outlier(100, [100] * 3) is None
    assert find_outlier(109, [100] * 3) is None
    found = find_outlier(110, [100] * 3)
    assert found is not None
    assert found.score == math.inf
    assert find_outlier(1, [0, 0, 0]) is not None


def test_only_the_newest_ten_count() -> None:
    assert find_outlier(100, [100.0] * 10 + [1.0] * 90) is None
    assert find_outlier(1, [100.0] * 10 + [1.0] * 90) is not None


def test_a_greater_share_lets_more_pass() -> None:
    assert find_outlier(199, [100] * 3, share=1.0) is None
    assert find_outlier(200, [100] * 3, share=1.0) is not None


@given(NUMBERS, st.integers(0, 10**9))
def test_the_order_of_the_earlier_ones_is_nothing(earlier: list[float], value: int) -> None:
    assert find_outlier(value, earlier) == find_outlier(value, sorted(earlier))


@given(NUMBERS, st.integers(0, 10**9), st.integers(1, 10**6))
def test_further_out_is_out_too(earlier: list[float], value: int, more: int) -> None:
    found = find_outlier(value, earlier)
    if found is not None:
        further = value + more if value > found.median else value - more
        assert find_outlier(further, earlier) is not None


@given(NUMBERS)
def test_the_median_is_never_out(earlier: list[float]) -> None:
    assert find_outlier(median(earlier), earlier) is None
