"""A real API server with a real spool (uvicorn in a thread of this process, on a free port), and the
statements of write transactions."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from headwater.cypher.driver.database import Row, Transaction
from headwater.ingest.spool.spool import Spool
from headwater.server import create_app
from headwater.settings import Settings

EVENT_BYTES_MAX = 200_000
BATCH_BYTES_MAX = 1_000_000


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Api:
    """A running API: its port and its spool."""

    port: int
    spool_path: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def post(
        self, body: bytes, path: str = "/api/v1/lineage", method: str = "POST", **headers: str
    ) -> Answer:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            sent = {
                "Content-Type": "application/json",
                **{k.replace("_", "-"): v for k, v in headers.items()},
            }
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            text = response.read()
            is_json = (response.getheader("content-type") or "").startswith("application/json")
            received = {key.lower(): value for key, value in response.getheaders()}
            return Answer(response.status, received, json.loads(text) if is_json else text)

    def batch(self, body: bytes, **headers: str) -> Answer:
        return self.post(body, "/api/v1/lineage/batch", **headers)

    def stored(self, after: int = 0) -> list[bytes]:
        with closing(Spool(self.spool_path)) as spool:
            return [
                record.body for record in spool.read(after, events_max=100_000, bytes_max=2**30)
            ]

    def last(self) -> int:
        with closing(Spool(self.spool_path)) as spool:
            return spool.last()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    home = tmp_path_factory.mktemp("api")
    # Nothing listens on port 1: accepting events does not need Neo4j.
    settings = Settings(
        home=str(home),
        neo4j_uri="bolt://127.0.0.1:1",
        event_bytes_max=EVENT_BYTES_MAX,
        batch_bytes_max=BATCH_BYTES_MAX,
    )
    server = uvicorn.Server(
        uvicorn.Config(create_app(settings), host="127.0.0.1", port=0, log_level="warning")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert thread.is_alive()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    yield Api(server.servers[0].sockets[0].getsockname()[1], settings.spool_path)
    server.should_exit = True
    thread.join()


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the statements that write transactions ran."""
    names: list[str] = []
    run_statement = Transaction.run

    def counted(self: Transaction, name: str, /, **parameters: Any) -> list[Row]:
        names.append(name)
        return run_statement(self, name, **parameters)

    monkeypatch.setattr(Transaction, "run", counted)
    return names
