"""A Neo4j whose data is damaged: the API accepts events, and one command builds the graph again."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.local.neo4j import LocalNeo4j
from tests.canonical import Graph, canonical
from tests.faults.history import history
from tests.faults.processes import wait_for
from tests.faults.test_up import UP_SECONDS_MAX, Up, post
from tests.torture import in_torture_only

pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(900)]

EVENTS = 10


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "home"
    LocalNeo4j(tmp_path / "home").stop()


def readyz(up: Up) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(f"{up.url}/readyz", timeout=30) as answer:
            return dict(json.load(answer))
    except urllib.error.HTTPError as error:
        with error:
            return dict(json.load(error))


def folded(up: Up) -> bool:
    """Return True if the graph has every event of the spool."""
    with urllib.request.urlopen(f"{up.url}/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return float(values.get("headwater_spool_depth", 1)) == 0


def graph_of(home: Path) -> Graph:
    neo4j = LocalNeo4j(home)
    password = neo4j.home.password() or ""
    with closing(Database(neo4j.status().uri, "neo4j", password)) as database:
        return canonical(database)


@in_torture_only
def test_the_graph_is_built_again_from_the_events(home: Path) -> None:
    bodies = history(EVENTS)
    first = Up(home)
    try:
        first.wait_up()
        for body in bodies:
            assert post(first, body) == 201
        wait_for("all folded", lambda: folded(first), UP_SECONDS_MAX)
        before = graph_of(home)
        assert len(before[0]) > EVENTS
    finally:
        first.close()

    for file in (home / "data" / "transactions").rglob("neostore.transaction.db.0"):
        file.write_bytes(bytes(file.stat().st_size))
    second = Up(home)
    try:
        wait_for(
            "it goes on",
            lambda: "Headwater accepts events, without its graph" in second.output_text,
            UP_SECONDS_MAX,
        )
        assert post(second, bodies[0]) == 201, "a duplicate, which changes no graph"
        state = readyz(second)
        assert state["ready"] is False
        assert "Neo4j cannot read its data" in state["reasons"][0]
        assert "headwater rebuild --remove-data" in state["reasons"][0]
        assert second.output_text.count("Neo4j cannot read its data") == 1

        result = CliRunner().invoke(
            app, ["rebuild", "--remove-data", "--yes", "--json", "--home", str(home)]
        )
        assert result.exit_code == 0, result.output
        moved = Path(json.loads(result.stdout)["moved"])
        assert (moved / "transactions").is_dir()
        wait_for("ready", second.ready, UP_SECONDS_MAX)
        wait_for("all folded", lambda: folded(second), UP_SECONDS_MAX)
        assert graph_of(home) == before
        assert second.output_text.count("Headwater is up") == 2, "once for each `up`"

        result = CliRunner().invoke(app, ["rebuild", "--remove-data", "--home", str(home)])
        assert result.exit_code == 1
        assert "Neo4j runs in" in str(result.exception)
    finally:
        second.close()
