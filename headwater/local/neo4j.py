"""A managed Neo4j 5.26 in a process of its own.

`LocalNeo4j(home).start()` gives a running server: the one that already runs from this home, whichever
process started it, or a new one. Its JVM survives us; `stop()` from any process ends it in order.
Promises: listens on 127.0.0.1 only; a generated password is set before the first connection is
accepted; memory, transaction time and transaction memory are bounded; after a kill -9 it recovers.
Refuses: a home in use by another server, a bolt port that another program has.
"""

from __future__ import annotations

import errno
import os
import socket
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from headwater.errors import HomeInUseError, ServerError
from headwater.local import process
from headwater.local.gateway import Call, connect, java_said, main_class, pyspark_jar
from headwater.local.home import Home, Server
from headwater.local.jars import Progress, classpath, ensure_jars
from headwater.local.java import Java, find_java
from headwater.local.neo4j_settings import Sizes, neo4j_conf

user = "neo4j"
host = "127.0.0.1"
start_seconds_max = 120.0
stop_seconds_max = 20.0
kill_seconds_max = 5.0
answer_seconds_max = 5.0

jvm_options = (
    # One small heap on a machine that also runs Spark: the collector with the smallest footprint.
    "-XX:+UseSerialGC",
    # A database that is out of memory is worth less than one that is restarted.
    "-XX:+ExitOnOutOfMemoryError",
    "-Dfile.encoding=UTF-8",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)


@dataclass(frozen=True)
class Running:
    uri: str
    user: str
    password: str = field(repr=False)
    pid: int
    reused: bool


@dataclass(frozen=True)
class Status:
    running: bool
    uri: str = ""
    pid: int = 0


