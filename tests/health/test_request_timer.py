"""The timer of requests, without a socket."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import REGISTRY

from headwater.health.request_timer import RequestTimer


def count(route: str, status: str) -> float:
    labels = {"route": route, "status": status}
    return REGISTRY.get_sample_value("headwater_request_seconds_count", labels) or 0.0


def call(app: Any, scope: dict[str, Any]) -> None:
    async def send(_: Any) -> None:
        pass

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    asyncio.run(RequestTimer(app)(scope, receive, send))


async def teapot(scope: Any, _: Any, send: Any) -> None:
    scope["route"] = SimpleNamespace(path="/tea/{kind}")
    await send({"type": "http.response.start", "status": 418})


async def broken(_: Any, __: Any, ___: Any) -> None:
    raise ValueError("broken")


def test_a_request_is_counted_by_route_and_status() -> None:
    before = count("/tea/{kind}", "418")
    call(teapot, {"type": "http"})
    assert count("/tea/{kind}", "418") == before + 1


def test_an_unrouted_request_that_fails_is_counted_as_500() -> None:
    before = count("other", "500")
    with pytest.raises(ValueError, match="broken"):
        call(broken, {"type": "http"})
    assert count("other", "500") == before + 1


def test_a_websocket_is_not_counted() -> None:
    before = count("/tea/{kind}", "418")
    call(teapot, {"type": "websocket"})
    assert count("/tea/{kind}", "418") == before
