"""The commands about failures on the real Neo4j: trees and tables for people, JSON for programs."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError, QueryError
from headwater.ingest.spool.spool import Spool
from tests.canonical import empty
from tests.event_builders import dataset, run_event
from tests.run_builders import FACET, answer, at, ds, job, run, run_of, version, write_events

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def runs(database: Database) -> Database:
    """Write load: raw -> a and [mart]: a -> d, complete at first; then load fails on new code, and
    mart still runs.
    """
    empty(database)
    ownership = {**FACET, "owners": [{"name": "[mia]", "type": "OWNER"}]}
    named = {"namespace": "etl", "name": "[mart]", "facets": {"ownership": ownership}}
    write_events(
        database,
        run("load-1", "load", ["raw"], ["a"], minute=0, version="v1"),
        run("mart-1", "[mart]", ["a"], ["d"], minute=10),
        run(
            "load-2",
            "load",
            ["raw"],
            ["a"],
            minute=20,
            version="v2",
            status="FAIL",
            error="[disk] full\nand more",
        ),
        run("mart-2", "[mart]", ["a"], ["d"], minute=30),
        answer("kpi", "d", minute=40),
        [{"eventTime": at(0), "job": named}],
    )
    return database


@pytest.fixture(autouse=True)
def own_graph(runs: Database, settings_of_tests: None) -> None:
    """Let the commands ask the tests' own graph."""


def shown(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def data(*arguments: str) -> Any:
    return json.loads(shown(*arguments, "--json"))


def test_failed_runs_for_people() -> None:
    printed = shown("failed-runs")
    for words in (
        "FAIL load  load-2",
        "[disk] full",
        "partial: ",
        "stale: ",
        "notify [mia]",
        "db  a  load-2",
        "1 failed",
    ):
        assert words in printed
    assert "and more" not in printed
    assert "resolved" not in printed
    assert "0 failed runs" in shown("failed-runs", "--namespace", "elsewhere")


def test_failed_runs_for_programs() -> None:
    (found,) = data("failed-runs", "--namespace", "etl")["failedRuns"]
    assert (found["runId"], found["resolution"]) == ("load-2", None)
    assert found["downstream"]["datasets"] == [ds("a"), ds("d")]
    assert found["partial"] == {
        "datasets": [ds("a"), ds("d")],
        "jobs": [job("[mart]")],
        "runs": [run_of("mart-2")],
        "artifacts": [version("a", "load-2"), version("d", "mart-2")],
        "answers": ["answer:kpi"],
        "owners": ["[mia]"],
        "truncated": False,
    }
    assert found["stale"]["artifacts"] == [version("d", "mart-2")]


def test_root_cause() -> None:
    printed = shown("root-cause", "answer:kpi")
    for words in (
        "FAILED",
        "the run of load failed ([disk] full)",
        "CODE_CHANGED",
        "2026-01-01T00:20:00",
        "2 candidates",
    ):
        assert words in printed
    found = data("root-cause", ds("d"), "--first", "1")
    assert (found["starts"], found["omittedCount"], found["truncated"]) == (
        [version("d", "mart-2")],
        1,
        False,
    )
    assert found["candidates"] == [
        {
            "kind": "FAILED",
            "reason": ("the run of load failed ([disk] full), and its outputs could be read"),
            "urn": run_of("load-2"),
            "run": run_of("load-2"),
            "occurredAt": at(20),
            "distance": 2,
            "before": None,
            "after": "FAIL",
            "comparedWith": [version("a", "load-2")],
            "measures": [],
            "weight": 100,
        }
    ]
    assert data("root-cause", ds("d"), "--since", at(21))["candidates"] == []


def test_column_measures_of_a_root_cause(runs: Database) -> None:
    """The mean falls from 10 to 8, with a standard deviation of 0.1."""
    for number, mean in enumerate((9.9, 10.0, 10.1, 8.0)):
        column = {"sum": 10 * mean, "count": 10}
        usage = {"dataQualityMetrics": {"rowCount": 10, "columnMetrics": {"tenure": column}}}
        made = dataset("measured", usage=usage)
        event = run_event(f"measure-{number}", minute=60 + number, job="measure", outputs=[made])
        write_events(runs, [event])
    urn = version("measured", "measure-3")
    printed = shown("root-cause", urn)
    for words in (
        "50      COLUMN_MEASURE_CHANGED  in measured the mean of tenure is 8, the baseline of 3 is",
        "tenure  mean     8      10 ± 0.1 of 3  -20.0 %  20.0",
    ):
        assert words in printed
    (found,) = data("root-cause", urn)["candidates"]
    (measure,) = found["measures"]
    assert (found["weight"], measure["value"], measure["versionCount"]) == (50, 8.0, 3)
    assert (measure["share"], measure["deviations"]) == pytest.approx((-0.2, -20.0))


def test_replay_plan() -> None:
    printed = shown("replay-plan", run_of("load-2"))
    for words in (
        "step 1",
        "etl  load",
        "step 2",
        "etl  [mart]",
        "after load-2",
        f"start from {version('d', 'mart-1')}",
    ):
        assert words in printed
    assert "answers to produce again" in printed
    assert "2 runs to replace in 2 steps" in printed
    found = data("replay-plan", ds("a"), "--since", at(21))
    assert (found["corruptRuns"], found["answers"], found["truncated"]) == (
        [run_of("load-2")],
        ["answer:kpi"],
        False,
    )
    assert [[entry["run"] for entry in step] for step in found["steps"]] == [
        [run_of("load-2")],
        [run_of("mart-2")],
    ]
    assert found["steps"][0][0]["outputs"] == [
        {"dataset": ds("a"), "version": version("a", "load-2"), "lastGood": version("a", "load-1")}
    ]


def test_refused_questions() -> None:
    for arguments, error in (
        (["root-cause", run_of("never")], NotFoundError),
        (["replay-plan", run_of("never")], NotFoundError),
        (["root-cause", job("load")], QueryError),
        (["replay-plan", ds("a")], QueryError),
        (["replay-plan", ds("a"), "--since", "someday"], QueryError),
    ):
        with pytest.raises(error):
            CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_an_unknown_namespace_has_a_note(runs: Database, settings_of_tests: object) -> None:
    del runs, settings_of_tests
    for command in ("failed-runs", "runs", "jobs", "failed-checks", "search load"):
        words = [*command.split(), "--namespace"]
        result = CliRunner().invoke(app, [*words, "elt"], catch_exceptions=False)
        assert result.exit_code == 0
        note = "no node has the namespace 'elt'; similar namespaces: etl"
        assert note in result.stderr
        known = CliRunner().invoke(app, [*words, "etl"], catch_exceptions=False)
        assert "namespace" not in known.stderr


def test_events_that_wait_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    assert data("failed-runs")["waitingEvents"] is None
    with closing(Spool(tmp_path / "spool.db")) as spool:
        assert data("failed-runs")["waitingEvents"] == 0
        for count, words in ((1, "1 event still waits"), (3, "3 events still wait")):
            spool.append([b"{}"] * (count - spool.last()), received=1)
            result = CliRunner().invoke(app, ["failed-runs"], catch_exceptions=False)
            assert f"{words} to be folded: further failures may follow" in result.stderr
            counted = CliRunner().invoke(app, ["failed-runs", "--json"], catch_exceptions=False)
            assert json.loads(counted.stdout)["waitingEvents"] == count
