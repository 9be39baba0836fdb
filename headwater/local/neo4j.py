"""A managed Neo4j 5.26 in its own process.

`LocalNeo4j(home).start()` returns a running server: the running one of this home, whichever process
started it, or a new one. Its JVM outlives this process; `stop()` from any process ends it in order.
It listens on 127.0.0.1 only. A generated password is set before the first connection. Memory,
transaction time and transaction memory are limited. After a kill -9 it recovers. A home in use by
another server and a Bolt port of another program are refused.
"""

from __future__ import annotations

import os
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from headwater.errors import HomeInUseError, ServerError
from headwater.local import process
from headwater.local.gateway import (
    MAIN_CLASS,
    JavaCall,
    connect_gateway,
    java_error_text,
    pyspark_jar,
)
from headwater.local.home import Home, Server
from headwater.local.jars import Progress, classpath, ensure_jars
from headwater.local.java import Java
from headwater.local.managed_server import ManagedServer
from headwater.local.neo4j_settings import Sizes, neo4j_conf
from headwater.local.ports import HOST, accepts_connections, port_taken, require_free_port
from headwater.local.startup import START_SECONDS_MAX, StartupWatch

USER = "neo4j"
STALL_SECONDS = 120.0
STOP_SECONDS_MAX = 20.0
KILL_SECONDS_MAX = 5.0
ANSWER_SECONDS_MAX = 5.0
_PORT_OPTION = "--bolt-port"

_JVM_OPTIONS = (
    # The collector with the smallest footprint, since Spark runs on the same machine.
    "-XX:+UseSerialGC",
    # A database without memory must end, so that it is restarted.
    "-XX:+ExitOnOutOfMemoryError",
    "-Dfile.encoding=UTF-8",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)


@dataclass(frozen=True)
class Running:
    """A running Neo4j: its address, credentials and pid, and whether it ran before."""

    uri: str
    user: str
    password: str = field(repr=False)
    pid: int
    reused: bool


@dataclass(frozen=True)
class Status:
    """The state of a managed Neo4j."""

    running: bool
    uri: str = ""
    pid: int = 0


