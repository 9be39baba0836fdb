"""When the cookie of a session counts, and how it is set."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import HTTPConnection
from starlette.responses import Response

from headwater.access.session_cookie import (
    NAME,
    SECURE_NAME,
    delete_cookie,
    may_count,
    set_cookie,
    token_of,
)
from headwater.errors import ForbiddenError

OWN = {"origin": "http://localhost:8000", "sec-fetch-site": "same-origin"}
FOREIGN = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
JSON = {"content-type": "application/json; charset=utf-8"}


def connection(
    method: str = "GET", *, scheme: str = "http", headers: dict[str, str] | None = None
) -> HTTPConnection:
    sent = {"host": "localhost:8000", **(headers or {})}
    scope: dict[str, Any] = {
        "type": "websocket" if scheme.startswith("ws") else "http",
        "scheme": scheme,
        "path": "/",
        "query_string": b"",
        "server": ("localhost", 8000),
        "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
    }
    if scope["type"] == "http":
        scope["method"] = method
    return HTTPConnection(scope)


@pytest.mark.parametrize(
    ("scheme", "cookie", "token"),
    [
        ("http", "", ""),
        ("http", f"{NAME}=a", "a"),
        ("http", f"{NAME}=a; {SECURE_NAME}=b", "b"),
        # Another host could have set it.
        ("https", f"{NAME}=a", ""),
        ("wss", f"{NAME}=a", ""),
        ("https", f"{NAME}=a; {SECURE_NAME}=b", "b"),
    ],
)
def test_the_token_over_each_scheme(scheme: str, cookie: str, token: str) -> None:
    assert token_of(connection(scheme=scheme, headers={"cookie": cookie})) == token


@pytest.mark.parametrize(
    ("headers", "counts"),
    [
        ({}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        (FOREIGN, False),
    ],
)
def test_a_read_of_another_site_is_anonymous(headers: dict[str, str], counts: bool) -> None:
    assert may_count(connection(headers=headers), "/lineage") is counts


@pytest.mark.parametrize("path", ["/graphql", "/graphql/", "/session"])
def test_a_write_of_the_own_page(path: str) -> None:
    assert may_count(connection("POST", headers={**OWN, **JSON}), path)


@pytest.mark.parametrize(
    ("method", "path", "headers", "message"),
    [
        ("POST", "/graphql", {**FOREIGN, **JSON}, "pages of other sites"),
        # Nothing shows where it comes from.
        ("POST", "/graphql", JSON, "pages of other sites"),
        ("POST", "/api/v1/lineage", {**OWN, **JSON}, "may not send POST /api/v1/lineage"),
        ("POST", "/graphql", {**OWN, "content-type": "text/plain"}, "'text/plain'"),
        ("POST", "/graphql", OWN, "Content-Type is ''"),
    ],
)
def test_another_write_is_refused(
    method: str, path: str, headers: dict[str, str], message: str
) -> None:
    with pytest.raises(ForbiddenError, match=message):
        may_count(connection(method, headers=headers), path)


def test_signing_out_has_no_body() -> None:
    assert may_count(connection("DELETE", headers=OWN), "/session")


def test_a_websocket_needs_the_own_page() -> None:
    assert may_count(connection(scheme="ws", headers=OWN), "/graphql")
    with pytest.raises(ForbiddenError, match="pages of other sites"):
        may_count(connection(scheme="ws", headers=FOREIGN), "/graphql")


def cookie_of(response: Response) -> list[str]:
    return response.headers["set-cookie"].split("; ")


@pytest.mark.parametrize(
    ("scheme", "origin", "is_secure"),
    [
        ("http", "http://localhost:8000", False),
        ("https", "https://localhost:8000", True),
        # A proxy ended TLS.
        ("http", "https://lineage.example", True),
    ],
)
def test_a_cookie_is_set_for_the_time_of_the_session(
    scheme: str, origin: str, is_secure: bool
) -> None:
    response = Response()
    expires = datetime.now(UTC) + timedelta(hours=1)
    there = connection("POST", scheme=scheme, headers={"origin": origin})
    before = time.time()
    session: Any = SimpleNamespace(expires=expires)
    set_cookie(response, there, "t0ken", session)
    first, *rest = cookie_of(response)
    assert first == f"{SECURE_NAME if is_secure else NAME}=t0ken"
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= set(rest)
    assert ("Secure" in rest) is is_secure
    [age] = [int(one.partition("=")[2]) for one in rest if one.startswith("Max-Age=")]
    assert 0 <= expires.timestamp() - before - age <= 1 + time.time() - before


def test_a_deleted_cookie_ends_at_once() -> None:
    response = Response()
    delete_cookie(response, connection("DELETE"))
    first, *rest = cookie_of(response)
    assert first == f'{NAME}=""'
    assert "Max-Age=0" in rest
