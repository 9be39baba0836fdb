"""A managed Kafka 4.1 in its own process: one node, broker and controller (KRaft), for tests.

`with LocalKafka(home) as kafka:` has a broker at `kafka.bootstrap`: the running one of this home,
or a new one. It can be killed at any time; started again from its home, it has the same address and
topics. It listens on 127.0.0.1 only and writes to its home only. It has no password, so it is not
for data that other users of this machine may not see.

The home has `server.properties`, written at every start; `data/`; `logs/`; and `broker.json`, the
pid and ports by which the broker is found again.
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

from headwater.errors import ServerError
from headwater.local import process
from headwater.local.home import Home, write_private
from headwater.local.jars import Progress, classpath, ensure_jars, read_lock
from headwater.local.java import Java
from headwater.local.managed_server import ManagedServer
from headwater.local.ports import HOST, free_ports
from headwater.local.signals import delayed_signals
from headwater.local.startup import START_SECONDS_MAX, StartupWatch

STALL_SECONDS = 60.0
STOP_SECONDS_MAX = 15.0
ANSWER_SECONDS_MAX = 2.0

_JVM_OPTIONS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dfile.encoding=UTF-8",
)
# The request for API versions (key 18, version 0); a broker answers it only when it is ready.
_API_VERSIONS = struct.pack(">ihhih", 10, 18, 0, 1, -1)
_LOG4J = """\
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
    """A started JVM and its ports."""

    pid: int
    port: int
    controller_port: int


@dataclass(frozen=True)
class RunningKafka:
    """A running broker: its address, its pid, and whether it ran before."""

    bootstrap: str
    pid: int
    reused: bool


class LocalKafka(ManagedServer[RunningKafka]):
    """The managed Kafka of one home."""

    def __init__(
        self,
        home: Path,
        *,
        heap_mb: int = 256,
        cache: Path | None = None,
        java: Java | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Prepare a broker; `start` starts it.

        Args:
            home: The folder of the broker; it is created.
            heap_mb: The heap of the JVM in MiB.
            cache: The folder of fetched jars; None is the user's cache.
            java: The Java to run; None finds one.
            progress: Called with the number of jars done and in all.
        """
        super().__init__(
            Home(home, program="Kafka"),
            "headwater.kafka",
            cache=cache,
            java=java,
            progress=progress,
        )
        self._heap_mb = heap_mb
        self._file = self.home.folder / "broker.json"

    def start(self) -> RunningKafka:
        """Find the running broker of this home, or start one.

        Returns:
            The running broker.

        Raises:
            ServerError: The broker does not start.
            HomeInUseError: Another process starts or stops the broker.
            JarError: The jars cannot be fetched.
            JavaError: There is no Java 17 or 21.
        """
        self.home.create()
        with self.home.locked(STALL_SECONDS):
            broker_record = self._known()
            if broker_record and self._is_running(broker_record.pid):
                if _is_ready(broker_record.port):
                    return RunningKafka(
                        f"{HOST}:{broker_record.port}", broker_record.pid, reused=True
                    )
                self._terminate(broker_record.pid, STOP_SECONDS_MAX)
            broker = self._start_new(broker_record)
            return RunningKafka(f"{HOST}:{broker.port}", broker.pid, reused=False)

    def stop(self) -> None:
        """End the broker of this home, whichever process started it.

        Raises:
            ServerError: The broker does not end.
            HomeInUseError: Another process starts or stops the broker.
        """
        if not self.home.folder.exists():
            return
        with self.home.locked(STALL_SECONDS):
            broker_record = self._known()
            if broker_record:
                self._terminate(broker_record.pid, STOP_SECONDS_MAX)
                self._require_ended(broker_record.pid)
        self._is_own = False

    def _known(self) -> Broker | None:
        try:
            return Broker(**json.loads(self._file.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def _start_new(self, previous: Broker | None) -> Broker:
        java = self._find_java()
        lock = read_lock("kafka")
        folder = ensure_jars(self._cache, self._progress, lock=lock, java=java)
        # Clients know the old address: reuse it if it is free.
        port, controller_port = free_ports(
            [previous.port, previous.controller_port] if previous else [0, 0]
        )
        properties = self.home.folder / "server.properties"
        properties.write_text(_properties(port, controller_port, self.home.folder / "data"))
        (self.home.folder / "log4j2.properties").write_text(_LOG4J)
        command = [str(java.program), f"-Xmx{self._heap_mb}m", *_JVM_OPTIONS, self._mark.strip()]
        command += [f"-Dlog4j2.configurationFile={self.home.folder / 'log4j2.properties'}"]
        environ = {**os.environ, "CLASSPATH": classpath(folder, lock)}
        if not (self.home.folder / "data" / "meta.properties").exists():
            self._format([*command, "kafka.tools.StorageTool", "format"], environ, properties)
        pid = 0
        try:
            with delayed_signals():
                pid = process.start_detached(
                    [*command, "kafka.Kafka", str(properties)],
                    environ,
                    self.home.folder / "logs" / "kafka.out",
                    self.home.jvm_log,
                )
            broker = Broker(pid, port, controller_port)
            write_private(self._file, json.dumps(asdict(broker)))
            self._wait_until_ready(broker)
        except BaseException:
            # Also after Ctrl-C: leave no process that is not a broker.
            if pid:
                self._terminate(pid, STOP_SECONDS_MAX)
            raise
        self._is_own = True
        return broker

    def _format(self, command: list[str], environ: dict[str, str], properties: Path) -> None:
        name = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
        formatted = subprocess.run(
            [*command, "--cluster-id", name, "--config", str(properties)],
            env=environ,
            capture_output=True,
            text=True,
            timeout=START_SECONDS_MAX,
            check=False,
        )
        if formatted.returncode != 0:
            raise ServerError(
                f"Kafka's storage cannot be formatted\n{formatted.stderr or formatted.stdout}",
                hint=self._log_hint(),
            )

    def _wait_until_ready(self, broker: Broker) -> None:
        logs = [*self.home.logs, self.home.folder / "logs" / "kafka.out"]
        watch = StartupWatch(broker.pid, logs, STALL_SECONDS)
        while not _is_ready(broker.port):
            if not self._is_running(broker.pid):
                raise self._end_error()
            if watch.is_stalled():
                raise self._stall_error(STALL_SECONDS)
            time.sleep(process.POLL_SECONDS)


def _properties(port: int, controller_port: int, data: Path) -> str:
    settings = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@{HOST}:{controller_port}",
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": data,
        "num.partitions": 2,
        # A killed broker, started again, must wait until its old session has expired.
        "broker.session.timeout.ms": 2000,
        "broker.heartbeat.interval.ms": 500,
        # One node has the only copy of everything and waits for no other.
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


def _is_ready(port: int) -> bool:
    """Return True if the broker answers the request for its API versions."""
    try:
        with socket.create_connection((HOST, port), ANSWER_SECONDS_MAX) as connection:
            connection.sendall(_API_VERSIONS)
            answer = connection.recv(10)
    except OSError:
        return False
    # The length, the number of the request, and no error.
    return len(answer) == 10 and struct.unpack(">iih", answer)[1:] == (1, 0)
