"""Tools of the stream tests: OpenLineage's client, the stream as a process, and a gate to Neo4j."""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
import uuid
from contextlib import closing, suppress
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from confluent_kafka import Consumer, Message, TopicPartition
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import column_lineage_dataset, error_message_run, schema_dataset
from openlineage.client.serde import Serde
from openlineage.client.transport.kafka import KafkaConfig, KafkaTransport

from headwater.cypher.driver.database import Database
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.ingest.write.transaction import Checkpoint, read_checkpoint
from tests.canonical import Graph, canonical, empty
from tests.conftest import Neo4jServer
from tests.run_builders import RECEIVED

PRODUCER = "https://example.com/etl"
KEY = "0123456789abcdef-tests"
SECONDS_MAX = 60.0
_FIELDS = [
    schema_dataset.SchemaDatasetFacetFields(name=name, type="string") for name in ("id", "mail")
]
_IDENTITY = [column_lineage_dataset.Transformation(type="DIRECT", subtype="IDENTITY")]


def events_of(number: int, jobs: int = 12) -> list[RunEvent]:
    """Return START and end of a run; one in seven fails, with personal data in its message."""
    job = number % jobs
    source, target = f"t{job}", f"t{job + 1}"
    field = column_lineage_dataset.InputField("db", source, "id", _IDENTITY)
    lineage = column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={"id": column_lineage_dataset.Fields(inputFields=[field])}
    )
    failed = number % 7 == 3
    error = error_message_run.ErrorMessageRunFacet(
        f"jane.doe{number}@example.com is no id", "python"
    )
    run_id = str(uuid.uuid5(uuid.NAMESPACE_URL, str(number)))
    events = []
    for second, state in ((0, RunState.START), (1, RunState.FAIL if failed else RunState.COMPLETE)):
        events.append(
            RunEvent(
                eventType=state,
                eventTime=f"2026-01-01T{number // 60:02d}:{number % 60:02d}:{second:02d}Z",
                run=Run(run_id, facets={"errorMessage": error} if failed and second else {}),
                job=Job("etl", f"job{job}"),
                producer=PRODUCER,
                inputs=[
                    InputDataset(
                        "db", source, facets={"schema": schema_dataset.SchemaDatasetFacet(_FIELDS)}
                    )
                ],
                outputs=[OutputDataset("db", target, facets={"columnLineage": lineage})]
                if second
                else [],
            )
        )
    return events


def bodies(events: list[RunEvent]) -> list[bytes]:
    return [Serde.to_json(event).encode() for event in events]


def send(bootstrap: str, topic: str, events: list[RunEvent]) -> None:
    """Send events by OpenLineage's own transport, as Airflow or dbt do."""
    config = {"bootstrap.servers": bootstrap, "acks": "all", "log_level": "0"}
    transport = KafkaTransport(KafkaConfig(config=config, topic=topic, flush=False))
    for event in events:
        transport.emit(event)
    assert transport.close(SECONDS_MAX)


