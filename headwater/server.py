"""The API: puts the rooms' routes together. No logic.

Starting it needs the spool and nothing else; Neo4j may come later. It listens where the settings say, on loopback
unless told otherwise.
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import anyio.to_thread
import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.access import http as access
from headwater.access.events import judge
from headwater.access.guard import Guard, principal_of
from headwater.access.keys import Keys
from headwater.access.log import AccessLog
from headwater.access.principal import Principal
from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from headwater.cypher.driver.warmup import reads, walks, warm
from headwater.errors import EventError, HeadwaterError, SettingsError
from headwater.graphql.persisted_queries import Persisted, read_trusted
from headwater.graphql.transport.http import graphql_routes
from headwater.health import http as health
from headwater.health import metrics
from headwater.ingest.receive import http as ingest
from headwater.ingest.receive.redact import Redactor
from headwater.ingest.receive.redaction_key import load_key
from headwater.ingest.spool.group_commit import Appender
from headwater.ingest.spool.reader import Recall
from headwater.ingest.spool.spool import Spool
from headwater.lineage.cache.cache_refresher import MapFollower
from headwater.rest import cypher_api as audits
from headwater.rest.app import rest_routes
from headwater.schema.events import parse
from headwater.schema.naming import load as load_naming
from headwater.settings import LOOPBACK, Settings
from headwater.web import problem

# Lineage walks run in threads; more at once than this wait for their turn.
QUERY_THREADS_MAX = 32
WARM_UP_SECONDS = 2.0
_FOREIGN_HINT = (
    "HEADWATER_REQUIRE_KEYS=true asks for keys instead; behind a proxy that checks who asks, set \
HEADWATER_ALLOW_ANONYMOUS=true."
)


def connect(settings: Settings) -> Database:
    """The graph that the settings name; connects when it is first asked."""
    return Database(
        settings.neo4j_uri,
        settings.neo4j_user,
        settings.password(),
        database=settings.neo4j_database,
        observed=metrics.observe_query,
    )


class Parts:
    """What an API is made of: made together, closed together."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store = AccessStore(settings.access_path)
        self.guard = _guard(self.store, needed=settings.keys_needed)
        self.own_spool = Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)
        self.appender = Appender(Spool(settings.spool_path, bytes_max=settings.spool_bytes_max))
        self.redactor = Redactor(
            settings.redaction_key.encode() or load_key(settings.redaction_key_path)
        )
        self.naming = load_naming(settings.naming_path)
        self.database = connect(settings)
        if settings.map_in_memory:
            self.database.memory = MapFollower(self.database)

    def close(self) -> None:
        self.appender.close()
        self.own_spool.close()
        self.store.close()
        self.database.close()

    def keep(self, who: Principal, body: bytes, received: int) -> bytes:
        """An event as it is to be kept. Raises EventError when it is none, ForeignEventError for one that whoever sends
        it may not send."""
        event = parse(body, received=received)
        kept = self.redactor.redact(body)
        judge(who, kept, self.naming, event if kept is body else None)
        return kept

    async def submit(self, who: Principal, events: Sequence[Mapping[str, Any]]) -> None:
        """What is registered without OpenLineage takes the way of every other event."""
        received = time.time_ns() // 1_000
        bodies = [self.keep(who, msgspec.json.encode(event), received) for event in events]
        await self.appender.append(bodies)

    def reader(self, request: Request) -> Database:
        """The graph as whoever asks may see it."""
        return self.database.seen_by(principal_of(request).visibility)

    def refused(self, who: str, field: str, why: str) -> None:
        self.guard.log.refused(who, field, why=why)

    def record(self, request: Request, what: str, outcome: str) -> None:
        self.guard.log.append(
            principal_of(request).name, f"{request.method} {request.url.path}", outcome, asked=what
        )


def create_app(settings: Settings) -> Starlette:
    """The ASGI application. Raises SettingsError when it asks for keys and there is none."""
    parts = Parts(settings)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = QUERY_THREADS_MAX
        ended = threading.Event()
        beside = [
            threading.Thread(
                target=_warm_up, args=(parts.database, ended), name="warm-up", daemon=True
            )
        ]
        if parts.database.memory is not None:
            beside.append(
                threading.Thread(
                    target=parts.database.memory.run, args=(ended,), name="map", daemon=True
                )
            )
        for thread in beside:
            thread.start()
        yield
        ended.set()
        for thread in beside:
            await anyio.to_thread.run_sync(thread.join, WARM_UP_SECONDS)
        await anyio.to_thread.run_sync(parts.close)

    app = Starlette(
        routes=parts.guard.routes(_routes(parts)),
        lifespan=lifespan,
        middleware=[Middleware(Timed), Middleware(OwnPagesOnly, hosts=_own_hosts(settings))],
        exception_handlers={HTTPException: _refused, HeadwaterError: _problem, Exception: _broken},
    )
    # A redirect is taken for success by some clients: the event would be lost in silence.
    app.router.redirect_slashes = False
    return app


