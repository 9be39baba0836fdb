"""Tracked functions: what they record, how steps join, and that they behave as before."""

from __future__ import annotations

import time
from typing import Any

import pandas
import pytest

from headwater import steps
from headwater.steps import StepRun, track_transformation
from headwater.steps import tracking as tracking_module


@track_transformation
def clean(orders: pandas.DataFrame) -> pandas.DataFrame:
    """Drop rows with nulls."""
    return orders.dropna().drop_duplicates()


@track_transformation(name="total per customer", rows=steps.rows("id"))
def total(orders: pandas.DataFrame) -> pandas.DataFrame:
    return orders.groupby("id", as_index=False)["amount"].sum()


@track_transformation
def joined(*frames: pandas.DataFrame, by: dict[str, Any]) -> tuple[pandas.DataFrame, int]:
    return frames[0].merge(by["right"], on="id"), 7


@track_transformation
def broken(orders: pandas.DataFrame) -> pandas.DataFrame:
    raise KeyError("amount" if len(orders) else "")


ORDERS = pandas.DataFrame({"id": [1, 1, 1, 2, 3], "amount": [5.0, 5.0, 7.0, 2.0, None]})


def run() -> StepRun:
    return steps.run(job="daily", namespace="shop")


def test_a_function_behaves_as_before() -> None:
    assert clean.__name__ == "clean"
    assert clean.__doc__ == "Drop rows with nulls."
    assert clean(ORDERS).equals(ORDERS.dropna().drop_duplicates())
    with run(), pytest.raises(KeyError, match="amount"):
        broken(ORDERS)


def test_steps_form_a_graph() -> None:
    with run() as current:
        cleaned = clean(ORDERS)
        summed = total(orders=cleaned)
        # An equal frame that is another object is joined by its fingerprint.
        joined(summed, by={"right": cleaned.copy()})
    first, second, third = current.recorder.to_json()["steps"]
    assert [one["name"] for one in (first, second, third)] == [
        *("clean", "total per customer", "joined")
    ]
    assert first["inputs"][0]["fromStep"] is None
    assert second["inputs"][0]["fromStep"] == 1
    assert [one["fromStep"] for one in third["inputs"]] == [2, 1]
    assert first["inputs"][0]["rowCount"] == 5
    assert first["outputs"][0]["rowCount"] == 3
    assert first["inputs"][0]["nullCounts"] == {"amount": 1}
    assert second["rows"] == {"key": "id", "kept": 2, "dropped": 0, "added": 0}
    assert first["codeHash"] != second["codeHash"]
    assert len(third["outputs"]) == 1


def test_an_error_is_recorded_and_raised() -> None:
    with pytest.raises(KeyError), run() as current:
        broken(ORDERS)
    [step] = current.recorder.to_json()["steps"]
    assert step["error"] == "KeyError: 'amount'"
    assert step["outputs"] == []


def test_an_error_of_ours_is_only_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> bool:
        raise RuntimeError("ours")

    monkeypatch.setattr(tracking_module, "is_frame", fail)
    with run() as current:
        assert len(clean(ORDERS)) == 3
    assert current.recorder.to_json()["steps"] == []
    assert "step_not_recorded name=clean" in caplog.text


def test_only_the_first_steps_are_kept() -> None:
    small = pandas.DataFrame({"id": [1]})
    with run() as current:
        for _ in range(205):
            clean(small)
    recorded = current.recorder.to_json()
    assert len(recorded["steps"]) == 200
    assert recorded["omitted"] == 5


def test_an_object_that_is_gone_joins_nothing() -> None:
    with run() as current:
        for number in range(5):
            clean(pandas.DataFrame({"id": [number]}))
    assert {one["inputs"][0]["fromStep"] for one in current.recorder.to_json()["steps"]} == {None}


def test_the_code_of_a_builtin_has_no_hash() -> None:
    with run() as current:
        assert track_transformation(len)(ORDERS) == 5
    [step] = current.recorder.to_json()["steps"]
    assert (step["name"], step["codeHash"]) == ("len", "")


def test_outside_of_a_run_a_call_costs_almost_nothing() -> None:
    @track_transformation
    def nothing() -> None:
        return None

    began = time.perf_counter()
    for _ in range(10_000):
        nothing()
    # 0.1 ms for each call is a hundred times what was measured.
    assert time.perf_counter() - began < 1.0
