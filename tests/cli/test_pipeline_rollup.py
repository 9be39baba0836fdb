"""`headwater pipeline rollup` on the real Neo4j."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.cypher.driver.database import Database
from headwater.errors import SettingsError
from tests.canonical import empty
from tests.conftest import Neo4jServer
from tests.event_builders import run_event, urns
from tests.run_builders import write_events

pytestmark = pytest.mark.neo4j
NOW = datetime.now(UTC)


@pytest.fixture
def runs(
    database: Database, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Database]:
    """Write four runs of one job: 100, 50, 20 and 1 days ago."""
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    monkeypatch.setenv("HEADWATER_NEO4J_URI", neo4j_server.uri)
    monkeypatch.setenv("HEADWATER_NEO4J_USER", neo4j_server.user)
    monkeypatch.setenv("HEADWATER_NEO4J_PASSWORD", neo4j_server.password)
    empty(database)
    for days in (100, 50, 20, 1):
        ended = {**run_event(f"r-{days}", job="load", outputs=["raw"]), "eventTime": _ago(days)}
        write_events(database, [ended])
    yield database
    empty(database)


def _ago(days: int) -> str:
    return (NOW - timedelta(days=days)).isoformat()


def rolled_up(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["pipeline", "rollup", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_rules_file_and_options_are_applied(runs: Database, tmp_path: Path) -> None:
    summary = json.loads(rolled_up("--dry-run", "--json"))
    assert summary == {"old": 1, "summarised": 1, "protected": 0, "done": True, "dryRun": True}
    rules = tmp_path / "rules.toml"
    rules.write_text('[days]\n"et*" = 30\n')
    assert json.loads(rolled_up("--dry-run", "--json", "--rules", str(rules)))["old"] == 2
    assert (
        json.loads(rolled_up("--dry-run", "--json", "--rules", str(rules), "--sample", "1"))["old"]
        == 0
    )
    assert len(urns(runs, "PipelineRun")) == 4
    assert rolled_up("--days", "10") == (
        "3 runs past their horizon: 3 summarised, "
        "0 kept (0 for an answer, a failure or the newest data)\n"
    )
    assert urns(runs, "PipelineRun") == {"run:r-1"}


def test_the_report_changes_nothing(runs: Database) -> None:
    summary = json.loads(rolled_up("--report", "--json"))
    assert (summary["events"], summary["labels"]["PipelineRun"]["nodes"], summary["files"]) == (
        4,
        4,
        {},
    )
    saved = {(one["days"], one["sample"]): one["runs"] for one in summary["savings"]}
    assert [saved[days, 0.0] for days in (7, 30, 90, 180)] == [3, 2, 1, 0]
    tables = rolled_up("--report")
    assert "4 events" in tables
    assert "possible savings now" in tables
    assert len(urns(runs, "PipelineRun")) == 4


@pytest.mark.parametrize("days", ["inf", "nan", "0", "800000"])
def test_days_out_of_range_store_nothing(runs: Database, days: str) -> None:
    with pytest.raises(SettingsError, match="--days is"):
        rolled_up("--days", days)
    assert runs.read("read/state/retention") == []
    assert len(urns(runs, "PipelineRun")) == 4


@pytest.mark.usefixtures("runs")
def test_a_bad_file_of_rules_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.toml"):
        rolled_up("--rules", str(tmp_path / "none.toml"))
