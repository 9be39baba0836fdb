"""`headwater keys`: keys are created, listed and revoked, and the log records each step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from headwater.access.keys import Keys
from headwater.access.sessions import Sessions
from headwater.access.store import AccessStore
from headwater.cli import app
from headwater.errors import NotFoundError, QueryError, UnauthorizedError


def run(home: Path, *arguments: str) -> Result:
    return CliRunner().invoke(
        app, ["keys", *arguments, "--home", str(home)], catch_exceptions=False
    )


def test_a_key_from_its_making_to_its_end(tmp_path: Path) -> None:
    created = run(
        tmp_path, "create", "ci", "--scope", "read", "--scope", "ingest", "--namespace", "spark*"
    )
    key = created.stdout.strip()
    assert "not shown again" in created.stderr
    store = AccessStore(tmp_path / "access.db")
    assert Keys(store).principal(key).visibility.patterns == ("spark*",)
    store.close()
    (listed,) = json.loads(run(tmp_path, "list", "--json").stdout)
    assert (listed["name"], listed["scopes"], listed["state"]) == (
        "ci",
        ["ingest", "read"],
        "valid",
    )
    assert key[16:] not in run(tmp_path, "list").stdout
    assert json.loads(run(tmp_path, "revoke", "ci", "--json").stdout)["state"] == "revoked"
    with pytest.raises(NotFoundError):
        run(tmp_path, "revoke", "ci")
    entries = json.loads(run(tmp_path, "log", "--json").stdout)
    assert [(entry["action"], entry["outcome"]) for entry in entries] == [
        ("keys revoke", "done"),
        ("keys create", "done"),
    ]
    assert "2 entries, all unchanged" in run(tmp_path, "log", "--verify").stdout
    assert json.loads(run(tmp_path, "log", "--verify", "--json").stdout) == {
        "entries": 2,
        "broken": None,
    }


def test_json_has_the_key_once(tmp_path: Path) -> None:
    created = json.loads(
        run(tmp_path, "create", "ci", "--scope", "read", "--expires", "never", "--json").stdout
    )
    assert created["key"].startswith(f"hw_{created['id']}_")
    assert created["expires"] is None


@pytest.mark.parametrize(
    "arguments",
    [
        ("--scope", "fly"),
        ("--scope", "read", "--expires", "soon"),
        ("--scope", "cypher", "--namespace", "a"),
    ],
)
def test_wrong_requests_are_reported(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with pytest.raises(QueryError):
        run(tmp_path, "create", "ci", *arguments)
    assert json.loads(run(tmp_path, "list", "--json").stdout) == []


def test_all_sessions_of_the_page_end(tmp_path: Path) -> None:
    key = run(tmp_path, "create", "ann", "--scope", "read").stdout.strip()
    store = AccessStore(tmp_path / "access.db")
    sessions = Sessions(Keys(store), store, tmp_path / "session.key", seconds=60)
    token, _ = sessions.start(key)
    assert "ended" in run(tmp_path, "end-sessions").stdout
    with pytest.raises(UnauthorizedError):
        sessions.session(token)
    assert Keys(store).principal(key).name == "ann"
    store.close()


def test_limits_of_a_caller(tmp_path: Path) -> None:
    run(tmp_path, "create", "ci", "--scope", "ingest")
    made = run(tmp_path, "limit", "ci", "--events", "200", "--concurrency", "4", "--json")
    limits = {"name": "ci", "requests": 0.0, "events": 200.0, "concurrency": 4}
    assert json.loads(made.stdout) == [limits]
    assert made.stderr == ""
    # A person who signs in has no key, and neither has a misspelt name.
    assert "no key has the name 'c1'" in run(tmp_path, "limit", "c1", "--requests", "5").stderr
    assert [one["name"] for one in json.loads(run(tmp_path, "limit", "--json").stdout)] == [
        "c1",
        "ci",
    ]
    run(tmp_path, "limit", "c1", "--clear")
    assert json.loads(run(tmp_path, "limit", "--json").stdout) == [limits]
    with pytest.raises(NotFoundError, match="'c1' has no limits"):
        run(tmp_path, "limit", "c1", "--clear")
    for words in (["ci"], ["ci", "--clear", "--events", "1"], ["--events", "1"], ["--clear"]):
        assert run(tmp_path, "limit", *words).exit_code == 2, words
    with pytest.raises(QueryError, match="must be a number from 0"):
        run(tmp_path, "limit", "ci", "--events", "-1")
    log = json.loads(run(tmp_path, "log", "--json").stdout)
    assert log[0]["action"] == "keys limit"
