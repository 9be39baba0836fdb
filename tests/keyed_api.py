"""An API that requires keys, on a small graph: for the tests of everything that asks over HTTP."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.local.ports import free_port
from tests.canonical import empty
from tests.conftest import Neo4jServer
from tests.end_to_end.conftest import answers_at, wait_for
from tests.event_builders import dataset, run_event, schema
from tests.run_builders import answer, run, write_events


@pytest.fixture(scope="module")
def graph(database: Database) -> Iterator[Database]:
    """Write load: raw -> a and mart: a -> d, complete; then load fails. `kpi` cites d."""
    empty(database)
    total = dataset("a", schema(total="int"))
    owner = {"ownership": {"owners": [{"name": "team:mart"}]}}
    sql = {"sql": {"query": "select total from a"}}
    write_events(
        database,
        run("load-1", "load", ["raw"], ["a"], minute=0),
        run("mart-1", "mart", ["a"], ["d"], minute=10),
        run("load-2", "load", ["raw"], ["a"], minute=20, status="FAIL", error="=disk\nfull"),
        [run_event("mart-2", job="mart", inputs=[total], job_facets={**owner, **sql})],
        answer("kpi", "d", minute=40, url="https://bi.example.com/kpi", owners=["team:board"]),
    )
    yield database
    empty(database)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keyed")


@pytest.fixture(scope="module")
def keys(home: Path) -> dict[str, str]:
    """Return a key for everything, one that reads only, and two that read one namespace."""
    found = {}
    for name, words in (
        ("all", ["--scope", "read", "--scope", "cypher"]),
        ("read", ["--scope", "read"]),
        ("db", ["--scope", "read", "--namespace", "db"]),
        ("other", ["--scope", "read", "--namespace", "other"]),
    ):
        made = CliRunner().invoke(app, ["keys", "create", name, *words, "--home", str(home)])
        found[name] = made.stdout.splitlines()[0]
    return found


@pytest.fixture(scope="module")
def api(
    graph: Database, home: Path, keys: dict[str, str], neo4j_server: Neo4jServer
) -> Iterator[str]:
    """Run an API that requires keys."""
    assert graph
    assert keys
    port = free_port()
    environment = {
        **os.environ,
        "HEADWATER_HOME": str(home),
        "HEADWATER_PORT": str(port),
        "HEADWATER_REQUIRE_KEYS": "true",
        "HEADWATER_NEO4J_URI": neo4j_server.uri,
        "HEADWATER_NEO4J_USER": neo4j_server.user,
        "HEADWATER_NEO4J_PASSWORD": neo4j_server.password,
    }
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "headwater", "serve"], env=environment, stdout=log, stderr=log
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: answers_at(f"{url}/readyz"))
        yield url
    finally:
        process.terminate()
        process.wait(15)
