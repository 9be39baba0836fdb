"""GraphQL over HTTP: POST with JSON, and in a browser the page to try it on.

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
from types import NoneType
from typing import Any

import anyio
from cross_web import AsyncHTTPRequestAdapter
from graphql import GraphQLError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL
from strawberry.http.base import BaseRequestProtocol
from strawberry.types import ExecutionResult

from headwater.access.guard import principal_of
from headwater.cypher.database import Database
from headwater.graphql.context import Context, Submit
from headwater.graphql.schema import make_schema

BODY_BYTES_MAX = 65_536
REQUEST_SECONDS_MAX = 10.0
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
# What a request holds; each may be null or absent, but for the query.
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "query": str,
    "variables": (dict, NoneType),
    "operationName": (str, NoneType),
    "extensions": (dict, NoneType),
}


class GraphQLApp(GraphQL[Context, None]):
    """The endpoint. One instance serves every request; each request gets a `Context` of its own."""

    def __init__(self, database: Database, submit: Submit, refused: Callable[[str, str, str], None]) -> None:
        super().__init__(make_schema(), allow_queries_via_get=False, subscription_protocols=())
        self._database = database
        self._submit = submit
        self._refused = refused
        self._page = files("headwater").joinpath("ui/static/graphiql.html").read_text(encoding="utf-8")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError("GraphQL is served over HTTP only")
        body = await _read_body(receive)
        if body is None:
            await _problem(f"the body is over {BODY_BYTES_MAX} bytes", 413)(scope, receive, send)
            return
        fault = _fault(body) if scope["method"] == "POST" else ""
        if fault:
            await _problem(fault, 400)(scope, receive, send)
            return
        await super().__call__(scope, _replay(body), send)

    async def get_context(self, request: Request | WebSocket, response: Response | WebSocket) -> Context:  # noqa: ARG002
        who = principal_of(request)
        return Context(self._database, self._submit, who, partial(self._refused, who.name))

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
        resolving = self._resolve(request, request_adapter, request_data, context, root_value, sub_response)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(resolving, _own_loop()))

    async def _resolve(self, *operation: Any) -> Any:
        try:
            with anyio.fail_after(REQUEST_SECONDS_MAX):
                return await super().execute_operation(*operation)
        except TimeoutError:
            message = f"the query took longer than {REQUEST_SECONDS_MAX:g} s"
            error = GraphQLError(message, extensions={"code": "TIMEOUT", "mend": "Ask for less, or try again."})
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
    database: Database, submit: Submit, refused: Callable[[str, str, str], None] = lambda *_: None
) -> list[BaseRoute]:
    """The endpoint at /graphql (with or without a slash) and the files of its page at /static.

    `submit` returns once its events are safe on disk; `refused` hears who was not let ask which field, and why.
    """
    app = GraphQLApp(database, submit, refused)
    with as_file(files("headwater").joinpath("ui/static")) as static:
        assets = StaticFiles(directory=static)
    return [Route(PATH, app), Route(f"{PATH}/", app), Mount("/static", assets)]


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


def _fault(body: bytes) -> str:
    """What is wrong with a request before anything looks into it; "" when nothing is."""
    try:
        request = json.loads(body)
        # JSON may spell half of a surrogate pair, which is no text and which nothing behind here can store.
        json.dumps(request, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "a text holds half a character (a lone surrogate)"
    except (ValueError, RecursionError):
        return "the body is not JSON"
    if not isinstance(request, dict):
        return "the body is not a JSON object with a query"
    wrong = [name for name, kind in _FIELDS.items() if not isinstance(request.get(name), kind)]
    return f"{wrong[0]} is not what it should be" if wrong else ""


def _problem(message: str, status: int) -> Response:
    error = {"message": message, "extensions": {"code": "BAD_REQUEST"}}
    return JSONResponse({"errors": [error]}, status_code=status)
