"""The events of a run with steps: START, then COMPLETE or FAIL with the facet."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import jsonschema_rs
import pandas
import pytest

from headwater import steps
from headwater.steps.run import FACET

SPEC = Path(__file__).parents[1] / "openlineage_spec" / "OpenLineage.json"


@steps.track_transformation
def double(frame: pandas.DataFrame) -> pandas.DataFrame:
    return frame * 2


def test_the_events_are_valid_and_carry_the_steps() -> None:
    validator = jsonschema_rs.validator_for(json.loads(SPEC.read_text()))
    with steps.run(job="daily", namespace="shop") as run:
        run.reads("file", "/raw/orders")
        run.writes("file", "/clean/orders")
        double(pandas.DataFrame({"n": [1]}))
    started, ended = run.event("START"), run.event("COMPLETE")
    for event in (started, ended, run.event("FAIL", ValueError("no"))):
        assert [one.message for one in validator.iter_errors(event)] == []
        json.dumps(event)
    assert FACET not in started["run"]["facets"]
    [step] = ended["run"]["facets"][FACET]["steps"]
    assert step["name"] == "double"
    assert ended["inputs"] == [{"namespace": "file", "name": "/raw/orders"}]
    assert ended["outputs"] == [{"namespace": "file", "name": "/clean/orders"}]
    assert started["run"]["runId"] == ended["run"]["runId"]


def test_a_failing_run_says_why() -> None:
    with pytest.raises(ValueError, match="no"), steps.run(job="daily") as run:
        raise ValueError("no")
    error = run.event("FAIL", ValueError("no"))["run"]["facets"]["errorMessage"]
    assert error["message"] == "ValueError: no"


def test_a_server_that_is_not_there_harms_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.WARNING, "headwater"),
        steps.run(job="daily", url="http://127.0.0.1:1") as run,
    ):
        double(pandas.DataFrame({"n": [1]}))
    assert "steps_not_sent" in caplog.text
    assert len(run.recorder.steps) == 1


def test_a_malformed_address_harms_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with steps.run(job="daily", url="not an address"):
        pass
    assert "steps_not_sent" in caplog.text
