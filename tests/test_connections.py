"""Slow and hostile clients against a real server on loopback, with small bounds."""

from __future__ import annotations

import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from headwater import connections
from headwater.connections import (
    BoundedProtocol,
    BoundedWebSocket,
    ConnectionPool,
    connections_max,
)
from headwater.web import BodyError, BodyMemory, error_response, read_body
from tests.faults.processes import wait_for

CAP = connections.CONNECTIONS_MIN
# More than the buffers of a connection hold.
LARGE_BYTES = 32_000_000
MEMORY = 300_000


@pytest.fixture
def pool() -> ConnectionPool:
    return ConnectionPool(CAP)


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch, pool: ConnectionPool) -> Iterator[int]:
    """Yield the port of a server with bounds of one second and 32 connections."""
    monkeypatch.setattr(connections, "HEADER_SECONDS_MAX", 1.0)
    monkeypatch.setattr(connections, "BODY_SECONDS_MAX", 1.0)
    monkeypatch.setattr(connections, "BODY_BYTES_PER_SECOND_MIN", 10**9)
    monkeypatch.setattr(connections, "READ_SECONDS_MAX", 1.0)
    monkeypatch.setattr(connections, "READ_BYTES_PER_SECOND_MIN", 10**9)

    async def echo(request: Request) -> Response:
        try:
            return PlainTextResponse(str(len(await read_body(request, 200_000))))
        except BodyError as error:
            return error_response(error)

    async def large(_: Request) -> Response:
        return Response(bytes(LARGE_BYTES))

    routes = [Route(path, echo, methods=["GET", "POST"]) for path in ("/", "/healthz")]
    routes.append(Route("/large", large))
    app = Starlette(routes=routes, middleware=[Middleware(BodyMemory, bytes_max=MEMORY)])
    config = uvicorn.Config(
        app,
        port=0,
        log_level="critical",
        http=partial(BoundedProtocol, pool=pool),  # type: ignore[arg-type]
        ws=BoundedWebSocket,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join()


def opened(port: int, sent: bytes = b"") -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=60)
    client.sendall(sent)
    return client


