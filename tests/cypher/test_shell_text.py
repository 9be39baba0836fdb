"""Queries as text to paste: every query of the docs runs in Neo4j's own shell as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import find_query
from headwater.cypher.shell_text import cypher_literal, shell_text
from headwater.errors import QueryError
from scripts.catalogue import audits
from tests.conftest import Neo4jServer
from tests.repo.repository import text
from tests.run_builders import run, write_events

PASTED = re.compile(r"^```text\n((?::param |MATCH |CYPHER |CALL |//).*?;)\n```$", re.DOTALL | re.M)
SHELL_SECONDS = 300


def test_each_parameter_has_a_line() -> None:
    lines = shell_text(find_query("failed_runs"), {"since": "2026-01-01"}).splitlines()
    assert lines[:2] == [
        ":param since => datetime('2026-01-01T00:00:00Z')",
        ":param limit => 100",
    ]
    assert lines[2] == "MATCH (r:PipelineRun)"
    assert lines[-1].endswith(";")


def test_parameters_without_value_are_those_of_the_example() -> None:
    lines = shell_text(find_query("column_origins"), {"namespace": "it's"}).splitlines()
    assert lines[0] == r":param namespace => 'it\'s'"
    assert lines[1] == ":param dataset => '/demo/flights/marts/carrier_delays'"
    with pytest.raises(QueryError, match="no parameter nobody"):
        shell_text(find_query("column_origins"), {"nobody": "1"})


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (True, "true"),
        (None, "null"),
        (-3, "-3"),
        (0.5, "0.5"),
        ("a\\b'\n", r"'a\\b\'\n'"),
        (["a", 1], "['a', 1]"),
        ({"a`b": []}, "{`a``b`: []}"),
        (datetime(2026, 1, 2, 3, tzinfo=UTC), "datetime('2026-01-02T03:00:00Z')"),
    ],
)
def test_values_are_literals_of_cypher(value: object, literal: str) -> None:
    assert cypher_literal(value) == literal


@pytest.mark.neo4j
def test_every_query_of_the_docs_runs_in_cypher_shell_as_pasted(
    database: Database, neo4j_server: Neo4jServer, clean_graph: object
) -> None:
    del clean_graph
    write_events(
        database, run("load-1", "load", ["raw"], ["it's"], minute=0, status="FAIL", error="full")
    )
    pasted = PASTED.findall(text("docs/reference/cypher.md"))
    assert len(pasted) == len(audits())
    given = "\n".join([*pasted, ":param text => 'it\\'s'", "RETURN $text AS text;"])
    found = subprocess.run(
        [sys.executable, "-m", "headwater", "cypher-shell", "--", "--format", "plain"],
        input=f"{given}\n",
        env={
            **os.environ,
            "HEADWATER_NEO4J_URI": neo4j_server.uri,
            "HEADWATER_NEO4J_USER": neo4j_server.user,
            "HEADWATER_NEO4J_PASSWORD": neo4j_server.password,
        },
        capture_output=True,
        text=True,
        timeout=SHELL_SECONDS,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    lines = found.stdout.splitlines()
    # The answers come in the order of the page; an empty answer prints nothing.
    assert "failedAt, pipeline, runId, error, wrote" in lines
    assert lines[-2:] == ["text", '"it\'s"']


@pytest.mark.neo4j
def test_the_shell_is_read_only(neo4j_server: Neo4jServer) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "headwater", "cypher-shell", "--", "CREATE (n:Nothing)"],
        env={
            **os.environ,
            "HEADWATER_NEO4J_URI": neo4j_server.uri,
            "HEADWATER_NEO4J_USER": neo4j_server.user,
            "HEADWATER_NEO4J_PASSWORD": neo4j_server.password,
        },
        capture_output=True,
        text=True,
        timeout=SHELL_SECONDS,
        check=False,
    )
    assert found.returncode == 1
    assert "read access mode" in found.stderr
