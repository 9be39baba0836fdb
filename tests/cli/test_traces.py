"""The command `trace-id` on the real Neo4j: the runs of a trace, for people and programs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.event_builders import run_event
from tests.run_builders import write_events

pytestmark = pytest.mark.neo4j

ONE, OTHER = "4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture(scope="module")
def stored(database: Database) -> None:
    """Write two runs of one trace, and a later run of another."""
    empty(database)
    write_events(
        database,
        [run_event("s", minute=1, job="checkout", facets={"trace": {"traceId": ONE}})],
        [run_event("b", minute=2, job="load", facets={"trace": {"traceId": ONE}})],
        [run_event("c", minute=3, job="[mail]", facets={"trace": {"traceId": OTHER}})],
    )


@pytest.fixture(autouse=True)
def own_graph(stored: None, settings_of_tests: None) -> None:
    """Let the commands ask the tests' own graph."""


def shown(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["trace-id", *arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def runs(*arguments: str) -> list[Any]:
    found = json.loads(shown(*arguments, "--json"))["traces"]
    return [(one["traceId"], [run["runId"] for run in one["runs"]]) for one in found]


def test_the_runs_of_a_trace_newest_first() -> None:
    assert runs(ONE) == [(ONE, ["b", "s"])]
    # Its digits may be in upper case.
    assert runs(ONE.upper()) == [(ONE, ["b", "s"])]


def test_without_an_id_the_newest_traces() -> None:
    assert runs() == [(OTHER, ["c"]), (ONE, ["b", "s"])]
    assert runs("--first", "1") == [(OTHER, ["c"])]


def test_a_table_for_people() -> None:
    header, first, second, summary = shown(ONE).splitlines()
    assert header.split() == ["trace", "startedAt", "status", "job", "runId"]
    assert first.split()[-3:] == ["etl", "load", "b"]
    assert second.split()[-3:] == ["etl", "checkout", "s"]
    assert summary == "1 trace, 2 runs"
    assert "etl [mail]" in shown(OTHER)


def test_an_unknown_trace_has_no_runs() -> None:
    assert runs("f" * 32) == []
    assert shown("f" * 32).splitlines()[-1] == "0 traces, 0 runs"
