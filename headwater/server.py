"""The API as one ASGI application: the routes of every package, behind access control. No logic.

The API needs the spool to start; Neo4j may start later. It listens on loopback by default.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from headwater.access import http as access
from headwater.access import session_http
from headwater.access.guard import Guard, principal_of
from headwater.access.keys import Keys, create_first_key
from headwater.access.limit_store import Limits, LimitStore
from headwater.access.limits import FailedSignIns, Limiter
from headwater.access.log import AccessLog
from headwater.access.oidc.sign_on import provider_name, sign_on_of
from headwater.access.oidc_http import code_flow_of, oidc_routes
from headwater.access.origin import OriginCheck, allowed_hosts, cors_middleware
from headwater.access.secret_file import load_secret
from headwater.access.sessions import Sessions
from headwater.access.store import AccessStore
from headwater.access.tile_tokens import TileTokens
from headwater.certificate import ServerCertificate
from headwater.cypher.driver.database import Database
from headwater.cypher.driver.warmup import (
    PLANNING_SECONDS_MAX,
    is_first_query,
    is_read_query,
    warm_up,
)
from headwater.errors import EventError, HeadwaterError, SettingsError, UnavailableError
from headwater.evidence import http as evidence
from headwater.governance.policies.store import policy_store
from headwater.graphql.context import Installation
from headwater.graphql.persisted_queries import PersistedQueries, read_trusted_queries
from headwater.graphql.transport.http import graphql_routes
from headwater.graphql.transport.websocket import Callers
from headwater.health import callers, metrics
from headwater.health import http as health
from headwater.health.alerts.delivery_metrics import DeliveryMetrics
from headwater.health.figures.daily import run_daily_snapshots
from headwater.health.own_spans import start_own_spans
from headwater.health.platform import PlatformReader
from headwater.health.request_timer import RequestTimer
from headwater.health.service_levels.recorder import Recorder, Storage
from headwater.health.tls import CertificateMetrics
from headwater.ingest.receive import http as ingest
from headwater.ingest.receive.accept import EventAcceptor
from headwater.ingest.receive.forgotten import load_forgotten
from headwater.ingest.receive.personal_values import redaction_classes
from headwater.ingest.receive.redact import Redactor
from headwater.ingest.receive.spans.http import span_routes
from headwater.ingest.spool.group_commit import GroupCommitter
from headwater.ingest.spool.reader import SpoolReader
from headwater.ingest.spool.spool import Spool
from headwater.lineage.cache.cache_refresher import CacheRefresher
from headwater.lineage.view import GraphView
from headwater.logs.request_id import HEADER, RequestIds, request_id
from headwater.rest import cypher_api
from headwater.rest.app import rest_routes
from headwater.rest.policies import PolicyContext
from headwater.schema.naming import load_naming
from headwater.settings import Settings
from headwater.ui import routes as ui
from headwater.ui.runbooks import runbook_routes
from headwater.ui.tiles import tile_routes
from headwater.web import (
    BodyMemory,
    MarquezError,
    error_response_at,
    is_marquez,
    json_response,
)

# Lineage traversals run in threads; further ones wait for a thread.
QUERY_THREADS_MAX = 32
WARM_UP_SECONDS = 2.0
# A restart of Neo4j takes longer than the time between two looks at it.
WATCH_SECONDS = 1.0
_MARQUEZ_HINTS = {
    404: "GET /openapi.json lists the paths.",
    405: "Send OpenLineage events to POST /api/v1/lineage: Headwater learns namespaces, sources, "
    "datasets, jobs and runs from them.",
}


def connect(settings: Settings) -> Database:
    """Return the graph that the settings name; it connects with the first query."""
    return Database(
        settings.neo4j_uri,
        settings.neo4j_user,
        settings.password(),
        database=settings.neo4j_database,
        on_query=metrics.observe_query,
        ca=settings.neo4j_ca,
    )


class Components:
    """The objects that the routes share, opened and closed together.

    Raises SettingsError if callers need keys and none exists.
    """

    def __init__(self, settings: Settings, certificate: ServerCertificate | None = None) -> None:
        self.settings = settings
        self.certificate = certificate
        self.access_store = AccessStore(settings.access_path)
        self.limiter = _limiter(self.access_store, settings)
        self.guard = _guard(self.access_store, settings, self.limiter)
        self.tile_tokens = TileTokens(
            self.guard.keys, settings.tile_key_path, required=settings.keys_required
        )
        # One for the health checks, one for GraphQL, one for the thread that appends.
        self.health_spool = Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)
        self.platform_spool = Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)
        self.committer = GroupCommitter(
            Spool(settings.spool_path, bytes_max=settings.spool_bytes_max)
        )
        key = settings.redaction_key.encode() or load_secret(settings.redaction_key_path)
        classes = redaction_classes(settings.redaction_classes)
        metrics.declare_redactions({"email", "card", *classes})
        naming = load_naming(settings.naming_path)
        self.acceptor = EventAcceptor(
            Redactor(key, classes, on_value=metrics.observe_redaction),
            naming,
            self.committer,
            allow_missing_event_time=settings.allow_missing_event_time,
            forgotten=load_forgotten(settings.forgotten_path, key),
            on_accepted=self.limiter.charge,
        )
        self.database = connect(settings)
        cache = CacheRefresher(self.database) if settings.lineage_cache else None
        self.view = GraphView(self.database, cache=cache)
        self.policies = policy_store(settings)
        self.platform = PlatformReader(self.view, self.platform_spool)
        self.service_levels = Recorder(
            self.view,
            self.platform.read_metrics,
            Storage(
                (settings.spool_path, settings.home_path / "data"),
                settings.storage_price,
                settings.storage_cost_target,
            ),
        )

    def close(self) -> None:
        self.committer.close()
        self.health_spool.close()
        self.platform_spool.close()
        self.access_store.close()
        self.database.close()

    def visible_graph(self, request: Request) -> GraphView:
        """Return the graph as the principal of a request may see it."""
        return self.view.visible_to(principal_of(request).visibility)

    def log_refusal(self, principal: str, field: str, reason: str) -> None:
        """Record that a GraphQL field was refused."""
        self.guard.log.record_refusal(principal, field, why=reason)

    def log_decision(self, principal: str, action: str, detail: dict[str, Any]) -> None:
        """Record a decision of the policies on a proposed action."""
        self.guard.log.record_decision(principal, "POST /policy/decisions", action, **detail)

    def log_statement(self, request: Request, statement: str, outcome: str) -> None:
        """Record an auditor's statement, and its outcome."""
        action = f"{request.method} {request.url.path}"
        self.guard.log.append(principal_of(request).name, action, outcome, asked=statement)


