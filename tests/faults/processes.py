"""The API and the worker as real processes that a test may kill, pause and restart.

Signals go only to their own pids.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from headwater.cypher.driver.database import Database
from headwater.errors import UnavailableError
from headwater.ingest.spool.spool import Spool
from headwater.ingest.write.transaction import Checkpoint, read_checkpoint
from headwater.local.ports import free_port
from tests.conftest import Neo4jServer

START_SECONDS_MAX = 60.0
END_SECONDS_MAX = 20.0
POLL_SECONDS = 0.05


class TooSlowError(AssertionError):
    """A condition that did not become true in its time."""


def slack() -> float:
    """Return the load of this machine as a factor for time limits; 1 on an idle machine."""
    return max(os.getloadavg()[0] / (os.cpu_count() or 1), 1.0)


def wait_for(condition: str, is_true: Callable[[], object], seconds_max: float) -> float:
    """Wait until a condition is true; return the seconds, or raise TooSlowError.

    `seconds_max` is the limit on an idle machine.
    """
    began = time.monotonic()
    while not is_true():
        if (waited := time.monotonic() - began) > seconds_max * slack():
            raise TooSlowError(f"{condition}: not within {waited:.0f} s")
        time.sleep(POLL_SECONDS)
    return time.monotonic() - began


class Program:
    """One `headwater serve` or `headwater worker`."""

    def __init__(self, name: str, environment: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.environment = dict(environment)
        self.log = log
        # A socket that this process keeps and passes on, as `headwater up` does.
        self.listener: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        assert not self.running, f"{self.name} runs already"
        command, sockets = ["headwater", self.name], []
        if self.listener is not None:
            sockets = [self.listener.fileno()]
            arguments = [self.name, str(os.getpid()), str(self.log), *map(str, sockets)]
            command = ["headwater.cli.supervised", *arguments]
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *command],
                env=self.environment,
                pass_fds=sockets,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """Send kill -9 and wait for the end."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(END_SECONDS_MAX)

    def end(self) -> int:
        """Send SIGTERM, as an orchestrator does; return the exit code."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        """Wait for the end; return the exit code."""
        assert self._process is not None
        return self._process.wait(END_SECONDS_MAX * slack())

    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


@dataclass
class Installation:
    """An API and workers with a separate home."""

    home: Path
    port: int
    spool_path: Path
    environment: dict[str, str]
    api: Program
    worker: Program
    more_workers: list[Program] = field(default_factory=list)

    def another_worker(self) -> Program:
        program = Program(
            "worker",
            self.environment,
            self.home.parent / f"worker-{len(self.more_workers) + 2}.log",
        )
        self.more_workers.append(program)
        return program

    def ask(
        self,
        path: str,
        body: bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Answer:
        """Send one request on a new connection: GET, or POST if there is a body."""
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            sent = {"Content-Type": "application/json", **(headers or {})}
            connection.request("GET" if body is None else "POST", path, body, sent)
            answer = connection.getresponse()
            content = answer.read()
            return Answer(
                answer.status, dict(answer.getheaders()), content, time.monotonic() - began
            )
        finally:
            connection.close()

    def graphql(self, text: str, timeout: float = 30.0) -> Answer:
        return self.ask("/graphql", json.dumps({"query": text}).encode(), timeout=timeout)

    def alive(self) -> bool:
        try:
            return self.ask("/healthz", timeout=5).status == 200
        except OSError:
            return False

    def start_api(self) -> float:
        """Start the API and wait until it listens; return the seconds."""
        self.api.start()
        began = time.monotonic()
        while not self.alive():
            assert self.api.running, f"the API ended:\n{self.api.output()}"
            if time.monotonic() - began > START_SECONDS_MAX:
                raise TooSlowError(f"the API does not listen:\n{self.api.output()}")
            time.sleep(POLL_SECONDS)
        return time.monotonic() - began

    def metric(self, name: str) -> float:
        answer = self.ask("/metrics")
        assert answer.status == 200, answer.body
        for line in answer.body.decode().splitlines():
            if line.startswith(f"{name} "):
                return float(line.rpartition(" ")[2])
        raise KeyError(name)

    def records(self) -> dict[int, bytes]:
        """Return every event in the spool, by sequence number."""
        spool = Spool(self.spool_path)
        try:
            return {
                record.seq: record.body
                for record in spool.read(0, events_max=10**6, bytes_max=2**30)
            }
        finally:
            spool.close()

    def wait_folded(self, database: Database, seconds_max: float) -> Checkpoint:
        """Wait until every accepted event is in the graph or dead-lettered."""
        spool = Spool(self.spool_path)
        found = Checkpoint()

        def is_folded() -> bool:
            nonlocal found
            with suppress(UnavailableError):  # a Neo4j that has just started, on a busy machine
                found = read_checkpoint(database, spool.id)
            return found.position == spool.last()

        try:
            wait_for("everything folded", is_folded, seconds_max)
            return found
        finally:
            spool.close()

    def close(self) -> None:
        for program in (self.api, self.worker, *self.more_workers):
            # A paused process reacts only to SIGKILL.
            program.kill()

    def programs_with_tracebacks(self) -> list[str]:
        return [
            program.name
            for program in (self.api, self.worker, *self.more_workers)
            if "Traceback" in program.output()
        ]


@contextmanager
def installation(home: Path, neo4j: Neo4jServer, **settings: object) -> Iterator[Installation]:
    """Yield an installation that is not started; `settings` are those of Headwater, in lower
    case.
    """
    home.mkdir(parents=True, exist_ok=True)
    port = free_port()
    chosen = {
        "home": home,
        "port": port,
        "neo4j_uri": neo4j.uri,
        "neo4j_user": neo4j.user,
        "neo4j_password": neo4j.password,
        **settings,
    }
    surroundings = {
        name: value for name, value in os.environ.items() if not name.startswith("HEADWATER_")
    }
    environment = surroundings | {
        f"HEADWATER_{name.upper()}": str(value) for name, value in chosen.items()
    }
    installed = Installation(
        home=home,
        port=port,
        spool_path=Path(str(settings.get("spool", home / "spool.db"))),
        environment=environment,
        api=Program("serve", environment, home.parent / "serve.log"),
        worker=Program("worker", environment, home.parent / "worker.log"),
    )
    try:
        yield installed
    finally:
        installed.close()
