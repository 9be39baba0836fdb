"""Slow and hostile clients against a real server on loopback, with small bounds."""

from __future__ import annotations

import asyncio
import gc
import resource
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.sync.client import connect

from headwater import connections
from headwater.certificate import ServerCertificate
from headwater.connections import (
    BoundedProtocol,
    BoundedWebSocket,
    ConnectionPool,
    TlsHandshake,
    connections_max,
)
from headwater.web import CALLER, BodyError, BodyMemory, error_response, read_body
from tests.faults.processes import wait_for
from tests.tls_servers import Authority

CAP = connections.CONNECTIONS_MIN
# More than the buffers of a connection hold.
LARGE_BYTES = 32_000_000
MEMORY = 300_000


@pytest.fixture
def pool() -> ConnectionPool:
    return ConnectionPool(CAP)


def set_bounds(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    for name in ("HEADER", "BODY", "READ"):
        monkeypatch.setattr(connections, f"{name}_SECONDS_MAX", seconds)
    for name in ("BODY", "READ"):
        monkeypatch.setattr(connections, f"{name}_BYTES_PER_SECOND_MIN", 10**9)


@pytest.fixture(autouse=True)
def long_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set every time so that no test reaches it on a busy machine."""
    set_bounds(monkeypatch, 600.0)


@pytest.fixture
def short_bounds(long_bounds: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set every time to one second, for tests of its end."""
    del long_bounds
    set_bounds(monkeypatch, 1.0)


@pytest.fixture
def port(pool: ConnectionPool) -> Iterator[int]:
    """Yield the port of a server with 32 connections."""
    with served(partial(BoundedProtocol, pool=pool)) as running:
        yield running


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(params=["uvloop", "asyncio"])
def tls_port(
    request: pytest.FixtureRequest, pool: ConnectionPool, authority: Authority
) -> Iterator[int]:
    """Yield the port of such a server that speaks TLS."""
    with served(tls_protocol(authority, pool), request.param) as running:
        yield running


def tls_protocol(authority: Authority, pool: ConnectionPool) -> Callable[..., TlsHandshake]:
    context = ServerCertificate(*authority.issue("server")).context
    return partial(TlsHandshake, context=context, pool=pool)


@contextmanager
def served(protocol: Callable[..., asyncio.Protocol], loop: str = "auto") -> Iterator[int]:
    """Run a server in a thread; yield its port."""

    async def echo(request: Request) -> Response:
        request.scope[CALLER] = request.headers.get("x-caller", "")
        try:
            return PlainTextResponse(str(len(await read_body(request, 200_000))))
        except BodyError as error:
            return error_response(error)

    async def late(request: Request) -> Response:
        await request.body()
        return PlainTextResponse(request.headers.get("x-late", "none"))

    async def large(_: Request) -> Response:
        return Response(bytes(LARGE_BYTES))

    async def greet(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(websocket.url.scheme)
        await websocket.close()

    routes = [Route(path, echo, methods=["GET", "POST"]) for path in ("/", "/healthz")]
    app = Starlette(
        routes=[
            *routes,
            Route("/large", large),
            Route("/late", late, methods=["POST"]),
            WebSocketRoute("/greet", greet),
        ],
        middleware=[Middleware(BodyMemory, bytes_max=MEMORY)],
    )
    config = uvicorn.Config(
        app,
        port=0,
        log_level="critical",
        loop=loop,
        http=protocol,  # type: ignore[arg-type]
        ws=BoundedWebSocket,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
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


@pytest.mark.usefixtures("short_bounds")
@pytest.mark.parametrize(
    "sent",
    [b"", b"\r\n\r\n", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n"],
    ids=["nothing", "empty lines", "half a line", "half the headers"],
)
def test_headers_that_do_not_end_get_408(port: int, sent: bytes) -> None:
    assert status(port, sent) == 408


@pytest.mark.usefixtures("short_bounds")
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


CHUNKED = b"POST /late HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n%s\r\n1\r\nx\r\n0\r\n"


def test_trailers_are_no_headers(port: int) -> None:
    sent = [CHUNKED % b"" + b"X-Late: trailer\r\n\r\n", CHUNKED % b"X-Late: header\r\n" + b"\r\n"]
    end = b"POST /late HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    with closing(opened(port, b"".join([*sent, end]))) as client:
        bodies = [one.rpartition(b"\r\n\r\n")[2] for one in answer(client).split(b"HTTP/1.1 ")[1:]]
    assert bodies == [b"none", b"header", b"none"]


@pytest.mark.parametrize("more", [b"X: ", b"1;x=", b"0\r\nX: "], ids=["head", "chunk", "trailer"])
def test_what_is_no_body_is_bounded(port: int, more: bytes) -> None:
    begun = b"" if more == b"X: " else b"Transfer-Encoding: chunked\r\n\r\n"
    sent = b"POST / HTTP/1.1\r\nHost: a\r\n" + begun + more
    with closing(opened(port, sent)) as client, suppress(OSError):
        for _ in range(100):
            client.sendall(b"x" * 65_536)
        pytest.fail("the server reads on")
    assert status(port, request()) == 200


@pytest.mark.usefixtures("short_bounds")
def test_a_body_that_does_not_end_gets_408(port: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n"
    assert status(port, head + b"x" * 50) == 408


@pytest.mark.usefixtures("short_bounds")
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


def test_clients_that_read_nothing_make_room_for_others(port: int) -> None:
    with ExitStack() as clients:
        for _ in range(CAP):
            clients.enter_context(closing(unread(port)))
        wait_for("one of them makes room", lambda: status(port, request()) == 200, 30)


@pytest.mark.usefixtures("short_bounds")
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


def test_bodies_that_do_not_go_on_make_room(port: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx"
    with ExitStack() as clients:
        for _ in range(CAP + connections.SPARE_CONNECTIONS):
            clients.enter_context(closing(opened(port, head)))
        wait_for("one of them makes room", lambda: status(port, request()) == 200, 30)


def test_health_is_answered_when_every_connection_is_in_use(port: int) -> None:
    """Requests that wait for their bodies cannot be ended in favour of others."""
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"
    with ExitStack() as busy:
        clients = [busy.enter_context(closing(opened(port, head))) for _ in range(CAP)]
        wait_for("all are in use", lambda: status(port, request()) == 503, 30)
        assert status(port, request("/healthz")) == 200
        assert status(port, request("/healthz?a=b")) == 200
        clients[0].sendall(b"x" * 100_000)
        assert clients[0].recv(1_000).endswith(b"100000")


def held_body(caller: str, size: int = 150_000) -> bytes:
    """Return the request of a caller with a body of 150,000 bytes, up to a size of the body."""
    return request(more=f"X-Caller: {caller}\r\nContent-Length: 150000\r\n") + b"x" * size


def test_the_bodies_of_all_requests_share_a_bound(port: int) -> None:
    assert status(port, held_body("third")) == 200
    with ExitStack() as busy:
        for caller in ("first", "second"):
            busy.enter_context(closing(opened(port, held_body(caller, 140_000))))
        wait_for("their bytes are held", lambda: status(port, held_body("third")) == 503, 30)
    wait_for("their bytes are free again", lambda: status(port, held_body("third")) == 200, 30)


def test_the_bodies_of_one_caller_have_half_of_it(port: int) -> None:
    with closing(opened(port, held_body("loud", 140_000))):
        wait_for("its bytes are held", lambda: status(port, held_body("loud")) == 503, 30)
        assert status(port, held_body("quiet")) == 200
    wait_for("its bytes are free again", lambda: status(port, held_body("loud")) == 200, 30)


def test_the_cap_leaves_files_for_other_purposes() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert connections_max(10) == CAP
    assert connections_max(10**9) <= max(soft, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def client_of(authority: Authority) -> tuple[ssl.SSLObject, ssl.MemoryBIO, ssl.MemoryBIO]:
    """Return the TLS of a client without a socket, with its incoming and outgoing bytes."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context(cafile=authority.file)
    return context.wrap_bio(incoming, outgoing, server_hostname="localhost"), incoming, outgoing


def hello_of(authority: Authority) -> bytes:
    """Return the first bytes of a handshake."""
    client, _, outgoing = client_of(authority)
    with suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def tls_opened(port: int, authority: Authority) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=authority.file)
    return context.wrap_socket(opened(port), server_hostname="localhost")


def tls_status(port: int, authority: Authority, sent: bytes) -> int:
    with closing(tls_opened(port, authority)) as client:
        client.sendall(sent)
        return int(answer(client).split()[1])


def test_connections_without_a_handshake_make_room_and_are_ended(
    tls_port: int, authority: Authority, pool: ConnectionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_bounds(monkeypatch, 5.0)
    hello = hello_of(authority)
    with ExitStack() as idle:
        clients = [
            idle.enter_context(closing(opened(tls_port, sent)))
            for _ in range(CAP)
            for sent in (b"", hello[:9], hello)
        ]
        assert tls_status(tls_port, authority, request("/healthz")) == 200
        assert tls_status(tls_port, authority, request()) == 200
        assert len(pool.open) <= CAP
        for client in clients:
            answer(client)
    wait_for("no connection", lambda: not pool.open and not pool.waiting, 30)


@pytest.mark.parametrize("is_answered", [False, True])
def test_closed_connections_whose_clients_do_not_answer_make_room(
    tls_port: int, authority: Authority, pool: ConnectionPool, is_answered: bool
) -> None:
    """A client of TLS must answer the end of a connection, or the server waits for it."""
    with ExitStack() as idle:
        for _ in range(2 * CAP):
            client = idle.enter_context(closing(tls_opened(tls_port, authority)))
            if is_answered:
                client.sendall(request())
                assert client.recv(1_000).startswith(b"HTTP/1.1 200")
        assert tls_status(tls_port, authority, request()) == 200
        assert len(pool.open) + len(pool.closing) <= CAP + connections.SPARE_CONNECTIONS


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_a_server_ends_although_handshakes_are_not_complete(
    loop: str, authority: Authority, pool: ConnectionPool
) -> None:
    with ExitStack() as clients:
        with served(tls_protocol(authority, pool), loop) as port:
            silent = [
                clients.enter_context(closing(opened(port, sent)))
                for sent in (b"", hello_of(authority))
            ]
            wait_for("both connections", lambda: len(pool.open) == 2, 30)
        for client in silent:
            answer(client)
    assert not pool.open


@pytest.mark.parametrize("pieces", [1, 2, 40])
def test_a_handshake_and_a_request_in_any_pieces(
    tls_port: int, authority: Authority, pieces: int
) -> None:
    """The last bytes of the handshake and the request are one packet."""
    tls, incoming, outgoing = client_of(authority)
    with closing(opened(tls_port)) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        is_complete = False
        while not is_complete:
            try:
                tls.do_handshake()
                tls.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                is_complete = True
            except ssl.SSLWantReadError:
                pass
            sent = outgoing.read()
            size = -(-len(sent) // pieces) or 1
            for start in range(0, len(sent), size):
                client.sendall(sent[start : start + size])
            if not is_complete:
                incoming.write(client.recv(65_536))
        received = b""
        while not received:
            incoming.write(client.recv(65_536))
            with suppress(ssl.SSLWantReadError):  # a ticket for the next session
                received = tls.read(1_000)
    assert received.startswith(b"HTTP/1.1 200")


def test_what_is_no_handshake_is_ended_quietly(
    tls_port: int, authority: Authority, pool: ConnectionPool, caplog: pytest.LogCaptureFixture
) -> None:
    hello = hello_of(authority)
    for sent in (request(), b"x" * 300_000, hello[:40] + bytes(600), hello[:50], hello):
        with closing(socket.create_connection(("127.0.0.1", tls_port), timeout=60)) as client:
            with suppress(OSError):  # the server may have ended the connection before
                client.sendall(sent)
                client.shutdown(socket.SHUT_WR)
            assert b"HTTP" not in answer(client)
    for sent in (b"", hello[:50], hello):
        client = opened(tls_port, sent)
        # The client resets the connection.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
    with closing(tls_opened(tls_port, authority)) as client:
        client.sendall(request())
        with suppress(ssl.SSLError):
            client.unwrap()
    wait_for("no connection", lambda: not pool.open and not pool.closing, 30)
    assert tls_status(tls_port, authority, request()) == 200
    gc.collect()  # a task that ended with an error logs it then
    assert caplog.messages == []


def test_websockets_speak_tls(tls_port: int, authority: Authority) -> None:
    context = ssl.create_default_context(cafile=authority.file)
    with connect(f"wss://localhost:{tls_port}/greet", ssl=context, proxy=None) as websocket:
        assert websocket.recv() == "wss"
