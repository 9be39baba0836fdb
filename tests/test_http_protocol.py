"""Requests that offer another protocol than WebSocket, on a real server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headwater.connections import ConnectionPool
from headwater.local.java import find_java
from tests.test_connections import answer, opened, pool, port

__all__ = ["pool", "port"]

BODY = "x" * 1_000
JAVA = """
    import java.net.URI;
    import java.net.http.*;

    public class Post {
        public static void main(String[] arguments) throws Exception {
            HttpClient client = HttpClient.newHttpClient();
            HttpRequest.BodyPublisher body = HttpRequest.BodyPublishers.ofString("x".repeat(1000));
            HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[0])).POST(body).build();
            for (int times = 0; times < 2; times++) {
                System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
            }
        }
    }
"""


def post(offer: str, *, is_chunked: bool = False, is_last: bool = False) -> bytes:
    head = f"POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade{', close' if is_last else ''}\r\n"
    sent = f"3e8\r\n{BODY}\r\n0\r\nUpgrade: late\r\n\r\n" if is_chunked else BODY
    size = "Transfer-Encoding: chunked" if is_chunked else f"Content-Length: {len(BODY)}"
    return f"{head}Upgrade: {offer}\r\n{size}\r\n\r\n{sent}".encode()


def bodies(port: int, pieces: Iterator[bytes]) -> list[bytes]:
    """Return the bodies of the answers: the size of each request's body."""
    with closing(opened(port)) as client:
        for piece in pieces:
            client.sendall(piece)
        received = answer(client)
    parts = received.split(b"HTTP/1.1 ")[1:]
    assert {part[:3] for part in parts} == {b"200"}
    return [part.rpartition(b"\r\n\r\n")[2] for part in parts]


@pytest.mark.parametrize("offer", ["h2c", "TLS/1.2", "foo", "h2c, websocket", ""])
@pytest.mark.parametrize("is_chunked", [False, True])
@pytest.mark.parametrize("size", [1, 100, 10_000])
def test_an_offer_of_another_protocol_is_ignored(
    port: int, offer: str, is_chunked: bool, size: int
) -> None:
    sent = post(offer, is_chunked=is_chunked) + post(offer, is_chunked=is_chunked, is_last=True)
    pieces = (sent[begin : begin + size] for begin in range(0, len(sent), size))
    assert bodies(port, pieces) == [b"1000", b"1000"]


def test_many_offers_at_once(port: int) -> None:
    get = b"GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"
    assert bodies(port, iter([get * 2_000, post("h2c", is_last=True)])) == [b"0"] * 2_000 + [
        b"1000"
    ]


def test_a_websocket_does_not_begin_before_an_earlier_answer(port: int) -> None:
    sent = post("", is_chunked=True)
    handshake = (
        b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    assert bodies(port, iter([sent + handshake])) == [b"1000", b"0"]


@pytest.mark.slow
def test_the_client_of_java_offers_one(port: int, tmp_path: Path) -> None:
    source = tmp_path / "Post.java"
    source.write_text(JAVA)
    command = [str(find_java().program), str(source), f"http://127.0.0.1:{port}/"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert printed.split() == ["1000", "1000"]


def test_bytes_behind_the_last_request_do_not_spoil_its_answer(port: int) -> None:
    assert bodies(port, iter([post("h2c", is_last=True) + b"more"])) == [b"1000"]
    plain = post("h2c", is_last=True).replace(b"Upgrade", b"X")
    assert bodies(port, iter([plain + b"more"])) == [b"1000"]


@pytest.mark.parametrize(
    "sent",
    [
        b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
        b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n\0\0\0",
    ],
    ids=["a tunnel", "what is no request behind an offer"],
)
def test_what_is_no_request(port: int, pool: ConnectionPool, sent: bytes) -> None:
    with closing(opened(port, sent)) as client:
        assert answer(client).split()[1] == b"400"
    assert not pool.open
