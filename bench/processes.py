"""The API and the worker as processes of their own, over the graph of a bench's home."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headwater.local.neo4j import Running
from headwater.local.ports import free_port

READY_SECONDS_MAX = 60.0
# Without Neo4j the start is shorter.
ANSWER_SECONDS_MAX = 30.0
END_SECONDS_MAX = 20.0
_POLL_SECONDS = 0.02


def environment(home: Path, running: Running, *, port: int = 0, **settings: str) -> dict[str, str]:
    """Return the environment of a child process: only the named variables, none of the caller's."""
    values = {
        "home": str(home / "headwater"),
        "neo4j_uri": running.uri,
        "neo4j_user": running.user,
        "neo4j_password": running.password,
        "port": str(port),
        "log_level": "warning",
        **settings,
    }
    return _settings(values)


def _settings(values: Mapping[str, str]) -> dict[str, str]:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("HEADWATER_")
    }
    return {**inherited, **{f"HEADWATER_{name.upper()}": value for name, value in values.items()}}


@contextmanager
def process(*command: str, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run `python -m` with these words, and end it with the block, by force if needed."""
    started = subprocess.Popen(
        [sys.executable, "-m", *command], env=dict(environment), stdout=sys.stderr
    )
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


@contextmanager
def api(home: Path, running: Running, **settings: str) -> Iterator[int]:
    """Run `headwater serve` until the block ends; yield its port once it is ready."""
    port = free_port()
    with process(
        "headwater", "serve", environment=environment(home, running, port=port, **settings)
    ) as started:
        wait_ready(port, started)
        yield port


@contextmanager
def accepting(home: Path, *, log_level: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run `headwater serve` with a spool of its own and without Neo4j; yield its port and
    process.
    """
    port = free_port()
    # Nothing listens on port 1.
    values = {
        "home": str(home),
        "port": str(port),
        "neo4j_uri": "bolt://127.0.0.1:1",
        "log_level": log_level,
    }
    with process("headwater", "serve", environment=_settings(values)) as started:
        wait_ready(port, started, path="/healthz", seconds=ANSWER_SECONDS_MAX)
        yield port, started


def wait_ready(
    port: int,
    started: subprocess.Popen[bytes],
    *,
    path: str = "/readyz",
    statuses: Sequence[int] = (200,),
    seconds: float = READY_SECONDS_MAX,
) -> None:
    """Wait until a path answers with the expected status. Raise RuntimeError if the process ends or
    time is up.
    """
    deadline = time.monotonic() + seconds
    while started.poll() is None and time.monotonic() < deadline:
        try:
            status, _ = Client(port).get(path)
        except OSError:
            status = 0
        if status in statuses:
            return
        time.sleep(_POLL_SECONDS)
    raise RuntimeError("the server is not ready; its output is above")


class Client:
    """One keep-alive connection."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def get(self, path: str) -> tuple[int, bytes]:
        return self._request("GET", path, None)

    def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        return self._request("POST", path, body)

    def _request(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        try:
            return self._once(method, path, body)
        except (ConnectionError, http.client.BadStatusLine):
            # A server closes a connection that was idle for some seconds.
            self._connection.close()
            return self._once(method, path, body)

    def _once(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        self._connection.request(
            method, path, body, {"Content-Type": "application/json"} if body else {}
        )
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def graphql(self, query: str, variables: Mapping[str, Any] | None = None) -> bytes:
        """Return the answer. Raise RuntimeError if it has errors."""
        status, body = self.post(
            "/graphql", json.dumps({"query": query, "variables": variables or {}}).encode()
        )
        if status != 200 or b'"errors"' in body[:2_000]:
            raise RuntimeError(f"{query} was answered {status}: {body[:1_000]!r}")
        return body

    def close(self) -> None:
        self._connection.close()
