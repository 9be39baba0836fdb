"""The id of a request: accepted or created, in every log line about the request, and in its answer.

The header is `X-Request-ID`. The trace id of a `traceparent` header (W3C Trace Context) is in the
log lines too.
"""

from __future__ import annotations

import re
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, clear_contextvars

HEADER = "x-request-id"
_ACCEPTED = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_KEY = "headwater.request_id"


class RequestIds:
    """ASGI middleware that gives each request its id. A malformed id is replaced by a new one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        sent = headers.get(HEADER, "")
        id = sent if _ACCEPTED.fullmatch(sent) else uuid.uuid4().hex
        scope[_KEY] = id
        clear_contextvars()
        bind_contextvars(request_id=id)
        trace = _TRACEPARENT.fullmatch(headers.get("traceparent", ""))
        if trace:
            bind_contextvars(trace_id=trace[1])

        async def send_with_id(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                MutableHeaders(scope=message)[HEADER] = id
            await send(message)

        await self._app(scope, receive, send_with_id)


def bind_principal(name: str) -> None:
    """Add the principal of the request to its further log lines."""
    bind_contextvars(principal=name)


def request_id(scope: Scope) -> str:
    """Return the id of a request; empty outside of the middleware."""
    return str(scope.get(_KEY, ""))