def held(bootstrap: str, topic: str, partitions: int = 2) -> list[tuple[bytes, dict[str, str]]]:
    """Return value and headers of every message of a topic."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "tests", "enable.auto.commit": False}
    )
    with closing(consumer):
        positions = [TopicPartition(topic, number, 0) for number in range(partitions)]
        ends = [
            consumer.get_watermark_offsets(position, timeout=SECONDS_MAX)[1]
            for position in positions
        ]
        consumer.assign(positions)
        messages = consumer.consume(sum(ends), timeout=SECONDS_MAX)
        return [
            (message.value() or b"", {name: value.decode() for name, value in _headers(message)})
            for message in messages
        ]


def _headers(message: Message) -> list[tuple[str, bytes]]:
    return cast(list[tuple[str, bytes]], message.headers() or [])


def by_the_worker(database: Database, folder: Path, sent: list[bytes]) -> Graph:
    """Return the graph that the worker makes of these events."""
    from headwater.ingest.receive.redact import Redactor

    empty(database)
    redactor = Redactor(KEY.encode())
    with closing(Spool(folder / "spool.db")) as spool:
        spool.append([redactor.redact(body) for body in sent], received=RECEIVED)
        Worker(database, spool, events_max=500).run(until_done=True)
    return canonical(database)


def counted(database: Database) -> dict[str, int]:
    """Return the number of events by producer, from the producer statistics."""
    rows = database.ask(
        "MATCH (p:Producer) RETURN p.producer AS producer, p.events AS events", {}, seconds=10
    )
    return {row["producer"]: row["events"] for row in rows}


class Gate:
    """A proxy of Neo4j's port that can be closed and opened again."""

    def __init__(self, server: Neo4jServer) -> None:
        named = urlsplit(server.uri)
        self._target = (named.hostname or "127.0.0.1", named.port or 7687)
        self._listening: socket.socket | None = None
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = int(probe.getsockname()[1])
        self.server = Neo4jServer(f"bolt://127.0.0.1:{self.port}", server.user, server.password)
        self.open()

    def open(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def cut(self) -> None:
        """Close all connections and refuse new ones."""
        listening, self._listening = self._listening, None
        if listening is not None:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            listening.close()
        with self._lock:
            for one in self._open:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def _accept(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listening.accept()
                threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        with (
            suppress(OSError),
            near,
            socket.create_connection(self._target) as far,
            selectors.DefaultSelector() as both,
        ):
            with self._lock:
                self._open |= {near, far}
            both.register(near, selectors.EVENT_READ, far)
            both.register(far, selectors.EVENT_READ, near)
            try:
                while True:
                    for key, _ in both.select():
                        data = key.fileobj.recv(65_536)  # type: ignore[union-attr]
                        if not data:
                            return
                        key.data.sendall(data)
            finally:
                with self._lock:
                    self._open -= {near, far}


class StreamProcess:
    """`headwater pipeline stream ...` as a process that a test may kill."""

    def __init__(self, folder: Path, server: Neo4jServer, *options: str) -> None:
        self.log = folder / "stream.log"
        self.checkpoint = folder / "checkpoint"
        environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith("HEADWATER_") or name == "HEADWATER_CACHE"
            },
            "HEADWATER_HOME": str(folder / "home"),
            "HEADWATER_REDACTION_KEY": KEY,
            "HEADWATER_NEO4J_URI": server.uri,
            "HEADWATER_NEO4J_USER": server.user,
            "HEADWATER_NEO4J_PASSWORD": server.password,
        }
        command = [
            "-m",
            "headwater",
            "pipeline",
            "stream",
            "--checkpoint",
            str(self.checkpoint),
            "--metrics-port",
            "0",
        ]
        with self.log.open("ab") as output:
            self._from = output.tell()
            self.process = subprocess.Popen(
                [sys.executable, *command, "--master", "local[2]", *options],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def said(self) -> str:
        return self.log.read_bytes()[self._from :].decode(errors="replace")

    def position(self, database: Database) -> Checkpoint:
        """Return the checkpoint of the stream in the graph."""
        assert self.process.poll() in (None, 0, -signal.SIGKILL), self.said()
        try:
            query = json.loads((self.checkpoint / "metadata").read_text())["id"]
        except (OSError, ValueError):
            return Checkpoint()
        return read_checkpoint(database, f"stream:{query}")

    def metrics(self) -> dict[str, float]:
        address = re.search(r"metrics_served url=(\S+)", self.said())
        assert address, self.said()
        with urllib.request.urlopen(address[1], timeout=5) as answer:
            lines = answer.read().decode().splitlines()
        return {
            name: float(value)
            for name, _, value in (line.rpartition(" ") for line in lines if line[:1] != "#")
        }

    def end(self) -> int:
        self.process.terminate()
        return self.process.wait(SECONDS_MAX)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(SECONDS_MAX)
