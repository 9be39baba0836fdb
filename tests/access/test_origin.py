"""Foreign hosts and origins are refused."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from headwater.access.origin import HostNames, OriginCheck, allowed_hosts, cors_middleware
from headwater.settings import LOOPBACK, Settings


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("127.0.0.1:8000", "", 200),
        ("localhost:8000", "http://localhost:8000", 200),
        ("[::1]:8000", "", 200),
        ("evil.example", "", 403),
        ("127.0.0.1:8000", "http://evil.example", 403),
        ("127.0.0.1:8000", "http://127.0.0.1:9999", 403),
    ],
)
def test_only_loopback_hosts_and_the_own_origin_pass(host: str, origin: str, status: int) -> None:
    app = OriginCheck(PlainTextResponse("ok"), HostNames(LOOPBACK))
    headers = {"host": host, **({"origin": origin} if origin else {})}
    answer = TestClient(app).get("/", headers=headers)
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["error"]["hint"].startswith(
            "List the origin of the page in HEADWATER_"
        )


def test_the_names_of_a_server_follow_from_its_settings() -> None:
    assert allowed_hosts(Settings()) == HostNames(LOOPBACK)
    assert allowed_hosts(Settings(require_keys=True)) == HostNames()
    listed = Settings(
        allow_anonymous=True,
        allowed_hosts="lineage.example.com, Other.example.com",
        public_url="https://public.example.com:8443",
    )
    assert allowed_hosts(listed) == HostNames(
        LOOPBACK | {"lineage.example.com", "other.example.com", "public.example.com"}, local=True
    )


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.com", 403),
        ("evil.com:8000", 403),
        ("127.0.0.1.evil.com", 403),
        ("lineage.example.com", 200),
        ("LINEAGE.example.com:443", 200),
        ("10.1.2.3:8000", 200),
        ("[fd00::1]:8000", 200),
        ("api:8000", 200),
        ("[bad", 400),
        ("a]b", 400),
        ("localhost:port", 400),
        ("evil.com@localhost", 400),
        ("localhost/x", 400),
        (":8000", 400),
    ],
)
def test_anonymous_clients_must_know_a_name_of_the_server(host: str, status: int) -> None:
    """A page of evil.com whose name resolves to this server sends its own name as Host."""
    names = HostNames(LOOPBACK | {"lineage.example.com"}, local=True)
    client = TestClient(OriginCheck(PlainTextResponse("ok"), names))
    assert client.get("/", headers={"host": host}).status_code == status
    own_page = {"host": host, "origin": f"http://{host}"}
    assert client.get("/", headers=own_page).status_code == status


@pytest.mark.parametrize("origin", ["http://[bad", "http://a]b", "[", "null"])
def test_a_malformed_origin_is_a_foreign_one(origin: str) -> None:
    client = TestClient(OriginCheck(PlainTextResponse("ok"), HostNames(LOOPBACK)))
    headers = {"host": "localhost", "origin": origin}
    assert client.get("/", headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("scheme", "origin", "status"),
    [
        ("http", "http://localhost", 200),
        ("http", "https://localhost", 200),  # a proxy speaks TLS
        ("http", "ftp://localhost", 403),
        ("http", "//localhost", 403),
        ("https", "https://localhost", 200),
        ("https", "http://localhost", 403),
    ],
)
def test_the_scheme_of_the_page_is_compared(scheme: str, origin: str, status: int) -> None:
    app = OriginCheck(PlainTextResponse("ok"), HostNames(LOOPBACK))
    client = TestClient(app, base_url=f"{scheme}://localhost")
    assert client.get("/", headers={"origin": origin}).status_code == status


DASHBOARD = "https://dash.example.com"


def served(*origins: str) -> TestClient:
    """Serve a route and a WebSocket behind the check, with these origins allowed."""

    async def echo(socket: WebSocket) -> None:
        await socket.accept()
        await socket.close()

    allowed = frozenset(origins)
    middleware = [Middleware(OriginCheck, hosts=HostNames(LOOPBACK), origins=allowed)]
    routes = [
        Route("/", lambda _: PlainTextResponse("ok"), methods=["GET", "POST"]),
        WebSocketRoute("/ws", echo),
    ]
    app = Starlette(routes=routes, middleware=[*middleware, *cors_middleware(allowed)])
    return TestClient(app, base_url="http://127.0.0.1:8000")


def preflight(client: TestClient, origin: str) -> dict[str, str]:
    headers = {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    response = client.options("/", headers=headers)
    return {**response.headers, "status": str(response.status_code)}


def test_pages_of_an_allowed_origin_read_answers() -> None:
    client = served(DASHBOARD, "http://localhost:3000")
    found = client.get("/", headers={"origin": DASHBOARD})
    assert found.status_code == 200
    assert found.headers["access-control-allow-origin"] == DASHBOARD
    assert found.headers["access-control-allow-credentials"] == "true"
    assert "Origin" in found.headers["vary"]
    answer = preflight(client, DASHBOARD)
    assert answer["status"] == "200"
    assert answer["access-control-allow-origin"] == DASHBOARD
    assert answer["access-control-allow-credentials"] == "true"
    assert answer["access-control-allow-headers"] == "authorization,content-type"
    assert "POST" in answer["access-control-allow-methods"]
    assert "Origin" in answer["vary"]
    with client.websocket_connect("ws://127.0.0.1:8000/ws", headers={"origin": DASHBOARD}):
        pass


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://dash.example.com",
        "https://dash.example.com:444",
        "https://dash.example.com.evil.example",
        "https://sub.dash.example.com",
        "https://DASH.example.com",
        "null",
    ],
)
def test_every_other_origin_is_refused(origin: str) -> None:
    client = served(DASHBOARD)
    for found in (
        client.get("/", headers={"origin": origin}),
        client.post("/", headers={"origin": origin}),
    ):
        assert found.status_code == 403
        assert "access-control-allow-origin" not in found.headers
    answer = preflight(client, origin)
    assert (answer["status"], "access-control-allow-origin" in answer) == ("403", False)
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("ws://127.0.0.1:8000/ws", headers={"origin": origin}),
    ):
        pass


def test_an_allowed_origin_does_not_open_foreign_hosts() -> None:
    """DNS rebinding: the host is checked for pages of allowed origins too."""
    headers = {"origin": DASHBOARD, "host": "dash.example.com"}
    assert served(DASHBOARD).get("/", headers=headers).status_code == 403


def test_requests_without_an_origin_vary_by_it() -> None:
    """A cache must not give their answers to pages."""
    found = served(DASHBOARD).get("/")
    assert "Origin" in found.headers["vary"]
    assert "access-control-allow-origin" not in found.headers


def test_without_the_setting_nothing_changes() -> None:
    client = served()
    assert preflight(client, DASHBOARD)["status"] == "403"
    assert preflight(client, "http://127.0.0.1:8000")["status"] == "405"
    found = client.get("/", headers={"origin": "http://127.0.0.1:8000"})
    assert not [name for name in found.headers if name.startswith("access-control")]
    assert "vary" not in found.headers
