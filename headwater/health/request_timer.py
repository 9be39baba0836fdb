"""Measure every HTTP request, and make a span of it if spans are on."""

from __future__ import annotations

import time
from functools import cache

from prometheus_client import Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.health import metrics, questions
from headwater.health.own_spans import own_spans


@cache
def _series(path: str, status: int) -> Histogram:
    """Return the time series of a route and a status; there are few of them."""
    return metrics.request_time.labels(path, str(status))


class RequestTimer:
    """ASGI middleware that observes the duration of each request by route and status."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.monotonic(), 500
        spans = own_spans()
        request = spans.open_request(scope) if spans is not None else None

        async def send_and_note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_and_note_status)
        finally:
            # Unrouted paths share one label: callers could otherwise create endless time series.
            path = getattr(scope.get("route"), "path", "other")
            _series(path, status).observe(time.monotonic() - started)
            if spans is not None and request is not None:
                spans.close_request(request, scope.get("method", ""), path, status)
            questions.observe_response(scope.get("method", ""), path, status)