def answer(client: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    pieces: list[bytes] = []
    try:
        while piece := client.recv(65_536):
            pieces.append(piece)
    except ConnectionResetError:
        pass  # the server closed it before it read all that was sent
    return b"".join(pieces)


def request(path: str = "/", more: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{more}\r\n".encode()


def status(port: int, sent: bytes) -> int:
    with closing(opened(port, sent)) as client:
        return int(answer(client).split()[1])


def test_a_plain_request_passes(port: int) -> None:
    assert status(port, request()) == 200
    assert status(port, request(more="X: " + "x" * 30_000 + "\r\n")) == 200


@pytest.mark.parametrize(
    "more",
    ["X: " + "x" * 33_000 + "\r\n", "".join(f"X{n}: {'x' * 1_000}\r\n" for n in range(40))],
    ids=["one", "many"],
)
def test_large_headers_get_431(port: int, more: str) -> None:
    assert status(port, request(more=more)) == 431


def test_a_header_without_end_gets_431(port: int) -> None:
    assert status(port, b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000) == 431


@pytest.mark.parametrize(
    "sent",
    [b"", b"\r\n\r\n", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n"],
    ids=["nothing", "empty lines", "half a line", "half the headers"],
)
def test_headers_that_do_not_end_get_408(port: int, sent: bytes) -> None:
    assert status(port, sent) == 408


def test_slow_headers_get_408_although_bytes_keep_coming(port: int) -> None:
    with closing(opened(port, b"GET / HTTP/1.1\r\n")) as client:
        client.settimeout(0.2)
        received = b""
        while not received:
            try:
                client.sendall(b"X: y\r\n")
                received = client.recv(100)
            except TimeoutError:
                continue
    assert received.startswith(b"HTTP/1.1 408")


def test_a_body_that_does_not_end_gets_408(port: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n"
    assert status(port, head + b"x" * 50) == 408


def test_a_second_request_on_a_connection_has_its_own_time(port: int) -> None:
    with closing(opened(port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")) as client:
        assert client.recv(1_000).startswith(b"HTTP/1.1 200")
        client.sendall(b"\r\n")
        assert answer(client).startswith(b"HTTP/1.1 408")


def test_idle_connections_make_room_for_new_ones(port: int) -> None:
    with ExitStack() as idle:
        for _ in range(3 * CAP):
            idle.enter_context(closing(opened(port)))
        assert status(port, request()) == 200


def test_idle_connections_that_had_an_answer_make_room_too(port: int) -> None:
    with ExitStack() as idle:
        for _ in range(CAP + connections.SPARE_CONNECTIONS):
            client = idle.enter_context(closing(opened(port, request().replace(b"close", b"x"))))
            client.settimeout(10)
            if not client.recv(1_000).startswith(b"HTTP/1.1 200"):
                break
        assert status(port, request()) == 200


def unread(port: int) -> socket.socket:
    """Return a connection that asks for much and reads nothing."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    client.settimeout(60)
    client.connect(("127.0.0.1", port))
    client.sendall(request("/large") * 2)
    return client


def test_clients_that_read_nothing_make_room_for_others(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "READ_SECONDS_MAX", 600.0)
    with ExitStack() as clients:
        for _ in range(CAP):
            clients.enter_context(closing(unread(port)))
        wait_for("one of them makes room", lambda: status(port, request()) == 200, 30)


def test_a_client_that_reads_nothing_is_cut_off(port: int, pool: ConnectionPool) -> None:
    with closing(unread(port)):
        wait_for("a request in work", lambda: bool(pool.open), 30)
        wait_for("its end", lambda: not pool.open and not pool.closing, 30)


def test_a_client_that_reads_gets_all(port: int) -> None:
    with closing(opened(port, request("/large"))) as client:
        assert len(answer(client)) > LARGE_BYTES


HANDSHAKE = b"Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        b"POST / HTTP/1.1\r\n" + HANDSHAKE + b"Content-Length: 1\r\n\r\nx",
        b"GET / HTTP/1.1\r\n" + HANDSHAKE + b"Content-Length: 1\r\n\r\nx",
        b"GET / HTTP/1.1\r\n" + HANDSHAKE + b"X: y\r\n" * 200 + b"\r\n",
        b"GET / HTTP/1.1\r\n" + HANDSHAKE + b"X: " + b"y" * 20_000 + b"\r\n\r\n",
    ],
    ids=["POST", "body", "headers", "header"],
)
def test_what_is_no_handshake_gets_400(port: int, sent: bytes) -> None:
    assert status(port, sent) == 400


def test_health_is_answered_when_every_connection_is_in_use(port: int) -> None:
    """Requests that wait for their bodies cannot be ended in favour of others."""
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"
    connections.BODY_SECONDS_MAX = 60.0
    with ExitStack() as busy:
        clients = [busy.enter_context(closing(opened(port, head))) for _ in range(CAP)]
        wait_for("all are in use", lambda: status(port, request()) == 503, 30)
        assert status(port, request("/healthz")) == 200
        assert status(port, request("/healthz?a=b")) == 200
        clients[0].sendall(b"x" * 100_000)
        assert clients[0].recv(1_000).endswith(b"100000")


def test_the_bodies_of_all_requests_share_a_bound(port: int) -> None:
    connections.BODY_SECONDS_MAX = 60.0
    head = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 150000\r\n\r\n"

    def whole() -> int:
        return status(port, head + b"x" * 150_000)

    assert whole() == 200
    with ExitStack() as busy:
        for _ in range(2):
            busy.enter_context(closing(opened(port, head + b"x" * 140_000)))
        wait_for("their bytes are held", lambda: whole() == 503, 30)
    wait_for("their bytes are free again", lambda: whole() == 200, 30)


def test_the_cap_leaves_files_for_other_purposes() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert connections_max(10) == CAP
    assert connections_max(10**9) <= max(soft, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