def create_app(settings: Settings, certificate: ServerCertificate | None = None) -> Starlette:
    """Return the ASGI application; `certificate` is that of its server, for the metrics.

    Raises SettingsError if callers need keys and none exists.
    """
    start_own_spans()
    components = Components(settings, certificate)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = QUERY_THREADS_MAX
        stop = threading.Event()
        threads = _background_threads(components, stop)
        for thread in threads:
            thread.start()
        yield
        stop.set()
        for thread in threads:
            await anyio.to_thread.run_sync(thread.join, WARM_UP_SECONDS)
        await anyio.to_thread.run_sync(components.close)

    origins = settings.allowed_origins
    app = Starlette(
        routes=components.guard.routes(_routes(components)),
        lifespan=lifespan,
        middleware=[
            Middleware(RequestIds),
            Middleware(RequestTimer),
            Middleware(BodyMemory, bytes_max=settings.body_memory_max),
            Middleware(OriginCheck, hosts=allowed_hosts(settings), origins=origins),
            *cors_middleware(origins),
        ],
        exception_handlers={
            HTTPException: _http_error,
            HeadwaterError: _headwater_error,
            MemoryError: _no_memory,
            Exception: _unexpected_error,
        },
    )
    # Some clients take a redirect for success: the event would be lost unnoticed.
    app.router.redirect_slashes = False
    return app


def _routes(components: Components) -> list[BaseRoute]:
    settings, acceptor = components.settings, components.acceptor
    flow = code_flow_of(components.guard, settings)
    persisted = PersistedQueries(
        read_trusted_queries(settings.persisted_path),
        own=ui.documents(),
        only=settings.persisted_only,
    )
    return [
        *ingest.routes(
            acceptor,
            event_bytes_max=settings.event_bytes_max,
            batch_bytes_max=settings.batch_bytes_max,
            on_refused=metrics.refused.inc,
        ),
        *span_routes(acceptor),
        *health.routes(
            components.view,
            components.health_spool,
            components.service_levels,
            DeliveryMetrics(components.view),
            CertificateMetrics(components.certificate),
            policies=components.policies,
            neo4j_problem=settings.neo4j_problem_path,
        ),
        *access.routes(components.guard.keys, components.guard.log),
        *session_http.routes(components.guard, provider_name(settings) if flow else ""),
        *oidc_routes(components.guard, flow),
        *graphql_routes(
            components.view,
            acceptor.submit,
            components.log_refusal,
            callers=Callers(components.guard.admit_socket, components.guard.place_for),
            persisted=persisted,
            cost_max=settings.query_cost_max,
            read_platform=components.platform.read,
            installation=Installation(settings.trace_url, components.policies),
        ),
        *rest_routes(
            components.visible_graph,
            acceptor.submit,
            SpoolReader(settings.spool_path),
            repository_root=_repository_root(settings),
            policies=PolicyContext(
                components.policies.read,
                components.log_decision,
                components.policies.test_consumers,
            ),
        ),
        *cypher_api.routes(components.visible_graph, components.log_statement),
        *evidence.routes(components.visible_graph),
        *ui.routes(),
        *runbook_routes(),
        *tile_routes(components.view, components.tile_tokens, settings.tile_origin_set),
    ]


