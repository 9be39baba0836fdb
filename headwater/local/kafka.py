"""A managed Kafka 4.1 in a process of its own: one node that is broker and controller (KRaft), for tests.

`with LocalKafka(home) as kafka:` has a broker at `kafka.bootstrap`: the one that already runs from this home, or a new
one. It can be killed at any time; started again from its home, it is at the same address with the same topics.
Promises: listens on 127.0.0.1 only; nothing is written outside of the home; what was started in a `with` is ended by
leaving it.
Refuses: nothing about who connects. There is no password, so it is not for data that others on this machine may not
see.

Below the home: `server.properties`, written anew at every start; `data/`; `logs/`; and `broker.json`, the pid and
ports by which the broker is found again.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

from headwater.errors import ServerError
from headwater.local import process
from headwater.local.home import Home
from headwater.local.jars import Progress, classpath, ensure_jars, read_lock
from headwater.local.java import Java, find_java

host = "127.0.0.1"
start_seconds_max = 60.0
stop_seconds_max = 15.0
answer_seconds_max = 2.0
wait_seconds_max = 60.0

jvm_options = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dfile.encoding=UTF-8",
)
# Asks which requests it understands (key 18, version 0), which a broker answers only when it is ready for all of them.
_api_versions = struct.pack(">ihhih", 10, 18, 0, 1, -1)
_log4j = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.target = SYSTEM_ERR
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %p %m (%c)%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
"""


@dataclass(frozen=True)
class Broker:
    """A started JVM, and where it listens."""

    pid: int
    port: int
    controller_port: int


@dataclass(frozen=True)
class RunningKafka:
    bootstrap: str
    pid: int
    reused: bool


class LocalKafka:
    def __init__(
        self,
        home: Path,
        *,
        heap_mb: int = 256,
        cache: Path | None = None,
        java: Java | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.home = Home(home, program="Kafka")
        self._heap_mb = heap_mb
        self._cache = cache
        self._java = java
        self._progress = progress
        self._file = self.home.folder / "broker.json"
        # The home is on the command line of the JVM: that is how a pid is known to be ours.
        self._mark = f"-Dheadwater.kafka={self.home.folder} "
        self._started = False

    def start(self) -> RunningKafka:
        """Raises ServerError, HomeInUseError, JarError or JavaError."""
        self.home.make()
        with self.home.locked(wait_seconds_max):
            known = self._known()
            if known and process.is_running(known.pid, self._mark):
                if _answers(known.port):
                    return RunningKafka(f"{host}:{known.port}", known.pid, reused=True)
                process.end(known.pid, self._mark, stop_seconds_max)
            broker = self._start_new(known)
            self._started = True
            return RunningKafka(f"{host}:{broker.port}", broker.pid, reused=False)

    def stop(self) -> None:
        """End the broker of this home, if there is one, whoever started it."""
        if not self.home.folder.exists():
            return
        with self.home.locked(wait_seconds_max):
            known = self._known()
            if known:
                process.end(known.pid, self._mark, stop_seconds_max)
                if process.is_running(known.pid, self._mark):
                    raise ServerError(
                        f"Kafka (pid {known.pid}) does not end.", hint=f"kill -9 {known.pid}"
                    )
        self._started = False

    def __enter__(self) -> RunningKafka:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stops what this object started; a broker that was found running goes on."""
        if self._started:
            self.stop()

    def _known(self) -> Broker | None:
        try:
            return Broker(**json.loads(self._file.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def _start_new(self, known: Broker | None) -> Broker:
        java = self._java or find_java()
        lock = read_lock("kafka")
        folder = ensure_jars(
            self._cache, *([self._progress] if self._progress else []), lock=lock, java=java
        )
        # At the address where its clients know it, if that is free.
        port, controller_port = _free_ports(
            [known.port, known.controller_port] if known else [0, 0]
        )
        properties = self.home.folder / "server.properties"
        properties.write_text(_properties(port, controller_port, self.home.folder / "data"))
        (self.home.folder / "log4j2.properties").write_text(_log4j)
        command = [str(java.program), f"-Xmx{self._heap_mb}m", *jvm_options, self._mark.strip()]
        command += [f"-Dlog4j2.configurationFile={self.home.folder / 'log4j2.properties'}"]
        environ = {**os.environ, "CLASSPATH": classpath(folder, lock)}
        if not (self.home.folder / "data" / "meta.properties").exists():
            self._format([*command, "kafka.tools.StorageTool", "format"], environ, properties)
        pid = process.start_detached(
            [*command, "kafka.Kafka", str(properties)],
            environ,
            self.home.folder / "logs" / "kafka.out",
            self.home.jvm_log,
        )
        broker = Broker(pid, port, controller_port)
        try:
            self._file.write_text(json.dumps(asdict(broker)))
            self._wait_until_ready(broker)
        except BaseException:
            # Ctrl-C included: what did not become a broker must not stay behind as a process.
            process.end(pid, self._mark, stop_seconds_max)
            raise
        return broker

    def _format(self, command: list[str], environ: dict[str, str], properties: Path) -> None:
        name = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
        said = subprocess.run(
            [*command, "--cluster-id", name, "--config", str(properties)],
            env=environ,
            capture_output=True,
            text=True,
            timeout=start_seconds_max,
            check=False,
        )
        if said.returncode != 0:
            raise ServerError(
                f"Kafka's storage could not be made:\n{said.stderr or said.stdout}",
                hint=self._see(),
            )

    def _wait_until_ready(self, broker: Broker) -> None:
        deadline = time.monotonic() + start_seconds_max
        while not _answers(broker.port):
            if not process.is_running(broker.pid, self._mark):
                raise ServerError(
                    f"Kafka ended while it started.\n{self.home.log_tail()}", hint=self._see()
                )
            if time.monotonic() > deadline:
                raise ServerError(
                    f"Kafka did not start in {start_seconds_max:.0f} s.", hint=self._see()
                )
            time.sleep(process.poll_seconds)

    def _see(self) -> str:
        return f"See {self.home.jvm_log.parent}; `headwater doctor` checks Java."


def _properties(port: int, controller_port: int, data: Path) -> str:
    settings = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@{host}:{controller_port}",
        "listeners": f"PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{host}:{port}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": data,
        "num.partitions": 2,
        # A killed broker, started again, waits for its own session to run out before it is itself again.
        "broker.session.timeout.ms": 2000,
        "broker.heartbeat.interval.ms": 500,
        # One node keeps the only copy of everything, and nobody else is waited for.
        "offsets.topic.num.partitions": 1,
        "offsets.topic.replication.factor": 1,
        "transaction.state.log.num.partitions": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "share.coordinator.state.topic.num.partitions": 1,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "group.initial.rebalance.delay.ms": 0,
        "num.network.threads": 1,
        "num.io.threads": 2,
        "background.threads": 2,
        "log.cleaner.dedupe.buffer.size": 8 * 2**20,
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def _free_ports(wanted: list[int]) -> list[int]:
    """These ports; any free one in the place of 0, or of one that another program has by now."""
    sockets = [socket.socket() for _ in wanted]
    try:
        for one, port in zip(sockets, wanted, strict=True):
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind((host, port))
            except OSError:
                one.bind((host, 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection((host, port), answer_seconds_max) as connection:
            connection.sendall(_api_versions)
            answer = connection.recv(10)
    except OSError:
        return False
    # Its length, the number of the request, no error.
    return len(answer) == 10 and struct.unpack(">iih", answer)[1:] == (1, 0)