class LocalNeo4j(ManagedServer[Running]):
    """The managed Neo4j of one home."""

    def __init__(
        self,
        home: Path,
        bolt_port: int = 7687,
        *,
        sizes: Sizes | None = None,
        cache: Path | None = None,
        java: Java | None = None,
        progress: Progress | None = None,
        wait_seconds_max: float = STALL_SECONDS,
        owner: str = "",
    ) -> None:
        """Prepare a server; `start` starts it.

        Args:
            home: The folder of the server; it is created.
            bolt_port: The port of Bolt; 0 takes any free one.
            sizes: The limits of memory and transaction time; None are the defaults.
            cache: The folder of fetched jars; None is the user's cache.
            java: The Java to run; None finds one.
            progress: Called with the number of jars done and in all.
            wait_seconds_max: The longest wait in seconds for another process that starts or stops
                this server; it begins again whenever that server writes to its logs.
            owner: The name of a program that has the home for itself, for example `up`. A server
                that an earlier, killed process of that program left behind belongs to this one.
        """
        super().__init__(Home(home), "headwater.home", cache=cache, java=java, progress=progress)
        self.bolt_port = bolt_port
        self.sizes = sizes or Sizes()
        self._wait_seconds_max = wait_seconds_max
        self._owner = owner

    def start(self) -> Running:
        """Find the running server of this home, or start one.

        Returns:
            The running server.

        Raises:
            ServerError: The server does not start, or its port is taken.
            HomeInUseError: Another server or process has the home.
            JarError: The jars cannot be fetched.
            JavaError: There is no Java 17 or 21.
        """
        self.home.create()
        with self.home.locked(self._wait_seconds_max):
            running = self._find()
            if running:
                self._is_own |= bool(self._owner) and running.owner == self._owner
                return self._running(running, reused=True)
            self.home.refuse_foreign_server()
            require_free_port(self.bolt_port, _PORT_OPTION)
            started = self._start_new()
            self._is_own = True
            return self._running(started, reused=False)

    def stop(self) -> None:
        """End the server of this home in order, whichever process started it.

        Raises:
            ServerError: The server does not end.
            HomeInUseError: Another process starts or stops the server.
        """
        if not self.home.folder.exists():
            return
        with self.home.locked(self._wait_seconds_max):
            server = self.home.server()
            if server and self._is_running(server.pid):
                self._shut_down(server)
                self._terminate(server.pid, KILL_SECONDS_MAX)
                self._require_ended(server.pid)
            self.home.clear_server()
        self._is_own = False

    def status(self) -> Status:
        """Return the state of the server without changing it."""
        server = self.home.server()
        if server and server.bolt_port and self._is_running(server.pid):
            return Status(True, _uri(server.bolt_port), server.pid)
        return Status(False)

    def _running(self, server: Server, *, reused: bool) -> Running:
        return Running(_uri(server.bolt_port), USER, self.home.password() or "", server.pid, reused)

    def _find(self) -> Server | None:
        """Return the server of this home if it works; end one that does not."""
        server = self.home.server()
        if server and self._is_running(server.pid):
            has_address = server.bolt_port and self.home.password()
            if has_address and accepts_connections(server.bolt_port, ANSWER_SECONDS_MAX):
                return server
            self._terminate(server.pid, KILL_SECONDS_MAX)
        self.home.clear_server()
        return None

    def _start_new(self) -> Server:
        java = self._find_java()
        folder = ensure_jars(self._cache, self._progress, java=java)
        self.home.conf.write_text(neo4j_conf(f"{HOST}:{self.bolt_port}", self.sizes))
        command = [
            str(java.program),
            f"-Xmx{self.sizes.heap_mb}m",
            *_JVM_OPTIONS,
            self._mark.strip(),
        ]
        pid = process.start_detached(
            [*command, MAIN_CLASS, "--enable-auth", "0"],
            {**os.environ, "CLASSPATH": f"{pyspark_jar('py4j-*.jar')}:{classpath(folder)}"},
            self.home.gateway_out,
            self.home.jvm_log,
        )
        try:
            self.home.save_server(Server(pid, owner=self._owner))
            server = self._boot(pid)
            self.home.save_server(server)
        except BaseException:
            # Also after Ctrl-C: leave no process that is not a server.
            self._terminate(pid, KILL_SECONDS_MAX)
            self.home.clear_server()
            raise
        return server

    def _boot(self, pid: int) -> Server:
        watch = StartupWatch(pid, self.home.logs, STALL_SECONDS)
        while not (address := self.home.gateway()):
            self._check_starting(pid, watch)
            time.sleep(process.POLL_SECONDS)
        call = JavaCall(lambda: self._build(pid, *address))
        while not call.wait(process.POLL_SECONDS):
            self._check_starting(pid, watch)
        return call.result()

    def _build(self, pid: int, port: int, token: str) -> Server:
        with closing(connect_gateway(port, token)) as gateway:
            try:
                return self._build_in(gateway, pid)
            except Py4JError as error:
                raise self._boot_error(java_error_text(error)) from None

    def _build_in(self, gateway: Any, pid: int) -> Server:
        java = gateway.jvm
        folder = java.java.io.File(str(self.home.folder)).toPath()
        stored, is_new = self.home.password(), self.home.is_new
        password = stored or self.home.new_password()
        if is_new:
            _set_first_password(gateway, folder, password)
        conf = java.java.io.File(str(self.home.conf)).toPath()
        dbms = (
            java.org.neo4j.dbms.api.DatabaseManagementServiceBuilder(folder)
            .loadPropertiesFromFile(conf)
            .build()
        )
        if not stored and not is_new:
            _change_password(java, dbms, password)
        database = dbms.database("neo4j")
        if not database.isAvailable(int(START_SECONDS_MAX * 1000)):
            raise ServerError("Neo4j's database does not become available", hint=self._log_hint())
        register = java.java.lang.Class.forName(
            "org.neo4j.configuration.connectors.ConnectorPortRegister"
        )
        ports = database.getDependencyResolver().resolveDependency(register)
        bolt = ports.getLocalAddress(java.org.neo4j.configuration.connectors.ConnectorType.BOLT)
        return Server(pid, bolt.getPort(), dbms._target_id, self._owner)

    def _check_starting(self, pid: int, watch: StartupWatch) -> None:
        if not self._is_running(pid):
            raise self._end_error()
        if watch.is_stalled():
            raise self._stall_error(STALL_SECONDS)

    def _boot_error(self, java_error: str) -> ServerError | HomeInUseError:
        if "FileLockException" in java_error:
            return HomeInUseError(
                f"another Neo4j holds the data in {self.home.folder}",
                hint="Stop it, or name another --home.",
            )
        if "PortBindException" in java_error or "Address already in use" in java_error:
            return port_taken(self.bolt_port, _PORT_OPTION)
        return ServerError(
            f"Neo4j did not start: {java_error}\n{self.home.log_tail()}".strip(),
            hint=self._log_hint(),
        )

    def _shut_down(self, server: Server) -> None:
        """Checkpoint and close; if that fails, the caller may kill, and the next start recovers."""
        address = self.home.gateway()
        if not (address and server.dbms):
            return
        call = JavaCall(lambda: _close(*address, server.dbms))
        call.wait(STOP_SECONDS_MAX)


def _uri(port: int) -> str:
    return f"bolt://{HOST}:{port}"


def _close(port: int, token: str, dbms: str) -> None:
    with closing(connect_gateway(port, token)) as gateway:
        JavaObject(dbms, gateway._gateway_client).shutdown()


def _set_first_password(gateway: Any, folder: Any, password: str) -> None:
    """Set the password as `neo4j-admin dbms set-initial-password` does, before the first start."""
    java = gateway.jvm
    context = java.org.neo4j.cli.ExecutionContext(folder, folder.resolve("conf"))
    command = java.org.neo4j.commandline.admin.security.SetInitialPasswordCommand(context)
    arguments = gateway.new_array(java.java.lang.String, 2)
    # A password may begin with a dash.
    arguments[0], arguments[1] = "--", password
    if java.picocli.CommandLine(command).execute(arguments) != 0:
        raise ServerError(
            "Neo4j's first password cannot be set", hint="Remove data/dbms in the home folder."
        )


def _change_password(java: Any, dbms: Any, password: str) -> None:
    """Set a new password after the loss of the password file: the home's owner owns the server."""
    parameters = java.java.util.HashMap()
    parameters.put("password", password)
    change = f"ALTER USER {USER} SET PASSWORD $password CHANGE NOT REQUIRED"
    dbms.database("system").executeTransactionally(change, parameters)