def _repository_root(settings: Settings) -> Path | None:
    root = settings.repository_path
    if root is not None and not root.is_dir():
        raise SettingsError(f"HEADWATER_REPOSITORY_ROOT {settings.repository_root} is no folder")
    return root


def _limiter(store: AccessStore, settings: Settings) -> Limiter:
    defaults = Limits(
        settings.requests_per_second, settings.events_per_second, settings.requests_at_once
    )
    return Limiter(
        LimitStore(store),
        defaults,
        shared=settings.shared_requests,
        on_request=callers.observe_request,
        on_events=callers.observe_events,
    )


def _guard(store: AccessStore, settings: Settings, limiter: Limiter) -> Guard:
    keys, sign_on = Keys(store), sign_on_of(settings)
    sessions = Sessions(
        keys,
        store,
        settings.session_key_path,
        seconds=settings.session_seconds,
        sign_on=sign_on,
    )
    guard = Guard(
        keys,
        AccessLog(store),
        sessions,
        required=settings.keys_required,
        wants_certificates=bool(settings.tls_client_ca),
        sign_on=sign_on,
    )
    guard.limiter = limiter
    guard.failed_sign_ins = FailedSignIns(settings.failed_sign_ins_per_minute)
    if guard.required and settings.first_key_file and not keys.list():
        create_first_key(keys, Path(settings.first_key_file).expanduser())
    if guard.required and sign_on is None and not guard.keys.has_valid_key():
        store.close()
        raise SettingsError(
            "API keys are required on this address, but none exists",
            hint="Create one: `headwater keys create NAME --scope ingest --scope read`. On a "
            "private network, set HEADWATER_ALLOW_ANONYMOUS=true to allow callers without keys.",
        )
    return guard


def _background_threads(components: Components, stop: threading.Event) -> list[threading.Thread]:
    view = components.view
    view.database.planning_seconds = PLANNING_SECONDS_MAX
    threads = [
        threading.Thread(
            target=run_warm_up, args=(view.database, stop), name="warm-up", daemon=True
        ),
        threading.Thread(
            target=run_daily_snapshots, args=(view, stop), name="figures", daemon=True
        ),
        threading.Thread(
            target=components.service_levels.run, args=(stop,), name="service-levels", daemon=True
        ),
    ]
    threads.append(
        threading.Thread(target=components.policies.run, args=(stop,), name="policies", daemon=True)
    )
    sign_on = components.guard.sign_on
    if sign_on is not None:
        threads.append(
            threading.Thread(target=sign_on.provider.run, args=(stop,), name="oidc", daemon=True)
        )
    if view.cache is not None:
        threads.append(
            threading.Thread(target=view.cache.run, args=(stop,), name="lineage-cache", daemon=True)
        )
    return threads


def run_warm_up(database: Database, stop: threading.Event) -> None:
    """Run the queries of GraphQL once, as soon as Neo4j is migrated, so that it plans them.

    A pause after each leaves processor time to the worker and to callers: planning all of them
    takes 40 s of it on a slow machine. The queries of nearly every question come first; until they
    are planned, a question may take longer. A Neo4j that was away may have restarted without its
    plans, so it plans them again.
    """
    pause = partial(watch, database, stop)
    run = partial(warm_up, database, stop=stop.is_set, pause=pause)
    while not stop.is_set():
        try:
            run(is_first_query, rest=1.0)
            database.planning_seconds = 0.0
            run(is_read_query, rest=4.0)
            watch(database, stop, math.inf)
        except HeadwaterError:
            database.planning_seconds = PLANNING_SECONDS_MAX
            stop.wait(WARM_UP_SECONDS)


def watch(database: Database, stop: threading.Event, seconds: float) -> None:
    """Wait, and ask Neo4j for its time every second. Raises UnavailableError if it is away."""
    end = time.monotonic() + seconds
    while not stop.is_set() and end - time.monotonic() > WATCH_SECONDS:
        stop.wait(WATCH_SECONDS)
        database.read("read/state/clock")
    if not stop.is_set():
        stop.wait(max(0.0, end - time.monotonic()))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if is_marquez(request.method, request.url.path):
        message = f"HTTP {error.status_code} {error.detail}"
        body = MarquezError(error.status_code, message, _MARQUEZ_HINTS.get(error.status_code, ""))
        return json_response(body, error.status_code, dict(error.headers or {}))
    content = {"error": {"code": "HTTP", "message": error.detail}}
    return JSONResponse(content, error.status_code, error.headers)


async def _headwater_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HeadwaterError)
    return error_response_at(error, request.method, request.url.path)


async def _no_memory(request: Request, _: Exception) -> Response:
    error = UnavailableError("the server has no memory for this request", hint="Send again later.")
    return error_response_at(error, request.method, request.url.path)


async def _unexpected_error(request: Request, _: Exception) -> Response:
    # This handler is outside of all middleware.
    id = request_id(request.scope)
    hint = f"Search the log for request_id {id}."
    error = EventError("internal error; Headwater's log has the details", status=500, hint=hint)
    response = error_response_at(error, request.method, request.url.path)
    response.headers[HEADER] = id
    return response
