"""The commands `columns` and `failed-checks` on the real Neo4j: their options reach the question."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, run_event, write_batch

pytestmark = pytest.mark.neo4j

FAILED = {"assertion": "not_null", "column": "mail", "success": False, "expected": "0"}


@pytest.fixture(scope="module")
def history(database: Database) -> Iterator[Database]:
    usage = {"dataQualityAssertions": {"assertions": [FAILED]}}
    empty(database)
    write_batch(
        database,
        [
            dataset_event("people", 1, {"tags": {"tags": [{"key": "pii", "field": "mail"}]}}),
            run_event("check-1", minute=5, inputs=[dataset("people", usage=usage, side="input")]),
        ],
    )
    yield database
    empty(database)


@pytest.fixture(autouse=True)
def own_graph(history: Database, settings_of_tests: None) -> None:
    """Let the commands ask the tests' own graph."""


def data(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_columns() -> None:
    [column] = data("columns", "--tag", "pii")["columns"]
    assert (column["dataset"], column["name"], column["tags"]) == ("people", "mail", ["pii"])
    assert data("columns", "--tag", "pii", "--namespace", "other")["totalCount"] == 0


def test_failed_checks() -> None:
    found = data("failed-checks", "--dataset", "people", "--column", "mail", "--run", "check-1")
    [check] = found["failedChecks"]
    assert (check["dataset"], check["check"], check["expected"]) == ("people", "not_null", "0")
    assert data("failed-checks", "--check", "unique")["failedChecks"] == []
    assert data("failed-checks", "--since", "2026-01-02")["failedChecks"] == []
