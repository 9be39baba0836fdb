"""The steps of a run, read from its facets, whatever a sender put there."""

from __future__ import annotations

from typing import Any

import pandas
import pytest

from headwater import steps
from headwater.lineage.questions.run_steps import run_steps
from headwater.steps.run import FACET


@steps.track_transformation(rows=steps.rows("n"))
def positive(frame: pandas.DataFrame) -> pandas.DataFrame:
    return frame[frame["n"] > 0]


def test_recorded_steps_are_read_back() -> None:
    with steps.run(job="daily") as run:
        positive(positive(pandas.DataFrame({"n": [-1.0, 1.0, None]})))
    first, second = run_steps(run.event("COMPLETE")["run"]["facets"])
    assert (first.number, first.name, first.error) == (1, "positive", None)
    assert first.inputs[0].row_count == 3
    assert first.inputs[0].null_counts == {"n": 1}
    assert first.rows is not None
    assert (first.rows.kept, first.rows.dropped, first.rows.added) == (1, 1, 0)
    assert second.inputs[0].from_step == 1
    assert [column.name for column in second.outputs[0].columns] == ["n"]


@pytest.mark.parametrize(
    "facet",
    [
        *(None, 3, "text", [], {}, {"steps": None}, {"steps": {}}, {"steps": [None, 1, "a", []]}),
        {"steps": [{"number": "1", "name": "a"}]},
        {"steps": [{"number": 2**40, "name": "a"}]},
        {"steps": [{"number": 1, "name": None}]},
        {"steps": [{"name": "a"}]},
    ],
)
def test_a_malformed_facet_has_no_steps(facet: Any) -> None:
    assert run_steps({FACET: facet}) == []
    assert run_steps({}) == []


def test_malformed_parts_of_a_step_are_left_out() -> None:
    good = {"fingerprint": "f", "columns": [{"name": "n"}] * 300}
    sent = {
        "number": 1,
        "name": "a",
        "inputs": [good, None, {"fingerprint": 3}, {"fingerprint": "g", "rowCount": -1}],
        "outputs": "none",
        "rows": {"key": "n"},
        "unknown": True,
    }
    [step] = run_steps({FACET: {"steps": [sent]}})
    assert [frame.fingerprint for frame in step.inputs] == ["f"]
    assert len(step.inputs[0].columns) == 200
    assert step.outputs == []
    assert step.rows is None
    assert (
        len(run_steps({FACET: {"steps": [{"number": n, "name": "a"} for n in range(300)]}})) == 200
    )
