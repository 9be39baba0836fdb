"""The commands `lineage` and `trace` on the real Neo4j: their options reach the question, and they
show its answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from tests.canonical import empty
from tests.run_builders import answer, ds, job, run, write_events

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def chain(database: Database) -> Iterator[Database]:
    """Write raw -> load -> a -> build -> b, cited by `report`."""
    empty(database)
    write_events(
        database,
        run("l", "load", ["raw"], ["a"], minute=0),
        run("b", "build", ["a"], ["b"], minute=10),
        answer("report", "b", minute=20),
    )
    yield database
    empty(database)


@pytest.fixture(autouse=True)
def own_graph(chain: Database, settings_of_tests: None) -> None:
    """Let the commands ask the tests' own graph."""


def printed(*arguments: str, input: str | None = None) -> str:
    result = CliRunner().invoke(app, [*arguments], input=input, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def data(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed("lineage", *arguments, "--json"))
    return found


def urns(found: dict[str, Any]) -> set[str]:
    return {node["urn"] for node in found["nodes"]}


def test_several_starts_and_distances() -> None:
    found = data(ds("a"), ds("b"), "--direction", "upstream", "--depth", "1")
    assert {node["name"]: node["distance"] for node in found["nodes"]} == {
        "a": 0,
        "b": 0,
        "load": 1,
        "raw": 1,
        "build": 1,
    }
    shown = printed("lineage", ds("a"), ds("b"), "--direction", "upstream")
    assert "upstream of dataset a" in shown
    assert "upstream of dataset b" in shown


def test_filters_reach_the_walk() -> None:
    assert urns(data(ds("b"), "--namespace", "other")) == {ds("b"), job("build")}
    assert urns(data(ds("b"), "--job-type", "DAG")) == {ds("b")}
    assert urns(data(ds("b"), "--tag", "x", "--owner", "y")) == {ds("b"), job("build")}
    assert urns(data(ds("b"), "--since", "2026-01-01T00:05:00Z")) == {
        ds("b"),
        job("build"),
        ds("a"),
    }
    assert urns(data(ds("b"), "--until", "2026-01-01T00:05:00Z")) == {ds("b")}


def test_the_next_page_follows_the_cursor() -> None:
    found = data(ds("raw"), "--depth", "1")
    assert (found["truncated"], found["omittedCount"], found["continuations"][0]["urn"]) == (
        True,
        1,
        ds("a"),
    )
    more = data(ds("raw"), "--depth", "1", "--after", found["continuations"][0]["cursor"])
    assert urns(more) == {ds("a"), job("build"), ds("b")}


def test_between_two_times() -> None:
    times = ("--between", "2026-01-01T00:05:00Z", "2026-01-01T00:30:00Z")
    assert {node["name"] for node in data(ds("a"), *times)["difference"]["addedNodes"]} == {
        "build",
        "b",
    }
    lines = printed("lineage", ds("a"), *times).splitlines()
    assert {"+ dataset b", "+ job build", "4 added, 0 removed"} <= set(lines)
    with pytest.raises(QueryError, match="--between"):
        CliRunner().invoke(app, ["lineage", ds("a"), "--between", "", ""], catch_exceptions=False)


def test_trace() -> None:
    shown = printed("trace", "report")
    for name in ("report", "build", "load", "raw", "1 source\n"):
        assert name in shown


def test_a_statement_begins_with_the_parameters_of_cypher_shell(tmp_path: Path) -> None:
    statement = """:param since => datetime('2026-01-01T00:05:00Z')
:param status => 'COMPLETE'
MATCH (r:PipelineRun {status: $status})
WHERE r.startedAt >= $since
RETURN r.runId AS run;
"""
    file = tmp_path / "late.cypher"
    file.write_text(statement)
    expected = [{"run": "b"}]
    assert json.loads(printed("cypher", "--file", str(file), "--json")) == expected
    assert json.loads(printed("cypher", "-", "--json", input=statement)) == expected
    failed = printed("cypher", "-", "--json", "--param", "status=FAIL", input=statement)
    assert json.loads(failed) == []
    with pytest.raises(QueryError, match="exclude each other"):
        printed("cypher", "failed_runs", "--file", str(file))


def test_what_print_shows_can_be_run() -> None:
    text = printed("cypher", "run_inputs_outputs", "--print", "--param", "runId=b")
    direct = printed("cypher", "run_inputs_outputs", "--param", "runId=b", "--json")
    assert printed("cypher", "-", "--json", input=text) == direct
    assert [row["name"] for row in json.loads(direct)] == ["a", "b"]


def test_a_misspelled_label_has_a_note() -> None:
    text = "MATCH (r:Run) RETURN r"
    result = CliRunner().invoke(app, ["cypher", "-"], input=text, catch_exceptions=False)
    assert result.exit_code == 0
    assert "the graph has no label Run (similar: PipelineRun, RunSummary)" in result.stderr
