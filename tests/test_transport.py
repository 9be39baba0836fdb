"""POST with retries: results, repeated attempts, and the deadline, against real servers."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import repeat
from threading import Thread

import pytest
from opentelemetry.sdk.trace import TracerProvider

from headwater import transport
from headwater.errors import SettingsError, UnavailableError
from headwater.transport import HttpSender, bearer_headers
from tests.spark_hooks.servers import closed_port, recorder, silent_server

BODY = b"{}"


def test_a_response_of_any_status_is_a_result_and_redirects_are_not_followed() -> None:
    for status in (200, 307, 404, 422):
        with recorder(status) as server:
            sender = HttpSender(timeout_seconds=2, pauses=[0.01])
            response = sender.post(server.url + "/x", BODY, bearer_headers("k"))
        assert (response.status, response.is_success) == (status, status == 200)
        assert (len(server.events), server.keys, server.paths) == (1, {"Bearer k"}, {"/x"})


def test_a_malformed_key_is_refused_without_printing_it() -> None:
    with pytest.raises(SettingsError, match="the API key is malformed") as caught:
        bearer_headers("SECRET x")
    assert "SECRET" not in caught.value.message + caught.value.hint


def test_white_space_around_a_key_is_not_sent() -> None:
    assert bearer_headers(" k\r\n")["Authorization"] == "Bearer k"
    assert "Authorization" not in bearer_headers(" \n")


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("http://h/SECRET x", {}),
        ("http://h/SECRETü", {}),
        ("http://h/\nSECRET", {}),
        ("http://user:SECRET", {}),
        ("http://h..SECRET/", {}),
        ("ftp://h/SECRET", {}),
        ("http://[SECRET", {}),
        ("http:///SECRET", {}),
        ("http://h/", {"X-Key": "SECRET\n"}),
        ("http://h/", {"X-Key": "SECRET€"}),
    ],
)
def test_no_value_that_http_does_not_allow_is_printed(url: str, headers: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as caught:
        HttpSender(timeout_seconds=2).post(url, BODY, headers)
    assert "SECRET" not in caught.value.message + caught.value.hint
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_retry_status_is_repeated_until_the_pauses_are_used_up() -> None:
    with recorder(503, 503, 201) as server:
        sender = HttpSender(timeout_seconds=2, pauses=[0.01, 0.01])
        assert sender.post(server.url, BODY, bearer_headers(None)).status == 201
    with recorder(503) as server:
        assert sender.post(server.url, BODY, bearer_headers(None)).status == 503
        assert len(server.events) == 3
    with recorder(500) as server:
        assert sender.post(server.url, BODY, bearer_headers(None)).status == 500
        assert len(server.events) == 1


def test_no_response_is_an_error_after_the_last_attempt() -> None:
    sender = HttpSender(timeout_seconds=0.1, pauses=[0.01])
    with pytest.raises(UnavailableError, match="refused"):
        sender.post(closed_port(), BODY, {})
    with silent_server() as url, pytest.raises(UnavailableError, match="timed out"):
        sender.post(url, BODY, {})


@pytest.mark.timeout(60)
def test_no_attempt_begins_after_the_deadline() -> None:
    """The pauses never end: without a deadline the sender would try for ever."""
    sender = HttpSender(timeout_seconds=10, pauses=repeat(0.05))
    with silent_server() as url, pytest.raises(UnavailableError):
        sender.post(url, BODY, {}, deadline=time.monotonic() + 0.3)
    with recorder(503) as server:
        response = sender.post(server.url, BODY, {}, deadline=time.monotonic() + 0.2)
    assert response.status == 503
    assert 1 <= len(server.events) <= 4


def test_the_text_of_a_response_is_cut() -> None:
    with recorder(200) as server:
        response = HttpSender(timeout_seconds=2).post(server.url, BODY, {})
    assert response._replace(body=b"\xff" + b"a" * 600).text() == "\ufffd" + "a" * 499


def test_the_trace_of_the_program_goes_with_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    monkeypatch.delenv("TRACEPARENT", raising=False)
    assert "traceparent" not in bearer_headers(None)
    monkeypatch.setenv("TRACEPARENT", "none")
    assert "traceparent" not in bearer_headers(None)
    monkeypatch.setenv("TRACEPARENT", traceparent)
    assert bearer_headers(None)["traceparent"] == traceparent
    with TracerProvider().get_tracer("test").start_as_current_span("send") as span:
        context = span.get_span_context()
        expected = f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
        assert bearer_headers(None)["traceparent"] == expected


HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"


@contextmanager
def raw_server(parts: Callable[[], Iterable[bytes]]) -> Iterator[str]:
    """Yield the address of a server that sends these bytes to each client."""

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                with client, suppress(OSError):
                    read_request(client)
                    for part in parts():
                        client.sendall(part)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(10)


def read_request(client: socket.socket) -> None:
    """Read a request to its end: a socket that is closed before that resets the connection."""
    length = 0
    with client.makefile("rb") as request:
        for line in iter(request.readline, b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        request.read(length)


def slowly(content: bytes) -> Iterator[bytes]:
    for index in range(len(content)):
        time.sleep(0.1)
        yield content[index : index + 1]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "begin", [b"", b"HTTP/1.1 200 OK\r\nX: ", HEAD + b"\r\n", HEAD + b"Content-Length: 900\r\n\r\n"]
)
def test_a_response_byte_by_byte_ends_at_the_timeout_of_its_attempt(begin: bytes) -> None:
    def parts() -> Iterator[bytes]:
        yield begin
        yield from slowly(b"H" * 300)

    started = time.monotonic()
    with raw_server(parts) as url:
        with pytest.raises(UnavailableError, match="timed out"):
            HttpSender(timeout_seconds=0.5).post(url, BODY, {})
        assert time.monotonic() - started < 5


@pytest.mark.timeout(60)
def test_the_error_of_a_slow_body_has_no_text() -> None:
    def parts() -> Iterator[bytes]:
        yield b"HTTP/1.1 422 No\r\n\r\n"
        yield from slowly(b"x" * 300)

    with raw_server(parts) as url:
        response = HttpSender(timeout_seconds=0.5).post(url, BODY, {})
    assert (response.status, response.body) == (422, b"")


def test_a_body_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "BODY_BYTES_MAX", 5_000_000)
    with raw_server(lambda: [HEAD, b"\r\n", *repeat(b"x" * 100_000, 50)]) as url:
        assert len(HttpSender(timeout_seconds=10).post(url, BODY, {}).body) == 5_000_000
    with raw_server(lambda: [HEAD, b"\r\n", *repeat(b"x" * 100_000, 51)]) as url:
        with pytest.raises(UnavailableError, match="is larger than 5,000,000 bytes"):
            HttpSender(timeout_seconds=10, pauses=[0.01]).post(url, BODY, {})
        beginning = HttpSender(timeout_seconds=10, beginning_bytes=100).post(url, BODY, {})
    assert (beginning.status, beginning.body) == (200, b"x" * 100)


def test_the_beginning_of_a_slow_body_is_no_condition_of_success() -> None:
    def parts() -> Iterator[bytes]:
        yield HEAD + b"\r\n"
        yield from slowly(b"x" * 50)

    with raw_server(parts) as url:
        response = HttpSender(timeout_seconds=0.5, beginning_bytes=100).post(url, BODY, {})
    assert response.is_success


def test_a_body_without_its_end_is_no_response() -> None:
    parts = [HEAD, b"Content-Length: 9\r\n\r\n", b"12345"]
    with raw_server(lambda: parts) as url, pytest.raises(UnavailableError, match="IncompleteRead"):
        HttpSender(timeout_seconds=5).post(url, BODY, {})
