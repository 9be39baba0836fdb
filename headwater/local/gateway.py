"""A JVM that Python can call: py4j's `GatewayServer`, with a token, on loopback.

Neo4j has no main class that starts a server, and Ivy's command line fetches one jar at a time. Both
have plain Java classes that py4j can call. py4j and Ivy are part of pyspark. Java objects live
until their JVM ends, so another process can use them by id. A broken connection raises an exception
and writes nothing to a log.
"""

from __future__ import annotations

import importlib.util
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from py4j.java_gateway import (  # type: ignore[import-untyped]
    GatewayClient,
    GatewayConnection,
    GatewayParameters,
    JavaGateway,
)
from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from headwater.errors import JarError
from headwater.local.java import Java

T = TypeVar("T")

MAIN_CLASS = "py4j.GatewayServer"
STOP_SECONDS_MAX = 5.0


class _Client(GatewayClient):  # type: ignore[misc]
    """A client that only raises when the JVM ends; py4j's own also logs a traceback."""

    def send_command(
        self,
        command: str,
        retry: bool = True,  # noqa: ARG002
        binary: bool = False,  # noqa: ARG002
    ) -> Any:
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
        """Return a connection to the pool; close it if the client was closed meanwhile."""
        self.deque.append(connection)
        if not self.is_connected:
            self.close()

    def close(self) -> None:
        self.is_connected = False
        super().close()


class _Gateway(JavaGateway):  # type: ignore[misc]
    def _create_gateway_client(self) -> GatewayClient:
        return _Client(gateway_parameters=self.gateway_parameters)


def connect_gateway(port: int, token: str) -> Any:
    """Connect to the gateway of a JVM.

    Args:
        port: The port of the gateway, on loopback.
        token: The token that the gateway printed.

    Returns:
        A py4j JavaGateway. Its objects live until the JVM ends, whichever process created them.
    """
    return _Gateway(
        gateway_parameters=GatewayParameters(
            port=port, auth_token=token, enable_memory_management=False
        )
    )


def pyspark_jar(pattern: str) -> Path:
    """Find a jar of pyspark without the import of pyspark, which takes a second.

    Args:
        pattern: A glob of the file name.

    Returns:
        The path of the jar.

    Raises:
        JarError: pyspark is not installed.
    """
    spec = importlib.util.find_spec("pyspark")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for jar in sorted(Path(folder, "jars").glob(pattern)):
            return jar
    raise JarError(
        f"pyspark's {pattern} is not installed", hint="Run `pip install 'headwater[local]'`."
    )


@contextmanager
def helper_jvm(java: Java, classpath: list[Path]) -> Iterator[Any]:
    """Run a short-lived JVM that ends with this block, or with this process.

    Args:
        java: The Java to run.
        classpath: The jars of the JVM.

    Yields:
        A py4j JavaGateway.

    Raises:
        JarError: Java does not start.
    """
    command = [str(java.program), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]
    command += [
        ":".join(map(str, classpath)),
        MAIN_CLASS,
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
                "Java did not start to fetch jars", hint="Check it with `headwater doctor`."
            )
        gateway = connect_gateway(int(port), token)
        yield gateway
    finally:
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if gateway is not None:
            gateway.close()


def java_error_text(error: Py4JError) -> str:
    """Return the Java exception with its causes, one a line, while the JVM still runs."""
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


class JavaCall(Generic[T]):
    """A call into the JVM in a thread, so that the wait can have a limit; py4j has none."""

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

    def wait(self, timeout_seconds: float) -> bool:
        """Wait for the call; return True if it has ended."""
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def result(self) -> T:
        """Return the result of the ended call, or raise its exception."""
        if self._error:
            raise self._error
        return self._results[0]
