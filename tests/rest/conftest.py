"""REST over a real Neo4j; submitted events are folded at once by the real fold and writer.

The header `x-visibility` sets the namespaces that the caller sees; without it, all.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater.access.events import authorize_event
from headwater.access.guard import principal_of
from headwater.access.principal import ANONYMOUS, Principal
from headwater.access.principal import Scope as KeyScope
from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from headwater.rest.app import rest_routes
from headwater.schema.naming import load_naming
from headwater.schema.visibility import Visibility
from tests.run_builders import write_events


class HeaderPrincipal:
    """A middleware that takes the principal's name and visibility from the headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Request(scope).headers
            patterns = headers.get("x-visibility")
            name = headers.get("x-principal", "tests")
            scopes = frozenset({KeyScope.READ, KeyScope.INGEST, KeyScope.STEWARD})
            principal = (
                ANONYMOUS
                if patterns is None
                else Principal(name, scopes, Visibility(tuple(patterns.split(","))))
            )
            scope.setdefault("state", {})["principal"] = principal
        await self._app(scope, receive, send)


class Log:
    """The submitted events, as the spool would store them."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def count(self) -> int:
        return len(self.events)

    def bodies(self, *, newest_first: bool) -> Iterator[tuple[int, bytes]]:
        numbers = range(len(self.events))
        for number in reversed(numbers) if newest_first else numbers:
            yield number, json.dumps(self.events[number]).encode()

    def body(self, number: int) -> bytes | None:
        return json.dumps(self.events[number]).encode()


def make_application(
    database: Database, log: Log, *, repository_root: Path | None = None
) -> Starlette:
    async def submit(principal: Principal, events: list[dict[str, Any]]) -> None:
        for event in events:
            authorize_event(principal, json.dumps(event).encode(), load_naming())
        await anyio.to_thread.run_sync(write_events, database, events)

    def view_of(request: Request) -> GraphView:
        return GraphView(database).visible_to(principal_of(request).visibility)

    return Starlette(
        routes=rest_routes(view_of, submit, log, repository_root=repository_root),
        middleware=[Middleware(HeaderPrincipal)],
    )


@pytest.fixture(scope="session")
def log() -> Log:
    return Log()


@pytest.fixture(scope="session")
def application(database: Database, log: Log) -> Starlette:
    return make_application(database, log)


@pytest.fixture(scope="module")
def client(application: Starlette) -> Iterator[TestClient]:
    with TestClient(application) as client:
        yield client


@pytest.fixture
def client_with_code(
    database: Database, log: Log, tmp_path: Path
) -> Iterator[tuple[TestClient, Path]]:
    """Yield a client of an API that reads code, and the folder of the code."""
    root = tmp_path / "repository"
    root.mkdir()
    with TestClient(make_application(database, log, repository_root=root)) as client:
        yield client, root


@contextmanager
def serving(application: Starlette) -> Iterator[str]:
    """Return the address of an application on a socket, for clients with their own transport."""
    server = uvicorn.Server(
        uvicorn.Config(application, host="127.0.0.1", port=0, log_level="warning")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    host, port = server.servers[0].sockets[0].getsockname()[:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="module")
def address(application: Starlette) -> Iterator[str]:
    with serving(application) as url:
        yield url
