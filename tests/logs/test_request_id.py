"""A request has one id: in its answer and in its log lines."""

from __future__ import annotations

import re

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from structlog.contextvars import get_contextvars

from headwater.logs.request_id import RequestIds, bind_principal, request_id


@pytest.fixture(scope="module")
def client() -> TestClient:
    async def show(request: Request) -> JSONResponse:
        bind_principal("ci")
        return JSONResponse([request_id(request.scope), get_contextvars()])

    return TestClient(Starlette(routes=[Route("/", show)], middleware=[Middleware(RequestIds)]))


def test_an_id_is_accepted_and_answered(client: TestClient) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    sent = {"X-Request-ID": "deploy-7.1:a", "traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
    answer = client.get("/", headers=sent)
    assert answer.headers["x-request-id"] == "deploy-7.1:a"
    fields = {"request_id": "deploy-7.1:a", "principal": "ci", "trace_id": trace}
    assert answer.json() == ["deploy-7.1:a", fields]
    assert client.get("/missing", headers=sent).headers["x-request-id"] == "deploy-7.1:a"


@pytest.mark.parametrize("sent", ["", "a b", "x" * 129, "a\tb", '"><script>', "é"])
def test_a_malformed_id_is_replaced(client: TestClient, sent: str) -> None:
    answer = client.get("/", headers=[(b"x-request-id", sent.encode()), (b"traceparent", b"00-zz")])
    id, fields = answer.json()
    assert re.fullmatch("[0-9a-f]{32}", id)
    assert answer.headers["x-request-id"] == id
    assert fields == {"request_id": id, "principal": "ci"}
