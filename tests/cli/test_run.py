"""The command `run show` on the real Neo4j: one run whole, for people and programs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError
from tests.canonical import empty
from tests.event_builders import dataset, run_event
from tests.run_builders import Event, ds, run_of, version, write_events

pytestmark = pytest.mark.neo4j

OFFSETS = {"partitions": [{"partition": 3, "startOffset": 1, "endOffset": 5, "latestOffset": 9}]}
FRAME = {"fingerprint": "f", "kind": "pandas", "columns": [{"name": "id"}], "contentHash": "c"}


def step(number: int, rows_in: int | None, rows_out: int, **more: Any) -> Event:
    return {
        "number": number,
        "name": ["clean", "[bold]large"][number - 1],
        "codeHash": "h",
        "seconds": 0.5,
        "inputs": [{**FRAME, "rowCount": rows_in}],
        "outputs": [{**FRAME, "rowCount": rows_out}],
        **more,
    }


@pytest.fixture(scope="module")
def stored(database: Database) -> None:
    """Write a load that failed, and a run that read its output with steps, offsets and a trace."""
    empty(database)
    rows = {"key": "id", "kept": 7, "dropped": 2, "added": 0}
    facets = {
        "headwater_steps": {"steps": [step(1, None, 9), step(2, 9, 7, rows=rows)]},
        "trace": {"traceId": "4bf92f3577b34da6a3ce929d0e0e4736"},
    }
    topic = dataset("orders", usage={"offsets": OFFSETS}, side="input", namespace="kafka://b:9092")
    failed = {"errorMessage": {"message": "disk [red]full", "programmingLanguage": "python"}}
    write_events(
        database,
        [
            run_event("load-1", "START", minute=0, job="load", inputs=["raw"]),
            run_event("load-1", "FAIL", minute=1, job="load", outputs=["clean"], facets=failed),
            run_event("mart-1", "START", minute=2, job="mart", inputs=["clean", topic]),
            run_event("mart-1", minute=5, job="mart", outputs=["mart"], facets=facets),
        ],
    )


@pytest.fixture(autouse=True)
def own_graph(stored: None, settings_of_tests: None) -> None:
    """Let the commands ask the tests' own graph."""


def shown(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["run", "show", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_run_with_its_data_offsets_and_steps() -> None:
    lines = [" ".join(line.split()) for line in shown("mart-1").splitlines()]
    assert lines[0] == "etl mart mart-1"
    assert {"status COMPLETE", "durationSeconds 180.0"} <= set(lines)
    assert "trace 4bf92f3577b34da6a3ce929d0e0e4736" in lines
    assert any(line.startswith("db clean") for line in lines)
    assert any(
        line.startswith("db mart") and line.endswith(version("mart", "mart-1")) for line in lines
    )
    assert "kafka://b:9092 orders read 3 1 5 9 4" in lines
    assert "1. clean 9 0.500" in lines
    assert "2. [bold]large 9 7 7 kept, 2 dropped, 0 added 0.500" in lines


def test_a_failed_run_shows_its_error() -> None:
    text = shown(run_of("load-1"))
    assert "disk [red]full" in text
    assert "status FAIL" in text


def test_the_run_for_programs() -> None:
    found = json.loads(shown("mart-1", "--json"))
    run = found["run"]
    assert (run["runId"], run["status"], found["causes"]) == ("mart-1", "COMPLETE", [])
    [stream] = run["streams"]
    assert (stream["dataset"]["name"], stream["lag"]) == ("orders", 4)
    assert [one["rowCount"] for one in run["steps"][1]["outputs"]] == [7]
    rows = [json.loads(line) for line in shown("mart-1", "--format", "jsonl").splitlines()]
    assert {"part": "step", "name": "1. clean", "value": "9"} in rows
    assert {"part": "run", "name": "status", "value": "COMPLETE"} in rows


@pytest.mark.parametrize("name", ["nothing", run_of("nothing"), ds("mart")])
def test_a_run_that_does_not_exist(name: str) -> None:
    with pytest.raises(NotFoundError, match=r"no (run|node)"):
        shown(name)
