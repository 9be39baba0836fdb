"""`headwater detect --once` derives all findings and prints how many there are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.conftest import Neo4jServer
from tests.run_builders import answer, run, write_events

pytestmark = pytest.mark.neo4j


def test_a_full_pass_prints_its_counts(
    database: Database,
    neo4j_server: Neo4jServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    empty(database)
    write_events(
        database,
        run("one", "load", ["raw"], ["mart"], minute=0),
        answer("page", "mart", minute=2),
        run("two", "load", ["raw"], ["mart"], minute=5, status="FAIL", error="disk full"),
    )
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    monkeypatch.setenv("HEADWATER_NEO4J_URI", neo4j_server.uri)
    monkeypatch.setenv("HEADWATER_NEO4J_USER", neo4j_server.user)
    monkeypatch.setenv("HEADWATER_NEO4J_PASSWORD", neo4j_server.password)
    monkeypatch.setattr("os.nice", lambda _: 0)
    first = CliRunner().invoke(app, ["detect", "--once", "--json"])
    assert first.exit_code == 0, first.output
    found = json.loads(first.stdout)
    assert found["nodes"] >= 4
    assert found["open"] >= 1
    assert found["changed"] == found["findings"]
    rows = database.ask("MATCH (f:Finding {rule: 'failed-run'}) RETURN f.tier AS tier", {})
    assert [row["tier"] for row in rows] == ["P1"], "an answer rests on the data"
    again = CliRunner().invoke(app, ["detect", "--once"])
    assert "0 changed" in again.stdout
    empty(database)
