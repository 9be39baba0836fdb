"""The command `rebuild`: refusals that change nothing, and its end."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli import app, graph_admin
from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError, QueryError
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from tests.canonical import empty
from tests.conftest import Neo4jServer
from tests.run_builders import run, write_events


def test_a_rebuild_needs_a_spool(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["rebuild", "--home", str(tmp_path)])
    assert isinstance(result.exception, NotFoundError)
    assert "there is no spool" in result.exception.message


@pytest.mark.neo4j
@pytest.mark.usefixtures("settings_of_tests")
def test_a_rebuild_is_done_although_events_arrive_at_its_end(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty(database)
    fold = Worker.run
    with closing(Spool(tmp_path / "spool.db")) as spool:
        spool.append([b"not foldable"], received=1)

        def fold_and_append(worker: Worker, *, until_done: bool) -> None:
            fold(worker, until_done=until_done)
            spool.append([b"later"], received=2)

        monkeypatch.setattr(Worker, "run", fold_and_append)
        monkeypatch.setattr(graph_admin, "set_on_signal", lambda _: None)
        result = CliRunner().invoke(app, ["rebuild", "--home", str(tmp_path), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["done"]
    empty(database)


@pytest.mark.neo4j
def test_a_graph_that_is_not_empty_is_erased_on_request_only(
    neo4j_server: Neo4jServer, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_NEO4J_URI", neo4j_server.uri)
    monkeypatch.setenv("HEADWATER_NEO4J_USER", neo4j_server.user)
    monkeypatch.setenv("HEADWATER_NEO4J_PASSWORD", neo4j_server.password)
    empty(database)
    write_events(database, run("l", "load", ["raw"], ["a"], minute=0))
    Spool(tmp_path / "spool.db").close()
    result = CliRunner().invoke(app, ["rebuild", "--home", str(tmp_path)])
    assert isinstance(result.exception, QueryError)
    assert "is not empty" in result.exception.message
    assert "--erase" in result.exception.hint
    assert database.ask("MATCH (r:PipelineRun) RETURN count(r) AS n", {}) == [{"n": 1}]
    empty(database)
