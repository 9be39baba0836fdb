"""The folder of one managed server: its data, its logs, and the files by which it is found again.

    password      password of the user `neo4j`, generated, 0600
    server.json   pid, Bolt port and address of the running server, 0600; absent when stopped
    gateway.out   port and token of the JVM's gateway, 0600
    server.lock   locked (flock) while a process starts or stops the server
    neo4j.conf    the settings of the last start
    data/  logs/
    data.damaged-TIME/   data that Neo4j could not read, moved away

Files are replaced atomically, and links in the place of the lock and of partial files are not
followed. Only the owner can read the folder. A home that another process starts or stops is
refused, and so is a store that a server from elsewhere holds.
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
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from headwater.errors import HomeInUseError, ServerError

LOCK_POLL_SECONDS = 0.1
STORE_SECONDS_MAX = 5.0
LOG_LINES_MAX = 15
PASSWORD_BYTES = 24


@dataclass(frozen=True)
class Server:
    """A started JVM.

    `dbms` is the id of Neo4j's object in the JVM; until Neo4j is ready it is empty and the port 0.
    `owner` names the kind of program that ends the server when that program itself ends.
    """

    pid: int
    bolt_port: int = 0
    dbms: str = ""
    owner: str = ""


class Home:
    """The folder of one managed server."""

    def __init__(self, folder: Path, *, program: str = "Neo4j") -> None:
        """Name the folder; nothing is created yet.

        Args:
            folder: The folder; `~` is expanded.
            program: The name of the server, for errors.
        """
        self.program = program
        self.folder = folder.expanduser().resolve()
        self.gateway_out = self.folder / "gateway.out"
        self.jvm_log = self.folder / "logs" / "jvm.log"
        self.conf = self.folder / "neo4j.conf"
        self._password = self.folder / "password"
        self._server = self.folder / "server.json"

    @property
    def is_new(self) -> bool:
        """Return True if Neo4j has never created its databases here."""
        return not (self.folder / "data" / "databases" / "system").exists()

    @property
    def logs(self) -> list[Path]:
        """Return the files that grow while the server starts."""
        return [self.gateway_out, self.jvm_log, self.jvm_log.with_name("debug.log")]

    def create(self) -> None:
        """Create the folder. Raises ServerError if that is impossible."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.jvm_log.parent.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise ServerError(
                f"{self.folder} cannot be a home: {error.strerror}", hint="Name another --home."
            ) from error

    @contextmanager
    def locked(self, stall_seconds: float) -> Iterator[None]:
        """Hold the lock of this home while a server is started or stopped.

        Args:
            stall_seconds: The longest wait for another process whose server writes no log output,
                in seconds.

        Raises:
            HomeInUseError: Another process still holds the lock.
            ServerError: The lock file cannot be opened, for example because it is a link.
        """
        deadline = time.monotonic() + stall_seconds
        sizes = self._log_sizes()
        with self._open_lock() as lock:
            while not _try_lock(lock.fileno()):
                if (new_sizes := self._log_sizes()) != sizes:
                    sizes, deadline = new_sizes, time.monotonic() + stall_seconds
                if time.monotonic() > deadline:
                    raise HomeInUseError(
                        f"another process is starting or stopping the {self.program} "
                        f"in {self.folder}",
                        hint="Wait until it has finished, or name another --home.",
                    )
                time.sleep(LOCK_POLL_SECONDS)
            yield

    def _open_lock(self) -> IO[bytes]:
        path = self.folder / "server.lock"
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise ServerError(
                f"the lock file {path} cannot be opened: {error.strerror}",
                hint="Make it a regular file that you can write, or remove it.",
            ) from error
        return os.fdopen(descriptor, "wb")

    def _log_sizes(self) -> list[int]:
        return [file.stat().st_size for file in self.logs if file.exists()]

    def refuse_foreign_server(self) -> None:
        """Raise HomeInUseError if an unknown Neo4j holds the store, which Neo4j itself locks."""
        store_lock = self.folder / "data" / "databases" / "store_lock"
        if not store_lock.exists():
            return
        deadline = time.monotonic() + STORE_SECONDS_MAX
        with store_lock.open("r+") as file:
            while not _store_is_free(file.fileno()):
                # After a kill, the kernel takes a moment to close the files of the server.
                if time.monotonic() > deadline:
                    raise HomeInUseError(
                        f"a Neo4j that was not started from here holds the data in {self.folder}",
                        hint="Stop that server, or name another --home.",
                    )
                time.sleep(LOCK_POLL_SECONDS)

    def password(self) -> str | None:
        """Return the password of the user `neo4j`; None if there is none yet."""
        try:
            return self._password.read_text().strip() or None
        except FileNotFoundError:
            return None

    def new_password(self) -> str:
        """Generate, store and return a password."""
        password = secrets.token_urlsafe(PASSWORD_BYTES)
        write_private(self._password, password + "\n")
        return password

    def server(self) -> Server | None:
        """Return the last started server; None if it was stopped."""
        try:
            return Server(**json.loads(self._server.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def save_server(self, server: Server) -> None:
        """Store the address of a started server."""
        write_private(self._server, json.dumps(asdict(server)) + "\n")

    def clear_server(self) -> None:
        """Remove the address of a stopped server."""
        self._server.unlink(missing_ok=True)
        self.gateway_out.unlink(missing_ok=True)

    def gateway(self) -> tuple[int, str] | None:
        """Return port and token of py4j's GatewayServer, which it prints when it is ready."""
        try:
            port, token, *_ = self.gateway_out.read_text().split("\n")
            return int(port), token
        except (OSError, ValueError):
            return None

    def move_data(self) -> Path:
        """Move the data of the stopped server away, so that the next start creates an empty one.

        Return the new folder.
        """
        moved = self.folder / f"data.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S}Z"
        (self.folder / "data").rename(moved)
        return moved

    def log_tail(self) -> str:
        """Return the last lines of the JVM's error output, else of Neo4j's own log."""
        for log in (self.jvm_log, self.folder / "logs" / "debug.log"):
            if log.exists() and (text := log.read_text(errors="replace").strip()):
                return "\n".join(text.splitlines()[-LOG_LINES_MAX:])
        return ""


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _store_is_free(descriptor: int) -> bool:
    """Return True if no JVM has the lock: Java uses POSIX record locks, which `lockf` tests.

    The lock that `lockf` takes ends when the caller closes the file.
    """
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def write_private(file: Path, text: str) -> None:
    """Replace a file atomically by one that only the owner can read. Follow no link."""
    partial = file.with_name(f".{file.name}-{os.getpid()}")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    partial.replace(file)
