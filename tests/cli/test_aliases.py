"""The command `aliases list` on the real Neo4j; end_to_end/test_symlinks.py merges and splits."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.schema import headwater_facets
from tests.canonical import empty
from tests.run_builders import at, run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("settings_of_tests")]


@pytest.fixture(autouse=True)
def graph(database: Database) -> Iterator[None]:
    """Write a dataset `t` that is also named `u`, merged by hand at 00:09."""
    empty(database)
    names = {"namespace": "db", "name": "t"}, [{"namespace": "db", "name": "u"}]
    merged = headwater_facets.symlinks_event(names[0], same=names[1], event_time=at(9))
    write_events(database, run("w", "write", [], ["t"]), [merged])
    yield
    empty(database)


def test_names_are_listed() -> None:
    shown = CliRunner().invoke(app, ["aliases", "list"])
    assert shown.exit_code == 0, shown.output
    assert "db u" in shown.stdout
    as_json = CliRunner().invoke(app, ["aliases", "list", "--json"])
    assert json.loads(as_json.stdout) == [
        {
            "name": {"namespace": "db", "name": "u"},
            "dataset": {"namespace": "db", "name": "t"},
            "declaredBy": "manual",
            "since": "2026-01-01T00:09:00Z",
            "via": None,
        }
    ]
