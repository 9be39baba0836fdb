"""The commands `figures` and `snapshot` on the real Neo4j, on a history worked out by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.health.figures.story import write_story
from tests.run_builders import ds, job

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def history(database: Database) -> None:
    empty(database)
    write_story(database)


@pytest.fixture(autouse=True)
def own_graph(history: Database, settings_of_tests: None) -> None:
    """Let the commands ask the tests' own graph."""


def output(*arguments: str) -> str:
    result = CliRunner().invoke(app, [*arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def data(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output(*arguments, "--json"))
    return found


def test_figures_by_name() -> None:
    [coverage, downstreams] = data("figures", "coverage", "unknown-downstreams")["figures"]
    assert (coverage["value"], coverage["numerator"], coverage["denominator"]) == (12 / 14, 12, 14)
    assert [node["urn"] for node in coverage["nodes"]] == [ds("lone"), job("guess")]
    assert not coverage["isBelowThreshold"]
    assert downstreams["isBelowThreshold"]


def test_figures_as_a_table() -> None:
    text = output("figures", "coverage", "active-pipelines", "--format", "csv")
    assert text.splitlines() == [
        "figure,value,of,threshold,state",
        "coverage,85.7 %,14 datasets and jobs,80.0 %,within bounds",
        "active-pipelines,0,6 jobs that contain no others,,",
    ]


def test_a_snapshot_and_its_history() -> None:
    taken = data("snapshot", "--days", "2")
    assert taken["figures"]["coverage"] == 12 / 14
    assert taken["daysExamined"] == 2
    [coverage] = data("figures", "coverage", "--days", "2")["figures"]
    assert [(one["value"], one["isBackfilled"]) for one in coverage["history"]] == [
        (12 / 14, True),
        (12 / 14, False),
    ]
    assert coverage["history"][-1]["date"] == f"{datetime.now(UTC):%Y-%m-%d}"
    [yesterday] = data("figures", "coverage", "--at", "yesterday")["figures"]
    assert (yesterday["value"], yesterday["nodes"]) == (12 / 14, [])
