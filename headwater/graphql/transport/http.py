"""GraphQL over HTTP: POST with JSON, GET for queries, and the GraphiQL page for browsers.

Subscriptions use WebSocket (`headwater.graphql.transport.websocket`). A request is bounded in bytes
and in time; over its time it gets an error with code TIMEOUT. Where keys are required, a request
without one gets 401, and nothing of it is read or parsed. GraphiQL comes from this package: its
Content-Security-Policy lets the page load nothing from elsewhere.

All operations share one event loop, so a key or a person executes `OPERATIONS_AT_ONCE` at most. The
further ones wait, and an operation whose client has disconnected meanwhile is dropped.

A page of another site cannot send POST with `application/json` without a preflight request. It can
make a browser send GET, by an image or a link, without an Origin header. It could not read the
answer, but it could cost time. Browsers mark such a request by Sec-Fetch-Site, and it is refused.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import cache, partial
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode
from weakref import WeakValueDictionary

import anyio
import msgspec
from cross_web import AsyncHTTPRequestAdapter, HTTPException
from graphql import GraphQLError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL
from strawberry.http.base import BaseRequestProtocol
from strawberry.schema.exceptions import InvalidOperationTypeError
from strawberry.types import ExecutionResult

from headwater.access.guard import CHALLENGE, KEY_HINT, KEY_REQUIRED, principal_of
from headwater.access.principal import ANONYMOUS, UNAUTHENTICATED, Principal
from headwater.errors import ForbiddenError
from headwater.graphql.context import Context, Installation, ReadPlatform, Submit, SubscriptionState
from headwater.graphql.finding_feed import FindingFeed
from headwater.graphql.persisted_queries import PersistedQueries, PersistedQueryError
from headwater.graphql.query_limits import COST_MAX
from headwater.graphql.run_feed import RunFeed
from headwater.graphql.schema import Schema, create_schema
from headwater.graphql.transport.requests import (
    BODY_BYTES_MAX,
    REQUEST_SECONDS_MAX,
    find_problem,
    parse_json,
    parse_parameters,
)
from headwater.graphql.transport.websocket import (
    OPEN_TO_ALL,
    PATH,
    Callers,
    SharedState,
    WebSocketEndpoint,
)
from headwater.health import questions
from headwater.lineage.view import GraphView
from headwater.web import PAGE_HEADERS

# The values of Sec-Fetch-Site for requests that a page of another origin causes.
_OTHER_SITES = ("cross-site", "same-site")
# Two would leave the threads that query Neo4j idle; each further one delays the other callers.
OPERATIONS_AT_ONCE = 4
_FORM = 'Send {"query": "...", "variables": {...}} by POST as application/json, or `query` by GET.'


class GraphQLApp(GraphQL[Context, None]):
    """The HTTP endpoint. One instance serves all requests; each has its own `Context`."""

    def __init__(
        self,
        schema: Schema,
        persisted: PersistedQueries,
        create_context: Callable[[Principal], Context],
        planning_seconds: Callable[[], float] = lambda: 0.0,
        on_refusal: Callable[[str, str, str], None] = lambda *_: None,
    ) -> None:
        super().__init__(schema, allow_queries_via_get=True, subscription_protocols=())
        self._persisted = persisted
        self._create_context = create_context
        self._planning_seconds = planning_seconds
        self._on_refusal = on_refusal
        # By the name of the caller; a semaphore that nobody holds or waits for is dropped.
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        page = files("headwater").joinpath("ui/static/graphiql.html")
        self._page = page.read_text(encoding="utf-8")

    def encode_json(self, data: object) -> bytes:
        """Encode an answer with msgspec: large answers spend most of their time here."""
        return msgspec.json.encode(data)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, after a check of its caller, its size and its shape."""
        request = Request(scope)
        principal = principal_of(request)
        wants_page = request.method == "GET" and _wants_page(request.headers)
        if principal == UNAUTHENTICATED and not wants_page:
            action = f"{request.method} {PATH}"
            await anyio.to_thread.run_sync(self._on_refusal, principal.name, action, KEY_REQUIRED)
            refusal = _error_response(KEY_REQUIRED, 401, "FORBIDDEN", KEY_HINT)
            refusal.headers.update(CHALLENGE)
            await refusal(scope, receive, send)
            return
        body = await _read_body(receive)
        if body is None:
            response = _error_response(f"the body exceeds {BODY_BYTES_MAX} bytes", 413)
            await response(scope, receive, send)
            return
        try:
            if request.method == "POST":
                body = self._with_query_text(body, principal)
            elif request.method == "GET" and not wants_page:
                scope = {**scope, "query_string": self._query_string(request)}
        except ValueError as error:
            await _error_response(str(error), 400, hint=_FORM)(scope, receive, send)
            return
        except ForbiddenError as error:
            await _error_response(error.message, 403, "FORBIDDEN", error.hint)(scope, receive, send)
            return
        except PersistedQueryError as error:
            # Clients of persisted queries expect a GraphQL answer with status 200.
            status = 400 if error.code == "BAD_REQUEST" else 200
            response = _error_response(error.message, status, error.code, error.hint)
            await response(scope, receive, send)
            return
        await super().__call__(scope, _replay(body, receive), send)

    def _with_query_text(self, body: bytes, principal: Principal) -> bytes:
        """Return the body with the text of its query. Raises ValueError or PersistedQueryError."""
        request = parse_json(body)
        query = self._query_text(request, principal)
        if query == request.get("query"):
            return body
        return json.dumps({**request, "query": query}).encode()

    def _query_string(self, request: Request) -> bytes:
        """Return the parameters of a GET request with the text of its query.

        Raises ForbiddenError for a request that a page of another site causes, ValueError or
        PersistedQueryError.
        """
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        if site in _OTHER_SITES and not origin:
            raise ForbiddenError(
                "pages of other sites may not send queries", hint="Set HEADWATER_CORS_ORIGINS."
            )
        if len(request.url.query) > BODY_BYTES_MAX:
            raise ValueError(f"the query string exceeds {BODY_BYTES_MAX} bytes")
        found = parse_parameters(request.query_params)
        parameters = {"query": self._query_text(found, principal_of(request))}
        if found.get("variables") is not None:
            parameters["variables"] = json.dumps(found["variables"])
        if found.get("operationName"):
            parameters["operationName"] = found["operationName"]
        return urlencode(parameters).encode()

    def _query_text(self, request: Any, principal: Principal) -> str:
        problem = find_problem(request)
        if problem:
            raise ValueError(problem)
        return self._persisted.resolve(request, store=bool(principal.scopes))

    async def run(self, request: Any, *arguments: Any, **settings: Any) -> Any:
        """Answer a request; a refusal of strawberry becomes a GraphQL error."""
        try:
            return await super().run(request, *arguments, **settings)
        except HTTPException as error:
            if not isinstance(error.__cause__, InvalidOperationTypeError):
                return _error_response(error.reason, error.status_code)
            response = _error_response(error.reason, 405, hint="Send it by POST.")
            response.headers["allow"] = "POST"
            return response

    async def get_context(
        self,
        request: Request | WebSocket,
        response: Response | WebSocket,
    ) -> Context:
        """Return the context of a request; no cache may keep its answer for other callers."""
        if isinstance(response, Response):
            response.headers["cache-control"] = "no-store"
        return self._create_context(principal_of(request))

    def should_render_graphql_ide(self, request: BaseRequestProtocol) -> bool:
        """Return True for a GET request of a browser."""
        return request.method == "GET" and _wants_page(request.headers)

    async def render_graphql_ide(self, request: Request) -> Response:  # noqa: ARG002
        """Return the GraphiQL page."""
        return HTMLResponse(self._page, headers=PAGE_HEADERS)

    async def execute_operation(
        self,
        request: Request,
        request_adapter: AsyncHTTPRequestAdapter,
        request_data: Any,
        context: Context,
        root_value: None,
        sub_response: Response,
    ) -> Any:
        """Execute an operation on the event loop of GraphQL, in its turn and in time.

        Callers without a key are not told apart by name, so they have no turns.
        """
        limit = REQUEST_SECONDS_MAX + self._planning_seconds()
        name = context.principal.name
        is_anonymous = context.principal == ANONYMOUS
        turns = self._turns.setdefault(name, asyncio.Semaphore(OPERATIONS_AT_ONCE))
        try:
            with anyio.fail_after(limit):
                async with nullcontext() if is_anonymous else turns:
                    if await request.is_disconnected():
                        return _failed("the client has disconnected", "BAD_REQUEST")
                    execution = super().execute_operation(
                        request, request_adapter, request_data, context, root_value, sub_response
                    )
                    future = asyncio.run_coroutine_threadsafe(execution, _graphql_loop())
                    result = await asyncio.wrap_future(future)
        except TimeoutError:
            hint = "Request less, or retry later."
            result = _failed(f"the query exceeded {limit:g} s", "TIMEOUT", hint)
        _observe(result)
        return result