def _routes(parts: Parts) -> list[BaseRoute]:
    settings = parts.settings
    return [
        *ingest.routes(
            parts.appender,
            event_bytes_max=settings.event_bytes_max,
            batch_bytes_max=settings.batch_bytes_max,
            keep=parts.keep,
            counted=_count,
        ),
        *health.routes(parts.database, parts.own_spool),
        *access.routes(parts.guard.keys, parts.guard.log),
        *graphql_routes(
            parts.database,
            parts.submit,
            parts.refused,
            admit=parts.guard.admit,
            persisted=Persisted(
                read_trusted(settings.persisted_path), only=settings.persisted_only
            ),
            cost_max=settings.query_cost_max,
        ),
        *rest_routes(parts.reader, parts.submit, Recall(settings.spool_path)),
        *audits.routes(parts.reader, parts.record),
        Route("/", _welcome),
    ]


def _guard(store: AccessStore, *, needed: bool) -> Guard:
    guard = Guard(Keys(store), AccessLog(store), needed=needed)
    if needed and not guard.keys.any_valid():
        store.close()
        raise SettingsError(
            "nobody could use this Headwater: where it listens it asks for keys, and there is none",
            hint="`headwater keys create NAME --scope ingest --scope read` makes one. Where only friends reach it, "
            "HEADWATER_ALLOW_ANONYMOUS=true asks nobody.",
        )
    return guard


class OwnPagesOnly:
    """Keeps other sites' pages, open in a browser on this machine, from sending or asking anything: nobody is asked
    for a key on loopback, so a request must be meant for loopback (a foreign name may have been made to resolve to
    it), and one that a page sends must come from a page of ours."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            headers = dict(scope["headers"])
            fault = self._fault(
                headers.get(b"host", b"").decode("latin-1"),
                headers.get(b"origin", b"").decode("latin-1"),
            )
            if fault and scope["type"] == "websocket":
                # Before it is accepted: answered with 403.
                await send({"type": "websocket.close", "reason": fault})
                return
            if fault:
                await problem(ForeignPageError(fault, hint=_FOREIGN_HINT))(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _fault(self, host: str, origin: str) -> str:
        if self._hosts and host and urlsplit(f"//{host}").hostname not in self._hosts:
            return f"this Headwater is not called {host[:100]!r}"
        if origin and urlsplit(origin).netloc != host:
            return f"a page of {origin[:100]!r} may not use this Headwater"
        return ""


class ForeignPageError(HeadwaterError):
    """A request meant for another host, or sent by another site's page."""

    status = 403


class Timed:
    """Measures every request, by the route that took it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            route = scope.get("route")
            path = getattr(route, "path", "other")
            metrics.request_time.labels(path, str(status)).observe(time.monotonic() - began)


def _own_hosts(settings: Settings) -> frozenset[str]:
    """The names under which it may be asked; empty: any, where keys are asked for, or the operator says that whoever
    reaches it may."""
    return frozenset() if settings.allow_anonymous or settings.keys_needed else LOOPBACK


def _warm_up(database: Database, ended: threading.Event) -> None:
    """Once Neo4j is there and migrated, have it plan what GraphQL will ask; until then try again now and then."""
    while not ended.is_set():
        try:
            for wanted in (walks, reads):
                warm(database, wanted, stop=ended.is_set)
            return
        except HeadwaterError:
            ended.wait(WARM_UP_SECONDS)


def _count(_: int, refused: int) -> None:
    if refused:
        metrics.refused.inc(refused)


async def _welcome(_: Request) -> Response:
    return JSONResponse(
        {
            "name": "Headwater",
            "send events to": "/api/v1/lineage",
            "ask at": "/graphql",
            "health": ["/healthz", "/readyz", "/metrics"],
        }
    )


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = {"code": "HTTP", "message": error.detail}
    return JSONResponse({"error": said}, error.status_code, error.headers)


async def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, HeadwaterError)
    return problem(error)


async def _broken(_: Request, __: Exception) -> Response:
    return problem(EventError("something broke inside Headwater; its log says what", status=500))
