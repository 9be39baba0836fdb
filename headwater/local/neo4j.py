"""A managed Neo4j 5.26 in its own process.

`LocalNeo4j(home).start()` returns a running server: the running one of this home, whichever process
started it, or a new one. Its JVM outlives this process; `stop()` from any process ends it in order.
It listens on 127.0.0.1 only. A generated password is set before the first connection. Memory,
transaction time and transaction memory are limited. After a kill -9 it recovers. A home in use by
another server and a Bolt port of another program are refused.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from headwater.errors import DamagedDataError, HomeInUseError, ServerError
from headwater.local import process
from headwater.local.damage import is_damage, lacks_resources
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
from headwater.local.ports import (
    HOST,
    accepts_connections,
    free_port,
    port_taken,
    require_free_port,
)
from headwater.local.signals import delayed_signals
from headwater.local.startup import START_SECONDS_MAX, StartupWatch

USER = "neo4j"
STALL_SECONDS = 120.0
STOP_SECONDS_MAX = 20.0
KILL_SECONDS_MAX = 5.0
ANSWER_SECONDS_MAX = 5.0
AVAILABLE_POLL_MILLISECONDS = 1_000
_PORT_OPTION = "--bolt-port"
_SHOW_FAILURE = "SHOW DATABASE neo4j YIELD statusMessage"

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
        self._password_is_unset = False
        self._cancelled = threading.Event()

    def prepare(self) -> Running:
        """Fetch the jars, choose the port and the password, and start nothing.

        So the clients of the server can be started before it. A later `start` keeps the address.

        Returns:
            The address of the server; its pid is 0 unless it runs already.

        Raises:
            ServerError: The port is taken.
            HomeInUseError: Another server or process has the home.
            JarError: The jars cannot be fetched.
            JavaError: There is no Java 17 or 21.
        """
        ensure_jars(self._cache, self._progress, java=self._find_java())
        self.home.create()
        with self.home.locked(self._wait_seconds_max):
            running = self._find()
            if running:
                self.bolt_port = running.bolt_port
                return self._running(running, reused=True)
            self.home.refuse_foreign_server()
            require_free_port(self.bolt_port, _PORT_OPTION)
            # A restart must use the same port, because clients have its number.
            self.bolt_port = self.bolt_port or free_port()
            if not self.home.password():
                self._password_is_unset = not self.home.is_new
                self.home.new_password()
            return self._running(Server(0, self.bolt_port), reused=False)

    def cancel(self) -> None:
        """End a start that another thread waits for; each later start fails as well."""
        self._cancelled.set()

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
            return self._running(self._start_new(), reused=False)

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

    def kill(self) -> None:
        """Kill a server that does not answer; the next start recovers.

        Raises:
            HomeInUseError: Another process starts or stops the server.
        """
        with self.home.locked(self._wait_seconds_max):
            server = self.home.server()
            if server:
                process.kill(server.pid, self._mark, KILL_SECONDS_MAX)
                self._require_ended(server.pid)
            self.home.clear_server()

    def move_data(self) -> Path:
        """Move the data of this home away; the next start creates an empty database.

        Returns:
            The folder with the moved data.

        Raises:
            ServerError: The server runs, or there is no data.
            HomeInUseError: Another process starts or stops the server.
        """
        self.home.create()
        with self.home.locked(self._wait_seconds_max):
            server = self.home.server()
            if server and self._is_running(server.pid):
                raise ServerError(
                    f"Neo4j runs in {self.home.folder}, so its data cannot be moved",
                    hint="`headwater rebuild --erase` erases the graph of a running Neo4j.",
                )
            if self.home.is_new:
                raise ServerError(
                    f"there is no data of Neo4j in {self.home.folder}",
                    hint="Name its folder with --home.",
                )
            self.home.refuse_foreign_server()
            return self.home.move_data()

    @contextmanager
    def kept_stopped(self) -> Iterator[None]:
        """Let no process start the server of this home.

        Raises:
            HomeInUseError: The server runs, or another process starts or stops it.
        """
        self.home.create()
        with self.home.locked(self._wait_seconds_max):
            server = self.home.server()
            if server and self._is_running(server.pid):
                raise HomeInUseError(f"Neo4j runs in {self.home.folder}", hint="End it.")
            self.home.refuse_foreign_server()
            yield

    def status(self) -> Status:
        """Return the state of the server without changing it."""
        server = self.home.server()
        if server and server.bolt_port and self._is_running(server.pid):
            return Status(True, _uri(server.bolt_port), server.pid)
        return Status(False)

    def failure(self) -> str:
        """Return the reported failure of the database; empty if none comes in time."""
        server, address = self.home.server(), self.home.gateway()
        if not (address and server and server.dbms):
            return ""
        call = JavaCall(lambda: _read_failure(*address, server.dbms))
        if not call.wait(ANSWER_SECONDS_MAX):
            return ""
        try:
            return call.result()
        except (Py4JError, OSError):
            return ""

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
        pid = 0
        try:
            with delayed_signals():
                pid = process.start_detached(
                    [*command, MAIN_CLASS, "--enable-auth", "0"],
                    {**os.environ, "CLASSPATH": f"{pyspark_jar('py4j-*.jar')}:{classpath(folder)}"},
                    self.home.gateway_out,
                    self.home.jvm_log,
                )
            self.home.save_server(Server(pid, owner=self._owner))
            server = self._boot(pid)
            self.home.save_server(server)
        except BaseException:
            # Also after Ctrl-C: leave no process that is not a server.
            if pid:
                self._terminate(pid, KILL_SECONDS_MAX)
            self.home.clear_server()
            raise
        self._is_own = True
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
        if not is_new and (not stored or self._password_is_unset):
            _change_password(java, dbms, password)
            self._password_is_unset = False
        database = dbms.database("neo4j")
        self._wait_available(dbms, database)
        register = java.java.lang.Class.forName(
            "org.neo4j.configuration.connectors.ConnectorPortRegister"
        )
        ports = database.getDependencyResolver().resolveDependency(register)
        bolt = ports.getLocalAddress(java.org.neo4j.configuration.connectors.ConnectorType.BOLT)
        return Server(pid, bolt.getPort(), dbms._target_id, self._owner)

    def _wait_available(self, dbms: Any, database: Any) -> None:
        """Wait until the database takes queries. Raise the error of a database that failed."""
        deadline = time.monotonic() + START_SECONDS_MAX
        while not database.isAvailable(AVAILABLE_POLL_MILLISECONDS):
            if failure := _failure_of_database(dbms):
                raise self._data_error(failure)
            if time.monotonic() > deadline:
                raise ServerError(
                    "Neo4j's database does not become available", hint=self._log_hint()
                )

    def _data_error(self, java_error: str) -> ServerError:
        if lacks_resources(java_error):
            return ServerError(f"Neo4j did not start: {java_error}", hint=self._log_hint())
        return DamagedDataError(
            f"Neo4j cannot read its data in {self.home.folder}: {java_error}",
            hint="`headwater rebuild --remove-data` moves the data away and builds the graph "
            "from the events again.",
        )

    def _check_starting(self, pid: int, watch: StartupWatch) -> None:
        if self._cancelled.is_set():
            raise ServerError("the start of Neo4j was cancelled")
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
        if is_damage(java_error):
            return self._data_error(java_error.splitlines()[-1])
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


def _read_failure(port: int, token: str, dbms: str) -> str:
    with closing(connect_gateway(port, token)) as gateway:
        return _failure_of_database(JavaObject(dbms, gateway._gateway_client))


def _failure_of_database(dbms: Any) -> str:
    """Return why the database failed to start; empty while it starts."""
    transaction = dbms.database("system").beginTx()
    try:
        rows = transaction.execute(_SHOW_FAILURE)
        row = rows.next() if rows.hasNext() else {}
        return str(row.get("statusMessage") or "")
    finally:
        transaction.close()


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
