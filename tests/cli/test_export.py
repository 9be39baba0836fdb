"""The command `export`: complete files, and a part in OpenLineage events."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from headwater.access.keys import Keys
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from headwater.cli import app
from headwater.cli import export as export_command
from headwater.cypher.driver.database import Database
from headwater.errors import HeadwaterError, NotFoundError, QueryError
from headwater.ingest.spool.spool import Spool
from tests.canonical import empty
from tests.event_builders import dataset, run_event
from tests.run_builders import ds, run, write_events

RUNS = [f"00000000-0000-4000-8000-00000000000{number}" for number in range(4)]
EVENTS = [
    *run(RUNS[1], "load", ["raw"], ["clean"], minute=0),
    run_event(RUNS[2], minute=5, inputs=[dataset("clean")], outputs=[dataset("x", namespace="t")]),
]


def test_a_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "graph.jsonl"

    def write_half() -> None:
        with export_command._output_stream(str(target)) as out:
            out.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert list(tmp_path.iterdir()) == []
    with export_command._output_stream(str(target)) as out:
        out.write(b"all")
    assert [file.name for file in tmp_path.iterdir()] == ["graph.jsonl"]
    assert target.read_bytes() == b"all"


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "none" / "graph.jsonl"
    with (
        pytest.raises(QueryError, match="--output"),
        export_command._output_stream(str(missing)) as out,
    ):
        out.write(b"")


@pytest.fixture
def home(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    empty(database)
    write_events(database, EVENTS)
    spool = Spool(tmp_path / "spool.db")
    spool.append([json.dumps(event).encode() for event in EVENTS], received=0)
    spool.close()
    return tmp_path


@pytest.mark.neo4j
@pytest.mark.usefixtures("settings_of_tests")
def test_a_part_goes_to_a_file_or_to_stdout(home: Path) -> None:
    options = ["export", "--openlineage", "--urn", ds("raw"), "--depth", "1"]
    target = home / "part.jsonl"
    written = CliRunner().invoke(app, [*options, "-o", str(target)], catch_exceptions=False)
    printed = CliRunner().invoke(app, [*options, "-o", "-"], catch_exceptions=False)
    assert written.stdout == f"2 events written to {target}\n"
    assert printed.stdout_bytes == target.read_bytes()
    _, event = [json.loads(line) for line in target.read_text().splitlines()]
    assert [one["name"] for one in event["inputs"]] == ["raw"]


@pytest.mark.neo4j
@pytest.mark.usefixtures("settings_of_tests")
def test_a_key_limits_what_is_exported(home: Path) -> None:
    store = AccessStore(home / "access.db")
    Keys(store).create("partner", [Scope.READ], namespaces=["db", "etl"])
    store.close()
    options = ["export", "--openlineage", "--key"]
    shown = CliRunner().invoke(app, [*options, "partner"], catch_exceptions=False)
    names = {
        one["name"]
        for line in shown.stdout.splitlines()
        for one in [*json.loads(line)["inputs"], *json.loads(line)["outputs"]]
    }
    assert names == {"raw", "clean"}
    unknown = CliRunner().invoke(app, [*options, "nobody"])
    assert isinstance(unknown.exception, NotFoundError)


@pytest.mark.neo4j
@pytest.mark.usefixtures("settings_of_tests")
def test_tables_are_written_again_and_again(
    home: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, pauses, jobs = home / "lineage.sqlite", list[float](), list[int]()

    def pause(seconds: float) -> None:
        """Count the jobs in the file, and add one to the graph before the next round."""
        pauses.append(seconds)
        with closing(sqlite3.connect(target)) as file:
            jobs.append(file.execute("SELECT count(*) FROM jobs").fetchone()[0])
        write_events(database, run(RUNS[3], f"later-{len(pauses)}", ["clean"], ["y"], minute=9))
        if len(pauses) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(export_command, "time", SimpleNamespace(sleep=pause))
    result = CliRunner().invoke(app, ["export", "--sqlite", str(target), "--every", "15m"])
    assert (pauses, jobs) == ([900.0, 900.0], [2, 3])
    assert result.stdout.count(f"rows written to {target}") == 2
    wrong = CliRunner().invoke(app, ["export", "--sqlite", str(target), "--every", "0s"])
    assert isinstance(wrong.exception, HeadwaterError)


@pytest.mark.neo4j
@pytest.mark.usefixtures("home", "settings_of_tests")
def test_a_part_needs_a_format() -> None:
    result = CliRunner().invoke(app, ["export", "--urn", ds("raw")])
    assert isinstance(result.exception, QueryError)
    both = CliRunner().invoke(
        app, ["export", "--openlineage", "--urn", ds("raw"), "--namespace", "db"]
    )
    assert isinstance(both.exception, QueryError)