def _failed(message: str, code: str, hint: str = "") -> ExecutionResult:
    """Return the result of an operation that was not executed to its end."""
    extensions = {"code": code, **({"hint": hint} if hint else {})}
    return ExecutionResult(data=None, errors=[GraphQLError(message, extensions=extensions)])


def _observe(result: Any) -> None:
    """Count the outcome of an executed operation, or of each operation of a batch."""
    for one in result if isinstance(result, list) else [result]:
        errors = getattr(one, "errors", None) or ()
        questions.observe(questions.outcome_of_errors(error.extensions for error in errors))


@cache
def _graphql_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop that executes operations, in a thread of its own.

    A large answer occupies the processor for a while. The loop of the server, which accepts
    events, must not wait for it.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="graphql", daemon=True)
    thread.start()

    def stop() -> None:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(REQUEST_SECONDS_MAX)
        loop.close()

    atexit.register(stop)
    return loop


def graphql_routes(
    view: GraphView,
    submit: Submit,
    on_refusal: Callable[[str, str, str], None] = lambda *_: None,
    *,
    callers: Callers = OPEN_TO_ALL,
    persisted: PersistedQueries | None = None,
    cost_max: int = COST_MAX,
    read_platform: ReadPlatform | None = None,
    installation: Installation | None = None,
) -> list[BaseRoute]:
    """Return the routes /graphql and /graphql/ (HTTP and WebSocket).

    Args:
        view: The graph, unrestricted; each request narrows it to its principal.
        submit: Returns when the events are on disk.
        on_refusal: Takes principal, field and reason of each refusal.
        callers: How the callers of subscriptions are identified and limited.
        persisted: The persisted queries.
        cost_max: The most values that an answer may hold.
        read_platform: Returns the state of the platform, for the field `platform`.
        installation: What all requests have in common.

    Raises:
        SettingsError: A trusted query is invalid.
    """
    schema = create_schema(cost_max)
    persisted = persisted or PersistedQueries()
    persisted.validate(schema._schema, cost_max)

    def create_context(
        principal: Principal, subscription: SubscriptionState | None = None
    ) -> Context:
        report = partial(on_refusal, principal.name)
        return Context(view, submit, principal, report, subscription, read_platform, installation)

    app = GraphQLApp(schema, persisted, create_context, lambda: view.planning_seconds, on_refusal)
    state = SharedState(
        schema=schema,
        feed=RunFeed(view),
        finding_feed=FindingFeed(view),
        persisted=persisted,
        callers=callers,
        on_refusal=on_refusal,
        create_context=create_context,
        graphql_loop=_graphql_loop,
        planning_seconds=lambda: view.planning_seconds,
    )
    endpoint = WebSocketEndpoint(state)
    routes: list[BaseRoute] = []
    for path in (PATH, f"{PATH}/"):
        routes += [Route(path, app), WebSocketRoute(path, endpoint)]
    return routes


def _wants_page(headers: Mapping[str, str]) -> bool:
    return "text/html" in headers.get("accept", "")


async def _read_body(receive: Receive) -> bytes | None:
    """Return the whole body; None if it is too large or the client disconnected."""
    chunks: list[bytes] = []
    size, has_more = 0, True
    while has_more:
        message = await receive()
        chunk = message.get("body", b"")
        size += len(chunk)
        if message["type"] != "http.request" or size > BODY_BYTES_MAX:
            return None
        chunks.append(chunk)
        has_more = message.get("more_body", False)
    return b"".join(chunks)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that begins with a body that is read already."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _error_response(
    message: str, status: int, code: str = "BAD_REQUEST", hint: str = ""
) -> Response:
    extensions = {"code": code, **({"hint": hint} if hint else {})}
    content = {"errors": [{"message": message, "extensions": extensions}]}
    return JSONResponse(content, status_code=status)
