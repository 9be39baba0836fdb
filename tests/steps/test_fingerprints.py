"""Fingerprints: equal for equal rows in any order, different for other rows, names or types."""

from __future__ import annotations

from typing import Any

import numpy
import pandas
import pytest

from headwater.steps import fingerprint
from headwater.steps.fingerprints import is_frame


def frame(**columns: Any) -> pandas.DataFrame:
    return pandas.DataFrame(columns)


def test_what_a_frame_of_pandas_shows() -> None:
    taken = fingerprint(frame(id=[1, 2, 3], mail=["a", None, "c"])).to_json()
    assert taken["rowCount"] == 3
    assert taken["nullCounts"] == {"mail": 1}
    assert [one["name"] for one in taken["columns"]] == ["id", "mail"]
    assert taken["columns"][0]["type"] == "int64"
    assert len(taken["contentHash"]) == 16


def test_the_order_of_rows_does_not_count() -> None:
    rows = frame(id=[1, 2, 3], name=["a", "b", "c"])
    assert fingerprint(rows.iloc[::-1]) == fingerprint(rows)
    assert fingerprint(rows.reset_index(drop=True)).id == fingerprint(rows).id


@pytest.mark.parametrize(
    "other",
    [
        frame(id=[1, 2, 4]),
        frame(id=[1, 2]),
        frame(id=[1, 2, 3, 3]),
        frame(key=[1, 2, 3]),
        frame(id=[1.0, 2.0, 3.0]),
        frame(id=["1", "2", "3"]),
    ],
)
def test_other_content_is_another_fingerprint(other: pandas.DataFrame) -> None:
    assert fingerprint(other).id != fingerprint(frame(id=[1, 2, 3])).id


def test_rows_are_counted_as_often_as_they_occur() -> None:
    twice = fingerprint(frame(id=[1, 1]))
    assert twice.id != fingerprint(frame(id=[2, 2])).id
    assert twice.id != fingerprint(frame(id=[1])).id


@pytest.mark.parametrize(
    "odd",
    [
        frame(),
        frame(id=[]),
        frame(cell=[[1, 2], {"a": 1}, None]),
        frame(**{"x" * 500: [numpy.nan]}),
        pandas.DataFrame([[1, 2]], columns=["same", "same"]),
        pandas.DataFrame({("a", 1): [1]}),
        pandas.DataFrame(numpy.zeros((1, 300))),
    ],
)
def test_odd_frames(odd: pandas.DataFrame) -> None:
    taken = fingerprint(odd)
    assert taken.id == fingerprint(odd.copy()).id
    assert len(taken.columns) == min(len(odd.columns), 200)
    assert taken.columns_count == len(odd.columns)


def test_other_values_are_no_frames() -> None:
    assert not is_frame([1])
    assert not is_frame(pandas.Series([1]))
    with pytest.raises(TypeError, match="frame"):
        fingerprint(3)