class LocalNeo4j:
    def __init__(
        self,
        home: Path,
        bolt_port: int = 7687,
        *,
        sizes: Sizes | None = None,
        cache: Path | None = None,
        java: Java | None = None,
        progress: Progress | None = None,
        wait_seconds_max: float = start_seconds_max,
    ) -> None:
        """`bolt_port` 0 takes any free one. `wait_seconds_max` is for another process busy with this home."""
        self.home = Home(home)
        self.bolt_port = bolt_port
        self.sizes = sizes or Sizes()
        self._cache = cache
        self._java = java
        self._progress = progress
        self._wait_seconds_max = wait_seconds_max
        # The home is on the command line of the JVM: that is how a pid is known to be ours.
        self._mark = f"-Dheadwater.home={self.home.folder} "
        self._started = False

    def start(self) -> Running:
        self.home.make()
        with self.home.locked(self._wait_seconds_max):
            found = self._find()
            if found:
                return self._running(found, reused=True)
            self.home.refuse_foreign_server()
            refuse_taken_port(self.bolt_port)
            started = self._start_new()
            self._started = True
            return self._running(started, reused=False)

    def stop(self) -> None:
        """End the server of this home, if there is one, whoever started it."""
        if not self.home.folder.exists():
            return
        with self.home.locked(self._wait_seconds_max):
            server = self.home.server()
            if server and process.is_running(server.pid, self._mark):
                self._shut_down(server)
                process.end(server.pid, self._mark, kill_seconds_max)
                if process.is_running(server.pid, self._mark):
                    raise ServerError(
                        f"Neo4j (pid {server.pid}) does not end.", hint=f"kill -9 {server.pid}"
                    )
            self.home.forget()
        self._started = False

    def status(self) -> Status:
        server = self.home.server()
        if server and server.bolt_port and process.is_running(server.pid, self._mark):
            return Status(True, _uri(server.bolt_port), server.pid)
        return Status(False)

    def __enter__(self) -> Running:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stops what this object started; a server that was found running goes on."""
        if self._started:
            self.stop()

    def _running(self, server: Server, *, reused: bool) -> Running:
        return Running(_uri(server.bolt_port), user, self.home.password() or "", server.pid, reused)

    def _find(self) -> Server | None:
        """The server of this home when it works. One that does not (its starter died, it hangs) is ended."""
        server = self.home.server()
        if server and process.is_running(server.pid, self._mark):
            if server.bolt_port and self.home.password() and _accepts(server.bolt_port):
                return server
            process.end(server.pid, self._mark, kill_seconds_max)
        self.home.forget()
        return None

    def _start_new(self) -> Server:
        java = self._java or find_java()
        folder = ensure_jars(self._cache, *([self._progress] if self._progress else []), java=java)
        self.home.conf.write_text(neo4j_conf(f"{host}:{self.bolt_port}", self.sizes))
        command = [
            str(java.program),
            f"-Xmx{self.sizes.heap_mb}m",
            *jvm_options,
            self._mark.strip(),
        ]
        pid = process.start_detached(
            [*command, main_class, "--enable-auth", "0"],
            {**os.environ, "CLASSPATH": f"{pyspark_jar('py4j-*.jar')}:{classpath(folder)}"},
            self.home.gateway_out,
            self.home.jvm_log,
        )
        try:
            self.home.remember(Server(pid))
            server = self._boot(pid)
            self.home.remember(server)
        except BaseException:
            # Ctrl-C included: what did not become a server must not stay behind as a process.
            process.end(pid, self._mark, kill_seconds_max)
            self.home.forget()
            raise
        return server

    def _boot(self, pid: int) -> Server:
        deadline = time.monotonic() + start_seconds_max
        while not (address := self.home.gateway()):
            self._still_starting(pid, deadline)
            time.sleep(process.poll_seconds)
        call = Call(lambda: self._build(pid, *address))
        while not call.done(process.poll_seconds):
            self._still_starting(pid, deadline)
        return call.result()

    def _build(self, pid: int, port: int, token: str) -> Server:
        with closing(connect(port, token)) as gateway:
            try:
                return self._build_in(gateway, pid)
            except Py4JError as error:
                raise self._boot_error(java_said(error)) from None

    def _build_in(self, gateway: Any, pid: int) -> Server:
        java = gateway.jvm
        folder = java.java.io.File(str(self.home.folder)).toPath()
        known, is_new = self.home.password(), self.home.is_new
        password = known or self.home.new_password()
        if is_new:
            _set_first_password(gateway, folder, password)
        conf = java.java.io.File(str(self.home.conf)).toPath()
        dbms = (
            java.org.neo4j.dbms.api.DatabaseManagementServiceBuilder(folder)
            .loadPropertiesFromFile(conf)
            .build()
        )
        if not known and not is_new:
            _change_password(java, dbms, password)
        database = dbms.database("neo4j")
        if not database.isAvailable(int(start_seconds_max * 1000)):
            raise ServerError("Neo4j's database does not become available.", hint=self._see_logs())
        register = java.java.lang.Class.forName(
            "org.neo4j.configuration.connectors.ConnectorPortRegister"
        )
        ports = database.getDependencyResolver().resolveDependency(register)
        bolt = ports.getLocalAddress(java.org.neo4j.configuration.connectors.ConnectorType.BOLT)
        return Server(pid, bolt.getPort(), dbms._target_id)

    def _still_starting(self, pid: int, deadline: float) -> None:
        if not process.is_running(pid, self._mark):
            raise ServerError(
                f"Neo4j ended while it started.\n{self.home.log_tail()}", hint=self._see_logs()
            )
        if time.monotonic() > deadline:
            raise ServerError(
                f"Neo4j did not start within {start_seconds_max:.0f} s.\n{self.home.log_tail()}",
                hint=self._see_logs(),
            )

    def _boot_error(self, said: str) -> ServerError | HomeInUseError:
        if "FileLockException" in said:
            return HomeInUseError(
                f"The data in {self.home.folder} is held by another Neo4j.",
                hint="Stop it, or name another --home.",
            )
        if "PortBindException" in said or "Address already in use" in said:
            return _port_taken(self.bolt_port)
        return ServerError(
            f"Neo4j did not start: {said}\n{self.home.log_tail()}".strip(), hint=self._see_logs()
        )

    def _see_logs(self) -> str:
        return f"See {self.home.jvm_log.parent}; `headwater doctor` checks Java, jars and ports."

    def _shut_down(self, server: Server) -> None:
        """Checkpoint and close. When that fails or hangs, ending the process is safe: the next start recovers."""
        address = self.home.gateway()
        if not (address and server.dbms):
            return
        call = Call(lambda: _close(*address, server.dbms))
        call.done(stop_seconds_max)


def refuse_taken_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise _port_taken(port) from error
            raise ServerError(
                f"Port {port} can not be used: {error}", hint="Choose another --bolt-port."
            ) from error


def _port_taken(port: int) -> ServerError:
    return ServerError(
        f"Port {port} is taken by another program.",
        hint="Choose another with --bolt-port (0 takes any free one).",
    )


def _accepts(port: int) -> bool:
    try:
        socket.create_connection((host, port), answer_seconds_max).close()
    except OSError:
        return False
    return True


def _uri(port: int) -> str:
    return f"bolt://{host}:{port}"


def _close(port: int, token: str, dbms: str) -> None:
    with closing(connect(port, token)) as gateway:
        JavaObject(dbms, gateway._gateway_client).shutdown()


def _set_first_password(gateway: Any, folder: Any, password: str) -> None:
    """What `neo4j-admin dbms set-initial-password` does: there is never a moment with the default password."""
    java = gateway.jvm
    context = java.org.neo4j.cli.ExecutionContext(folder, folder.resolve("conf"))
    command = java.org.neo4j.commandline.admin.security.SetInitialPasswordCommand(context)
    arguments = gateway.new_array(java.java.lang.String, 2)
    # A password may begin with a dash.
    arguments[0], arguments[1] = "--", password
    if java.picocli.CommandLine(command).execute(arguments) != 0:
        raise ServerError(
            "Neo4j's first password could not be set.", hint="Remove the home folder's data/dbms."
        )


def _change_password(java: Any, dbms: Any, password: str) -> None:
    """The password file was lost: whoever owns the home folder owns the server, so set a new one."""
    parameters = java.java.util.HashMap()
    parameters.put("password", password)
    change = f"ALTER USER {user} SET PASSWORD $password CHANGE NOT REQUIRED"
    dbms.database("system").executeTransactionally(change, parameters)
