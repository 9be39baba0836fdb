"""A JVM that Python can talk to: py4j's own `GatewayServer`, with a token, on loopback.

Neo4j publishes no main class that starts a server, and Ivy's command line does one thing at a time;
both have plain Java classes that are easily driven from here. py4j and Ivy come inside pyspark.
Promises: objects stay alive in the JVM until it ends, so another process may use them by their id;
a broken connection is an exception and never a line in somebody's log.
"""

from __future__ import annotations

import importlib.util
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from py4j.java_gateway import GatewayClient, GatewayConnection, GatewayParameters, JavaGateway  # type: ignore[import-untyped]
from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from headwater.errors import JarError
from headwater.local.java import Java

T = TypeVar("T")

main_class = "py4j.GatewayServer"
stop_seconds_max = 5.0


class _Client(GatewayClient):  # type: ignore[misc]
    """py4j's client writes a traceback to the root logger whenever a JVM goes away; ours only raises."""

    def send_command(self, command: str, retry: bool = True, binary: bool = False) -> Any:  # noqa: ARG002
        connection = self._get_connection()
        try:
            response = connection.send_command(command)
        except BaseException:
            connection.close(True)
            raise
        self._give_back_connection(connection)
        return response

    def _create_connection(self) -> Any:
        connection = GatewayConnection(self.gateway_parameters, self.gateway_property)
        try:
            connection.start()
        except BaseException:
            connection.close()
            raise
        return connection

    def _give_back_connection(self, connection: Any) -> None:
        """A call that ends after `close` must not leave its socket behind."""
        self.deque.append(connection)
        if not self.is_connected:
            self.close()

    def close(self) -> None:
        self.is_connected = False
        super().close()


class _Gateway(JavaGateway):  # type: ignore[misc]
    def _create_gateway_client(self) -> GatewayClient:
        return _Client(gateway_parameters=self.gateway_parameters)


def connect(port: int, token: str) -> Any:
    # Without memory management an object lives until its JVM does, whichever process made it.
    return _Gateway(
        gateway_parameters=GatewayParameters(
            port=port, auth_token=token, enable_memory_management=False
        )
    )


def pyspark_jar(pattern: str) -> Path:
    """A jar shipped inside pyspark, found without importing pyspark (which takes a second)."""
    spec = importlib.util.find_spec("pyspark")
    for place in (spec.submodule_search_locations or []) if spec else []:
        for jar in sorted(Path(place, "jars").glob(pattern)):
            return jar
    raise JarError(f"pyspark's {pattern} is not installed.", hint="pip install 'headwater[local]'")


@contextmanager
def helper_jvm(java: Java, classpath: list[Path]) -> Iterator[Any]:
    """A short-lived JVM: it ends with this block, or with this process, whichever is first."""
    command = [str(java.program), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]
    command += [
        ":".join(map(str, classpath)),
        main_class,
        "--enable-auth",
        "--die-on-broken-pipe",
        "0",
    ]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    gateway = None
    try:
        port, token = process.stdout.readline(), process.stdout.readline().decode().strip()
        if not token:
            raise JarError(
                "Java could not be started to fetch jars.", hint="Run `headwater doctor`."
            )
        gateway = connect(int(port), token)
        yield gateway
    finally:
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(stop_seconds_max)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if gateway is not None:
            gateway.close()


def java_said(error: Py4JError) -> str:
    """The Java exception with its causes, one a line. To be asked while the JVM lives: py4j fetches it then."""
    try:
        lines = str(error).splitlines()
    except Py4JError:
        return "the JVM ended"
    causes = [
        line.removeprefix("Caused by:").lstrip(": ")
        for line in lines
        if line.startswith((": ", "Caused by:"))
    ]
    return "\n".join(dict.fromkeys(causes)) or lines[0]


class Call(Generic[T]):
    """A call into the JVM that is waited for with a limit; py4j itself would wait without end."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._results: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as error:
            self._error = error

    def done(self, seconds_max: float) -> bool:
        self._thread.join(seconds_max)
        return not self._thread.is_alive()

    def result(self) -> T:
        if self._error:
            raise self._error
        return self._results[0]
