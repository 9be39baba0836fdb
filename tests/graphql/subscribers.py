"""A real server, and the messages of a subscriber."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.connection import Connection
from websockets.typing import Subprotocol

from headwater.access.keys import Keys
from headwater.access.principal import Scope
from headwater.cli.serve import listening
from headwater.graphql.transport import websocket as sockets
from headwater.graphql.transport.http import _graphql_loop
from headwater.server import create_app
from headwater.settings import Settings

EVENTS = (
    "subscription ($n: String, $p: String, $s: RunStatus) { runEvents(namespace: $n, pipeline: $p, status: $s) \
{ runId status } }"
)
QUIET_SECONDS = 0.7
Serve = Callable[..., "Served"]


class Served:
    """A server that listens, and the keys to it."""

    def __init__(self, settings: Settings, keys: Keys) -> None:
        self.keys = keys
        self._server = uvicorn.Server(uvicorn.Config(create_app(settings), **listening(settings)))
        self._thread = threading.Thread(target=self._server.run)

    def start(self) -> None:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        self.port = self._server.servers[0].sockets[0].getsockname()[1]

    def stop(self) -> float:
        """Stop the server and return the seconds it took."""
        began = time.monotonic()
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()
        return time.monotonic() - began

    def key(self, name: str, *namespaces: str, scope: Scope = Scope.READ, days: float = 1) -> str:
        return self.keys.create(name, [scope], namespaces=namespaces or ("*",), days=days)[0]

    def connect(self, *, protocol: str = sockets.PROTOCOL, **options: Any) -> Connection:
        uri = f"ws://127.0.0.1:{self.port}/graphql"
        return connect(uri, subprotocols=[Subprotocol(protocol)], compression=None, **options)

    def begun(self, key: str | None = None, **options: Any) -> Connection:
        """Return a connection after connection_ack."""
        client = self.connect(**options)
        send(
            client,
            type="connection_init",
            payload={"authorization": f"Bearer {key}"} if key else None,
        )
        assert receive(client) == {"type": "connection_ack"}
        return client


def send(client: Connection, **message: Any) -> None:
    client.send(json.dumps(message))


def receive(client: Connection, seconds: float = 10.0) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(client.recv(timeout=seconds))
    return message


def subscribe(client: Connection, query: str = EVENTS, id: str = "1", **variables: Any) -> None:
    """Subscribe, and wait until later changes are sure to be delivered."""
    send(client, type="subscribe", id=id, payload={"query": query, "variables": variables})
    send(client, type="ping")
    assert receive(client) == {"type": "pong"}
    time.sleep(0.4)


def receive_data(client: Connection, count: int) -> list[dict[str, Any]]:
    """Return the data of the next messages, in any order."""
    messages = [receive(client) for _ in range(count)]
    assert {message["type"] for message in messages} == {"next"}, messages
    found = [message["payload"]["data"] for message in messages]
    return sorted((next(iter(data.values())) for data in found), key=str)


def is_quiet(client: Connection) -> bool:
    try:
        return json.loads(client.recv(timeout=QUIET_SECONDS)) is None
    except TimeoutError:
        return True


def closed_with(client: Connection, seconds: float = 10.0) -> int | None:
    with suppress(ConnectionClosed):
        while True:
            client.recv(timeout=seconds)
    return client.close_code


def working() -> list[str]:
    """Return the names of the subscription tasks on the loop of GraphQL."""
    names = [
        getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks(_graphql_loop())
    ]
    return [name for name in names if name.startswith(("Feed", "_stream_results"))]
