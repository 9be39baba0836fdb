"""GraphQL over HTTP: POST with JSON, and in a browser the page to try it on; subscriptions go over WebSocket
(`headwater.graphql.transport.websocket`).

A request is bounded in bytes and in time; one that outlives its time gets an error with code TIMEOUT and leaves
nothing waiting. Queries go by POST with `application/json` only, which no other site's page can send without asking.
GraphiQL is served from this package: the page loads nothing from anywhere else, and its Content-Security-Policy
holds it to that.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import threading
from collections.abc import Callable
from functools import cache, partial
from importlib.resources import as_file, files
from typing import Any

import anyio
import msgspec
from cross_web import AsyncHTTPRequestAdapter
from graphql import GraphQLError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL
from strawberry.http.base import BaseRequestProtocol
from strawberry.types import ExecutionResult

from headwater.access.guard import principal_of
from headwater.access.principal import ANONYMOUS, Principal
from headwater.graphql.context import Context, Submit, Told
from headwater.graphql.persisted_queries import Persisted, PersistedQueryError
from headwater.graphql.query_limits import COST_MAX
from headwater.graphql.run_feed import News
from headwater.graphql.schema import Schema, make_schema
from headwater.graphql.transport.requests import BODY_BYTES_MAX, REQUEST_SECONDS_MAX, fault, read
from headwater.graphql.transport.websocket import Room, Sockets
from headwater.lineage.view import GraphView

PATH = "/graphql"

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        # CodeMirror, GraphiQL's editor, sizes itself with style attributes.
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_PAGE_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


class GraphQLApp(GraphQL[Context, None]):
    """The endpoint. One instance serves every request; each request gets a `Context` of its own."""

    def __init__(
        self, schema: Schema, persisted: Persisted, context: Callable[[Principal], Context]
    ) -> None:
        super().__init__(schema, allow_queries_via_get=False, subscription_protocols=())
        self._persisted = persisted
        self._context = context
        self._page = (
            files("headwater").joinpath("ui/static/graphiql.html").read_text(encoding="utf-8")
        )

    def encode_json(self, data: object) -> bytes:
        # Of large answers most of the time went into writing them.
        return msgspec.json.encode(data)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _read_body(receive)
        if body is None:
            await _problem(f"the body is over {BODY_BYTES_MAX} bytes", 413)(scope, receive, send)
            return
        if scope["method"] == "POST":
            try:
                body = self._asked(body, principal_of(Request(scope)))
            except ValueError as error:
                await _problem(str(error), 400)(scope, receive, send)
                return
            except PersistedQueryError as error:
                # Clients that ask by hash expect the answer to be one of GraphQL.
                status = 400 if error.code == "BAD_REQUEST" else 200
                await _problem(error.message, status, error.code, error.hint)(scope, receive, send)
                return
        await super().__call__(scope, _replay(body), send)

    def _asked(self, body: bytes, who: Principal) -> bytes:
        """The request with the query that it asks. Raises ValueError and PersistedQueryError."""
        request = read(body)
        wrong = fault(request)
        if wrong:
            raise ValueError(wrong)
        query = self._persisted.query(request, keep=bool(who.scopes))
        return (
            body
            if query == request.get("query")
            else json.dumps({**request, "query": query}).encode()
        )

    async def get_context(
        self,
        request: Request | WebSocket,
        response: Response | WebSocket,  # noqa: ARG002
    ) -> Context:
        return self._context(principal_of(request))

    def should_render_graphql_ide(self, request: BaseRequestProtocol) -> bool:
        return request.method == "GET" and "text/html" in request.headers.get("accept", "")

    async def render_graphql_ide(self, request: Request) -> Response:  # noqa: ARG002
        return HTMLResponse(self._page, headers=_PAGE_HEADERS)

    async def execute_operation(
        self,
        request: Request,
        request_adapter: AsyncHTTPRequestAdapter,
        request_data: Any,
        context: Context,
        root_value: None,
        sub_response: Response,
    ) -> Any:
        resolving = self._resolve(
            request, request_adapter, request_data, context, root_value, sub_response
        )
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(resolving, _own_loop()))

    async def _resolve(self, *operation: Any) -> Any:
        try:
            with anyio.fail_after(REQUEST_SECONDS_MAX):
                return await super().execute_operation(*operation)
        except TimeoutError:
            message = f"the query took longer than {REQUEST_SECONDS_MAX:g} s"
            error = GraphQLError(
                message, extensions={"code": "TIMEOUT", "hint": "Ask for less, or try again."}
            )
            return ExecutionResult(data=None, errors=[error])


@cache
def _own_loop() -> asyncio.AbstractEventLoop:
    """The event loop that resolves, in a thread of its own: a large answer takes the processor for a while, and the
    loop which accepts events must not be kept waiting by it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="graphql", daemon=True)
    thread.start()

    def end() -> None:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(REQUEST_SECONDS_MAX)
        loop.close()

    atexit.register(end)
    return loop


def graphql_routes(
    view: GraphView,
    submit: Submit,
    refused: Callable[[str, str, str], None] = lambda *_: None,
    *,
    admit: Callable[[str], Principal] = lambda _: ANONYMOUS,
    persisted: Persisted | None = None,
    cost_max: int = COST_MAX,
) -> list[BaseRoute]:
    """The endpoint at /graphql (with or without a slash), over HTTP and WebSocket, and the files of its page at
    /static.

    `submit` returns once its events are safe on disk; `refused` hears who was not let ask which field, and why; `admit`
    tells who sends an Authorization header, or raises UnauthorizedError. Raises SettingsError for a trusted query that
    could not be answered.
    """
    schema = make_schema(cost_max)
    persisted = persisted or Persisted()
    persisted.judge(schema._schema, cost_max)

    def context(who: Principal, told: Told | None = None) -> Context:
        return Context(view, submit, who, partial(refused, who.name), told)

    app = GraphQLApp(schema, persisted, context)
    sockets = Sockets(Room(schema, News(view), persisted, admit, refused, context, _own_loop))
    with as_file(files("headwater").joinpath("ui/static")) as static:
        assets = StaticFiles(directory=static)
    listed: list[BaseRoute] = [Mount("/static", assets)]
    for path in (PATH, f"{PATH}/"):
        listed += [Route(path, app), WebSocketRoute(path, sockets)]
    return listed


async def _read_body(receive: Receive) -> bytes | None:
    """The whole body; None when it is too large or the client is gone."""
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if message["type"] != "http.request" or size > BODY_BYTES_MAX:
            return None
        parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts)


def _replay(body: bytes) -> Receive:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _problem(message: str, status: int, code: str = "BAD_REQUEST", hint: str = "") -> Response:
    error = {"message": message, "extensions": {"code": code, **({"hint": hint} if hint else {})}}
    return JSONResponse({"errors": [error]}, status_code=status)
