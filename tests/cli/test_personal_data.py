"""The command `personal-data` on the real Neo4j: a table, CSV for an auditor, a code for CI."""

from __future__ import annotations

import csv
import io
import json

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.governance.personal_data.histories import (
    COPY,
    MASK,
    columns,
    described,
    estate,
    moved,
    tagged,
)
from tests.run_builders import ds, write_events

pytestmark = pytest.mark.neo4j


@pytest.fixture(autouse=True)
def own_graph(database: Database, settings_of_tests: None) -> None:
    """Let the commands ask the tests' own graph, which is empty."""
    del settings_of_tests
    empty(database)


def shown(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["personal-data", *arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def test_exposed_models_are_code_1(database: Database) -> None:
    write_events(database, estate())
    found = json.loads(shown("--unmasked", "--models", "--json", code=1))
    assert [one["urn"] for one in found["personalData"]] == [ds("churn")]
    assert found["exposedCount"] == 1
    table = shown("--unmasked", "--models", code=1)
    assert "churn" in table
    assert "1 artifact exposed, 0 unknown" in table
    rows = list(csv.DictReader(io.StringIO(shown("--format", "csv", code=1))))
    assert len(rows) == 12
    assert {row["class"] for row in rows} == {"email"}


def test_a_job_without_columns_is_code_2(database: Database) -> None:
    write_events(
        database, [tagged("mail:pii", name="raw"), moved("opaque", "raw", "out", fields=("x",))]
    )
    assert "0 artifacts exposed, 1 unknown" in shown(code=2)


def test_masked_data_is_code_0(database: Database) -> None:
    write_events(
        database,
        [
            tagged("mail:pii", name="raw"),
            moved("mask", "raw", "out", ("mail", "raw.mail", MASK), fields=("mail",)),
        ],
    )
    assert "0 artifacts exposed, 0 unknown" in shown("--unmasked")


def test_suggested_classes_count_on_request(database: Database) -> None:
    write_events(
        database,
        [
            described("people", "db", 0, columns("ssn")),
            moved("copy", "people", "out", ("s", "people.ssn", COPY), fields=("s",)),
        ],
    )
    shown()
    assert "ssn" in shown("--suggested", code=1)
