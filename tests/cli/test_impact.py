"""`headwater impact` on the real Neo4j: a table for people, JSON for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from neo4j import Driver
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from tests.conftest import erase
from tests.event_builders import dataset, run_event, schema, write_batch
from tests.run_builders import ds

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def shop(database: Database, graph_driver: Driver) -> Database:
    with graph_driver.session() as session:
        session.run(erase).consume()
    orders = dataset("orders", schema(total="int"))
    code = {
        "sql": {"query": "select total from orders"},
        "ownership": {"owners": [{"name": "team:[finance]"}]},
    }
    write_batch(
        database,
        [
            run_event("r1", inputs=[orders], outputs=["mart"], job="[report]", job_facets=code),
            run_event("r2", inputs=[orders], job="blind"),
        ],
    )
    return database


@pytest.fixture(autouse=True)
def own_graph(shop: Database, settings_of_tests: None) -> None:
    """Let the commands ask the tests' own graph."""


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["impact", ds("orders"), *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_table_for_people() -> None:
    shown = run("--rename", "total:amount", "--drop", "nope")
    for words in (
        *(
            "risk high",
            "2 affected, 1 breaking, 1 unknown, 0 warnings",
            "[report]",
            "total",
            "its code line 1",
            "team:[finance]",
        ),
        *(
            "blind",
            "reads it (its code is not known)",
            "notify team:[finance]",
            "the graph knows no column 'nope' of orders",
        ),
    ):
        assert words in shown


def test_json_for_programs() -> None:
    found = json.loads(run("--change-type", "total:bigint", "--json"))
    assert (found["risk_level"], found["affected_count"], found["warning_count"]) == (
        "medium",
        2,
        2,
    )
    assert found["affected_assets"][0]["affected_references"] == ["total"]


@pytest.mark.parametrize(
    "options",
    [
        ("--add", "tenant"),
        ("--change-semantics", "total"),
        ("--drop-table",),
        ("--rename-table", "o2"),
        ("--drop", "total", "--include-stale"),
    ],
)
def test_every_change(options: tuple[str, ...]) -> None:
    assert "risk" in run(*options)


def test_files_count(tmp_path: Path) -> None:
    script = tmp_path / "new.sql"
    script.write_text("select total from orders", encoding="utf-8")
    assert "new.sql" in run("--drop", "total", "--file", str(script))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--delete-job",), "must be of a job"),
        ((), "no change is given"),
        (("--rename", "total"), "--rename 'total' is not of the form FROM:TO"),
    ],
)
def test_an_error_names_the_option(options: tuple[str, ...], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        run(*options)
