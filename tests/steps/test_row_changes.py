"""Rows by key: which ones a step dropped and added, and samples only by consent."""

from __future__ import annotations

import pandas
import pytest

from headwater.steps import rows
from headwater.steps.row_changes import keys_of, row_changes


def test_keys_that_were_dropped_and_added() -> None:
    tracking = rows("id")
    before = keys_of(pandas.DataFrame({"id": [1, 2, 3, 3]}), tracking)
    after = keys_of(pandas.DataFrame({"id": [2, 3, 9]}), tracking)
    assert row_changes(before, after, tracking) == {
        "key": "id",
        "kept": 2,
        "dropped": 1,
        "added": 1,
    }


def test_a_sample_is_bounded_and_hashed() -> None:
    hashed, plain = rows("id", sample=2), rows("id", sample=2, hashed=False)
    found = row_changes(set(range(10)), set(), hashed)
    assert found is not None
    assert len(found["droppedSample"]) == 2
    assert all(len(one) == 16 for one in found["droppedSample"])
    shown = row_changes(set(range(10)), set(), plain)
    assert shown is not None
    assert set(shown["droppedSample"]) <= {str(number) for number in range(10)}
    assert shown["addedSample"] == []


def test_a_frame_without_the_key_has_no_changes() -> None:
    assert keys_of(pandas.DataFrame({"other": [1]}), rows("id")) is None
    assert row_changes(None, {1}, rows("id")) is None
    with pytest.raises(ValueError, match="sample"):
        rows("id", sample=21)
