"""The folder that is one local Neo4j: its data, its logs, and the files by which it is found again.

    password      of the user `neo4j`, generated, 0600
    server.json   pid, bolt port and how to reach the server while it runs, 0600; absent when stopped
    gateway.out   port and token of the JVM's gateway, 0600
    server.lock   locked (flock) while some process starts or stops the server
    neo4j.conf    what the server was last started with      data/  logs/

Promises: files are replaced whole; the folder and all secrets are readable by their owner only.
Refuses: a home that another process is busy with, or whose store a server not started from here holds.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from headwater.errors import HomeInUseError, ServerError

lock_poll_seconds = 0.1
store_seconds_max = 5.0
log_lines_max = 15
password_bytes = 24


@dataclass(frozen=True)
class Server:
    """A started JVM. `dbms` is the id of Neo4j's object in it; empty, with port 0, until it is ready."""

    pid: int
    bolt_port: int = 0
    dbms: str = ""


class Home:
    def __init__(self, folder: Path, *, program: str = "Neo4j") -> None:
        self.program = program
        self.folder = folder.expanduser().resolve()
        self.gateway_out = self.folder / "gateway.out"
        self.jvm_log = self.folder / "logs" / "jvm.log"
        self.conf = self.folder / "neo4j.conf"
        self._password = self.folder / "password"
        self._server = self.folder / "server.json"

    @property
    def is_new(self) -> bool:
        return not (self.folder / "data" / "databases" / "system").exists()

    def make(self) -> None:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.jvm_log.parent.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise ServerError(
                f"{self.folder} can not be a home: {error}", hint="Name another --home."
            ) from error

    @contextmanager
    def locked(self, seconds_max: float) -> Iterator[None]:
        deadline = time.monotonic() + seconds_max
        with (self.folder / "server.lock").open("w") as held:
            while not _locked(held.fileno()):
                if time.monotonic() > deadline:
                    raise HomeInUseError(
                        f"Another process is starting or stopping the {self.program} in {self.folder}.",
                        hint="Wait for it to finish, or name another --home.",
                    )
                time.sleep(lock_poll_seconds)
            yield

    def refuse_foreign_server(self) -> None:
        """Neo4j itself locks its store; a store that is locked while we know of no server is someone else's."""
        store_lock = self.folder / "data" / "databases" / "store_lock"
        if not store_lock.exists():
            return
        deadline = time.monotonic() + store_seconds_max
        with store_lock.open("r+") as file:
            while not _store_is_free(file.fileno()):
                # The kernel takes a moment to close the files of a server that was killed just now.
                if time.monotonic() > deadline:
                    raise HomeInUseError(
                        f"The data in {self.folder} is held by a Neo4j that was not started from here.",
                        hint="Stop that server, or name another --home.",
                    )
                time.sleep(lock_poll_seconds)

    def password(self) -> str | None:
        try:
            return self._password.read_text().strip() or None
        except FileNotFoundError:
            return None

    def new_password(self) -> str:
        password = secrets.token_urlsafe(password_bytes)
        _write_private(self._password, password + "\n")
        return password

    def server(self) -> Server | None:
        try:
            return Server(**json.loads(self._server.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def remember(self, server: Server) -> None:
        _write_private(self._server, json.dumps(asdict(server)) + "\n")

    def forget(self) -> None:
        self._server.unlink(missing_ok=True)
        self.gateway_out.unlink(missing_ok=True)

    def gateway(self) -> tuple[int, str] | None:
        """What py4j's GatewayServer prints when it is ready: its port, then its token."""
        try:
            port, token, *_ = self.gateway_out.read_text().split("\n")
            return int(port), token
        except (OSError, ValueError):
            return None

    def log_tail(self) -> str:
        """The end of what the JVM complained of, else of Neo4j's own log."""
        for log in (self.jvm_log, self.folder / "logs" / "debug.log"):
            if log.exists() and (text := log.read_text(errors="replace").strip()):
                return "\n".join(text.splitlines()[-log_lines_max:])
        return ""


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _store_is_free(descriptor: int) -> bool:
    """Java locks with POSIX record locks, which is what lockf asks for; they end with the block above."""
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _write_private(file: Path, text: str) -> None:
    fresh = file.with_name(f".{file.name}-{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(file)
