"""The command `slo` on the real Neo4j, on a history worked out by hand."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.health.figures.story import write_story

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def history(database: Database) -> None:
    empty(database)
    write_story(database)


@pytest.fixture(autouse=True)
def own_graph(history: Database, settings_of_tests: None) -> None:
    """Let the commands ask the tests' own graph."""


def output(*arguments: str, exit_code: int = 0) -> str:
    result = CliRunner().invoke(app, ["slo", *arguments], catch_exceptions=False)
    assert result.exit_code == exit_code, result.output
    return result.stdout


def test_levels_as_a_table() -> None:
    lines = output("M1", "M6", "M9", "--format", "csv").splitlines()
    assert lines == [
        "level,name,value,target,budget left,burn rate,state",
        "M1,coverage,85.7 %,≥ 80.0 %,28.6 %,0.7,● ok",
        # 34 of 48 fields are missing; 10 % may be.
        "M6,completeness,29.2 %,≥ 90.0 %,'-608.3 %,7.1,✕ missed",
        "M9,query-success,,≥ 99.0 %,,,– no data",
    ]


def test_levels_as_json() -> None:
    [level] = json.loads(output("M1", "--json"))["serviceLevels"]
    assert (level["id"], level["value"], level["verdict"]) == ("M1", 12 / 14, "OK")
    assert level["history"] == []


def test_the_check_ends_with_an_exit_code() -> None:
    output("M1", "M9", "--check")
    output("M1", "M6", "--check", exit_code=1)
    output("M6")
