"""`headwater watch` against a real server: each change once, across a restart, until Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.client import finding_watch
from headwater.cypher.driver.database import Database
from headwater.errors import QueryError, UnauthorizedError
from headwater.health.findings.models import Finding, Tier
from headwater.local.ports import free_port
from tests.conftest import Neo4jServer
from tests.end_to_end.conftest import answers_at, wait_for
from tests.health.findings.builders import at, episode, finding, save
from tests.run_builders import ds, job

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

HOSTILE = "$(touch hacked); `touch hacked`"
BEFORE = finding(episode("mean", ds("t"), 0), Tier.P3)
DRIFT = finding(episode("schema-drift", ds("t"), 1), Tier.P2, owners=[HOSTILE])
FAILED = finding(episode("failed-run", job("load"), 2), Tier.P1)


def closed(one: Finding) -> Finding:
    return replace(one, episode=replace(one.episode, resolved_at=at(9), resolved_by="run:x"))


class Server:
    """A real API on one port, which can be stopped and started again."""

    def __init__(self, home: Path, neo4j: Neo4jServer) -> None:
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._log = home / "log"
        self._environment = {
            **os.environ,
            "HEADWATER_HOME": str(home),
            "HEADWATER_PORT": str(self._port),
            "HEADWATER_NEO4J_URI": neo4j.uri,
            "HEADWATER_NEO4J_USER": neo4j.user,
            "HEADWATER_NEO4J_PASSWORD": neo4j.password,
        }

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "headwater", "serve"],
                env=self._environment,
                stdout=log,
                stderr=log,
            )
        wait_for(lambda: answers_at(f"{self.url}/readyz"))

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(20)


@pytest.fixture(scope="module")
def server(neo4j_server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("home"), neo4j_server)
    running.start()
    yield running
    running.stop()


def changes_in(file: Path) -> list[tuple[str, str]]:
    """Return how each finding changed, as the command wrote it."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [(one["id"], one["change"]) for one in map(json.loads, lines)]


def test_a_command_runs_once_for_each_change(
    server: Server, database: Database, tmp_path: Path
) -> None:
    save(database, [(BEFORE, ["db"])])
    lines, folder = tmp_path / "lines.jsonl", tmp_path / "cwd"
    folder.mkdir()
    command = f"cat >> {lines}; echo $HEADWATER_FINDING_TIER $HEADWATER_FINDING_OWNERS >> tiers"
    process = subprocess.Popen(
        [sys.executable, "-m", "headwater", "watch", "--url", server.url, "--run", command],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        ready = f"watching {server.url}: 1 open finding; Ctrl-C ends it\n"
        assert process.stderr.readline() == ready
        save(database, [(DRIFT, ["db"])])
        wait_for(lambda: (DRIFT.id, "OPENED") in changes_in(lines))
        server.stop()
        save(database, [(closed(DRIFT), ["db"]), (FAILED, ["etl"])])
        server.start()
        wait_for(lambda: len(changes_in(lines)) >= 3)
        save(database, [(replace(FAILED, tier=Tier.P2), ["etl"])])
        wait_for(lambda: len(changes_in(lines)) >= 4)
        found = changes_in(lines)
        assert found[0] == (DRIFT.id, "OPENED")
        assert sorted(found[1:3]) == [(FAILED.id, "OPENED"), (DRIFT.id, "RESOLVED")]
        assert found[3:] == [(FAILED.id, "CHANGED")]
        assert f"P2 {HOSTILE}" in (folder / "tiers").read_text().splitlines()
        assert [one.name for one in folder.iterdir()] == ["tiers"]
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        errors = process.stderr.read()
        assert "connecting again" in errors
        assert "Traceback" not in errors
    finally:
        process.kill()
        process.communicate()


class Receiver(ThreadingHTTPServer):
    """A webhook that refuses its first request and records all."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.received: list[tuple[str, dict[str, Any]]] = []
        self.refusals = 1


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.refusals:
            self.server.refusals -= 1
            self.send_response(500)
        else:
            self.server.received.append((self.headers["Idempotency-Key"], body))
            self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield listening
        listening.shutdown()
        thread.join()


@pytest.fixture
def no_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command run in a thread, which cannot set signal handlers."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)


@pytest.mark.usefixtures("no_signals")
def test_a_webhook_gets_what_it_refused_again(
    server: Server, database: Database, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding_watch, "FIRST_COMPARE_SECONDS", 0.5)
    monkeypatch.setattr(finding_watch, "COMPARE_SECONDS", 0.5)
    save(database, [(DRIFT, ["db"]), (FAILED, ["etl"])])
    arguments = ["--existing", "--tier", "p1", "--url", server.url]
    address = f"http://127.0.0.1:{receiver.server_port}/"
    command = ["watch", "--webhook", address, *arguments]
    run: Callable[[], object] = lambda: CliRunner().invoke(app, command)  # noqa: E731
    threading.Thread(target=run, daemon=True).start()
    wait_for(lambda: bool(receiver.received))
    save(database, [(closed(FAILED), ["etl"])])
    wait_for(lambda: len(receiver.received) >= 2)
    (first_key, opened), (second_key, resolved) = receiver.received
    assert first_key != second_key
    assert (opened["id"], opened["change"], opened["severity"]) == (FAILED.id, "OPENED", "P1")
    assert opened["runbook"] == f"{server.url}/runbooks/failed-run"
    assert (resolved["change"], resolved["resolvedBy"]) == ("RESOLVED", "run:x")


def test_wrong_arguments(server: Server) -> None:
    for arguments, message in (
        ([], "watch needs either --run COMMAND or --webhook URL"),
        (["--run", "x", "--webhook", "http://x"], "watch needs either"),
        (["--webhook", "ftp://x"], "--webhook must begin with http"),
        (["--run", "x", "--rule", "none", "--url", server.url], "there is no rule 'none'"),
    ):
        with pytest.raises(QueryError, match=message):
            CliRunner().invoke(app, ["watch", *arguments], catch_exceptions=False)


def test_a_refused_key_ends_the_watch(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_API_KEY", "hw_wrong")
    with pytest.raises(UnauthorizedError):
        CliRunner().invoke(
            app, ["watch", "--run", "x", "--url", server.url], catch_exceptions=False
        )
