"""What a command says about an API that does not answer as it should: a real server misbehaves."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from headwater.client.address import Address
from headwater.client.remote import RemoteBackend
from headwater.errors import (
    ForbiddenError,
    HeadwaterError,
    NotFoundError,
    QueryError,
    UnauthorizedError,
    UnavailableError,
)

KEY = "hw_the-secret"


class Answering(ThreadingHTTPServer):
    """A server that gives one answer to every request and keeps the requests' headers."""

    def __init__(self, status: int, content_type: str, body: bytes, **headers: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = (status, content_type, body, headers)
        self.seen: list[dict[str, str]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Answering

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.do_GET()

    def do_GET(self) -> None:
        status, content_type, body, headers = self.server.answer
        self.server.seen.append(dict(self.headers))
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the output of the tests clean."""


@contextmanager
def serving(status: int, body: Any, **headers: str) -> Iterator[Answering]:
    is_text = isinstance(body, str)
    content = body.encode() if is_text else json.dumps(body).encode()
    server = Answering(status, "text/html" if is_text else "application/json", content, **headers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def backend_to(server: Answering, *, key: str = KEY) -> RemoteBackend:
    return RemoteBackend(Address(f"http://127.0.0.1:{server.server_port}", key, "--url"))


def refusal(status: int, body: Any, *, key: str = KEY, **headers: str) -> HeadwaterError:
    """Return the error of a question to a server that answers so."""
    with serving(status, body, **headers) as server, pytest.raises(HeadwaterError) as error:
        backend_to(server, key=key).ask("trace", answerId="a")
    assert KEY not in error.value.message + error.value.hint
    return error.value


def errors(code: str, message: str = "no") -> dict[str, Any]:
    return {"data": {"trace": None}, "errors": [{"message": message, "extensions": {"code": code}}]}


def rest(message: str) -> dict[str, Any]:
    return {"error": {"code": "X", "message": message, "hint": "Do this."}}


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (200, errors("NOT_FOUND", "there is no answer"), NotFoundError, "there is no answer"),
        (200, errors("FORBIDDEN"), ForbiddenError, "no"),
        (200, errors("TIMEOUT"), UnavailableError, "no"),
        (200, errors("UNAVAILABLE"), UnavailableError, "no"),
        (200, errors("BAD_REQUEST"), QueryError, "no"),
        (200, errors("SOMETHING_NEW"), QueryError, "no"),
        (401, rest("the key is not valid"), UnauthorizedError, "the key is not valid"),
        (403, rest("the key does not allow this"), ForbiddenError, "does not allow"),
        (404, rest("there is no such path"), NotFoundError, "no such path"),
        (413, rest("the body is too large"), QueryError, "too large"),
        (503, rest("Neo4j is away"), UnavailableError, "Neo4j is away"),
        (404, "<html>not here</html>", UnavailableError, "not answer as a Headwater"),
        (200, "<html>a login page</html>", UnavailableError, "not answer as a Headwater"),
        (407, "", UnavailableError, "status 407"),
        (502, "<h1>Bad gateway</h1>", UnavailableError, "status 502"),
        (200, {"hello": "world"}, UnavailableError, "no data"),
        (200, [1, 2], UnavailableError, "not answer as a Headwater"),
    ],
)
def test_an_answer_becomes_an_error(status: int, body: Any, kind: type, words: str) -> None:
    error = refusal(status, body)
    assert type(error) is kind
    assert words in error.message


def test_a_missing_key_is_named_with_the_setting() -> None:
    error = refusal(200, errors("FORBIDDEN", "'unauthenticated' has none"), key="")
    assert type(error) is UnauthorizedError
    assert "HEADWATER_API_KEY" in error.hint
    assert "HEADWATER_API_KEY" in refusal(401, rest("a key is needed"), key="").hint
    assert "not valid here" in refusal(401, rest("a key is needed")).hint


def test_a_redirect_is_not_followed_with_the_key() -> None:
    with serving(200, errors("NOT_FOUND")) as other:
        error = refusal(302, "", Location=f"http://127.0.0.1:{other.server_port}/graphql")
        assert "redirects" in error.message
        assert other.seen == []


def test_an_api_of_another_version_is_named() -> None:
    body = {
        **errors("BAD_REQUEST", "Cannot query field 'x' on type 'Query'."),
        "info": {"version": "0.0.9"},
    }
    assert "has version 0.0.9" in refusal(200, body).message


def test_the_key_is_sent_as_a_bearer_token() -> None:
    with serving(200, {"data": {"trace": {"answer": {}}}}) as server:
        backend_to(server).ask("trace", answerId="a")
        backend_to(server, key="").ask("trace", answerId="a")
        assert [one.get("Authorization") for one in server.seen] == [f"Bearer {KEY}", None]


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(200, {"data": {"trace": {"answer": {}}}}) as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.server_port}")
        monkeypatch.setenv("no_proxy", "")
        backend = RemoteBackend(Address("http://headwater.invalid", KEY, "--url"))
        assert backend.ask("trace", answerId="a") == {"trace": {"answer": {}}}
        assert len(proxy.seen) == 1


def unreachable(url: str, seconds: float = 5.0) -> HeadwaterError:
    with pytest.raises(UnavailableError) as error:
        RemoteBackend(Address(url, KEY, "--url"), timeout_seconds=seconds).ask(
            "trace", answerId="a"
        )
    assert KEY not in error.value.message + error.value.hint
    return error.value


def test_nothing_listens() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        error = unreachable(f"http://127.0.0.1:{closed.getsockname()[1]}")
    assert "does not answer" in error.message
    assert "--url" in error.hint


def test_a_server_that_never_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = unreachable(f"http://127.0.0.1:{silent.getsockname()[1]}", seconds=0.3)
    assert "did not answer within 0.3 s" in error.message


def test_an_address_that_does_not_speak_tls() -> None:
    with serving(200, {}) as plain:
        error = unreachable(f"https://127.0.0.1:{plain.server_port}")
    assert "TLS" in error.message


def test_a_certificate_that_is_not_trusted(tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    with serving(200, {}) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        error = unreachable(f"https://127.0.0.1:{server.server_port}")
    assert "certificate" in error.message
    assert "SSL_CERT_FILE" in error.hint


def test_a_question_is_asked_again_only_as_often_as_the_caller_wants() -> None:
    with serving(503, rest("Neo4j is away")) as server:
        address = Address(f"http://127.0.0.1:{server.server_port}")
        for retries in (0, 2):
            del server.seen[:]
            with pytest.raises(UnavailableError, match="Neo4j is away"):
                RemoteBackend(address, retries=retries).ask("trace", answerId="a")
            assert len(server.seen) == 1 + retries


def test_retries_end_with_the_timeout() -> None:
    with serving(503, rest("Neo4j is away")) as server:
        address = Address(f"http://127.0.0.1:{server.server_port}")
        with pytest.raises(UnavailableError):
            RemoteBackend(address, retries=50, timeout_seconds=0.5).ask("trace", answerId="a")
        assert len(server.seen) == 2
