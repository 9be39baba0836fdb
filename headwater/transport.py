"""Requests over HTTP with bounded retries, on the standard library: for the client, the hooks and
the CLI.

A response of any status is a result, not an error. No redirect is followed: a redirected POST would
lose its body. An attempt is repeated after a connection error and after a status in
`retry_statuses`.

A response that comes byte by byte ends at the timeout of its attempt, and a body has a limit.
"""

from __future__ import annotations

import io
import os
import re
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Container, Iterable
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from headwater.credentials import WORD, parse_token
from headwater.errors import SettingsError, UnavailableError
from headwater.schema.traces import trace_id_of

SERVICE_UNAVAILABLE = 503
_TEXT = re.compile(r"[\x20-\x7e]*")
# A longer body is an error, so that no server can fill the memory of a client.
BODY_BYTES_MAX = 256 * 2**20
# The beginning of an error response is enough for a message.
_ERROR_BYTES_MAX = 10_000
_READ_BYTES = 2**20
# After the deadline an attempt gets this long, so that it fails by its timeout and not by an
# argument error.
_TIMEOUT_SECONDS_MIN = 0.01


class Response(NamedTuple):
    """The status and the body of an HTTP response, and its header Retry-After if it has one."""

    status: int
    body: bytes
    retry_after: str = ""

    @property
    def is_success(self) -> bool:
        """Return True for a status from 200 to 299."""
        return 200 <= self.status < 300

    def text(self, characters_max: int = 500) -> str:
        """Return the beginning of the body as text, for an error message."""
        return self.body.decode("utf-8", "replace")[:characters_max]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class _TimedReader(io.RawIOBase):
    """The bytes of a socket until an instant of `time.monotonic()`."""

    def __init__(self, sock: socket.socket, end: float) -> None:
        self._socket = sock
        # It keeps the socket open until it is closed itself.
        self._file = sock.makefile("rb", buffering=0)
        self._end = end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(seconds)
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


class _TimedResponse(HTTPResponse):
    """A response whose head and body end at an instant, however slowly the bytes come."""

    def __init__(self, sock: socket.socket, *args: Any, end: float, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp.close()
        self.fp = io.BufferedReader(_TimedReader(sock, end))


def _timed(connection: Any) -> Any:
    """Return a new connection whose responses end at its timeout."""
    end = time.monotonic() + connection.timeout
    connection.response_class = partial(_TimedResponse, end=end)
    return connection


def _http_connection(host: str, **options: Any) -> Any:
    return _timed(HTTPConnection(host, **options))


def _https_connection(host: str, **options: Any) -> Any:
    return _timed(HTTPSConnection(host, **options))


class _TimedHttp(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> HTTPResponse:
        return self.do_open(_http_connection, request)


class _TimedHttps(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> HTTPResponse:
        return self.do_open(_https_connection, request)


def trace_headers() -> dict[str, str]:
    """Return the header `traceparent` of the current span, or else of the environment.

    The span counts if the program uses OpenTelemetry. TRACEPARENT is what tools that start
    programs set. The dictionary is empty without a valid one.
    """
    traceparent = os.environ.get("TRACEPARENT", "")
    # Importing the package would slow down programs that do not use it.
    tracing = sys.modules.get("opentelemetry.trace")
    if tracing is not None:
        span = tracing.get_current_span().get_span_context()
        if span.is_valid:
            traceparent = f"00-{span.trace_id:032x}-{span.span_id:016x}-{span.trace_flags:02x}"
    return {"traceparent": traceparent} if trace_id_of(traceparent) else {}


def bearer_headers(api_key: str | None, content_type: str = "application/json") -> dict[str, str]:
    """Return the headers of a request: its content type, and its trace and API key if it has them.

    A repeated attempt sends the same headers. Raises SettingsError for a malformed key.
    """
    headers = {"Content-Type": content_type, **trace_headers()}
    if key := parse_token(api_key or ""):
        headers["Authorization"] = f"Bearer {key}"
    return headers


class HttpSender:
    """Sends requests with one timeout and one retry rule.

    Args:
        timeout_seconds: Limit of one attempt, from its connection to the end of its response.
        pauses: Seconds to wait before the second attempt, the third, and so on.
        retry_statuses: Statuses after which another attempt is made.
        uses_proxies: Take proxies from the environment (`HTTP_PROXY`).
        beginning_bytes: Return only this many bytes of a body. None returns the whole body.
        body_bytes_max: Limit of a whole body in bytes; None is BODY_BYTES_MAX.
    """

    def __init__(
        self,
        *,
        timeout_seconds: float,
        pauses: Iterable[float] = (),
        retry_statuses: Container[int] = (SERVICE_UNAVAILABLE,),
        uses_proxies: bool = True,
        beginning_bytes: int | None = None,
        body_bytes_max: int | None = None,
    ) -> None:
        self._timeout_seconds = timeout_seconds
        self._pauses = pauses
        self._retry_statuses = retry_statuses
        self._beginning_bytes = beginning_bytes
        self._body_bytes_max = body_bytes_max
        proxies = () if uses_proxies else (urllib.request.ProxyHandler({}),)
        self._opener = urllib.request.build_opener(_NoRedirect, _TimedHttp, _TimedHttps, *proxies)

    def post(
        self, url: str, body: bytes, headers: dict[str, str], *, deadline: float | None = None
    ) -> Response:
        """Send a POST, as `send` does."""
        return self.send("POST", url, body, headers, deadline=deadline)

    def send(
        self,
        method: str,
        url: str,
        body: bytes | None,
        headers: dict[str, str],
        *,
        deadline: float | None = None,
    ) -> Response:
        """Send a request until it is answered, the pauses are used up, or the deadline is near.

        Args:
            method: GET or POST.
            url: An http or https address.
            body: The bytes to send; None for a GET.
            headers: Header names and values.
            deadline: Instant of `time.monotonic()` after which no attempt begins.

        Returns:
            The last response.

        Raises:
            UnavailableError: The last attempt got no response, and its cause is the error of that
                attempt; or a body is too large.
            SettingsError: HTTP does not allow the address or a header.
        """
        _validate(url, headers)
        request = urllib.request.Request(url, body, headers, method=method)
        pauses = iter(self._pauses)
        while True:
            response, error = self._attempt(request, deadline)
            if response is not None and response.status not in self._retry_statuses:
                return response
            pause = next(pauses, None)
            is_late = (
                pause is not None and deadline is not None and time.monotonic() + pause >= deadline
            )
            if pause is None or is_late:
                if response is None:
                    raise UnavailableError(str(error)) from error
                return response
            time.sleep(pause)

    def _attempt(
        self, request: urllib.request.Request, deadline: float | None
    ) -> tuple[Response | None, BaseException | None]:
        """Return the response, or None with the error that prevented it."""
        timeout = self._timeout_seconds
        if deadline is not None:
            timeout = min(timeout, max(deadline - time.monotonic(), _TIMEOUT_SECONDS_MIN))
        try:
            with self._opener.open(request, timeout=timeout) as answer:
                return Response(answer.status, self._body(answer), _retry_after(answer)), None
        except urllib.error.HTTPError as error:
            with error:
                body = _beginning(error, _ERROR_BYTES_MAX)
                return Response(error.code, body, _retry_after(error)), None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", None)
            return None, reason if isinstance(reason, Exception) else error

    def _body(self, answer: Any) -> bytes:
        """Return the body, or its beginning. Raise UnavailableError if it is too large."""
        if self._beginning_bytes is not None:
            return _beginning(answer, self._beginning_bytes)
        bytes_max = BODY_BYTES_MAX if self._body_bytes_max is None else self._body_bytes_max
        body = bytearray()
        while chunk := answer.read(_READ_BYTES):
            body += chunk
            if len(body) > bytes_max:
                raise UnavailableError(
                    f"the response of {answer.url} is larger than {bytes_max:,} bytes"
                )
        # A read in parts does not notice that a part is missing at the end.
        if answer.length:
            raise IncompleteRead(bytes(body), answer.length)
        return bytes(body)


def _validate(url: str, headers: dict[str, str]) -> None:
    """Raise SettingsError, without the values, if HTTP does not allow an address or a header."""
    try:
        parts = urlsplit(url)
        _, host = parts.port, (parts.hostname or "").encode("idna")
        is_valid = parts.scheme in ("http", "https") and bool(host) and bool(WORD.fullmatch(url))
    except ValueError:
        is_valid = False
    if not is_valid:
        raise SettingsError(
            "the address of a request is malformed: it must be http or https in printable ASCII "
            "without spaces"
        )
    for name, value in headers.items():
        if not _TEXT.fullmatch(value):
            raise SettingsError(f"the header {name} of a request must be printable ASCII")


def _retry_after(answer: Any) -> str:
    return str(answer.headers.get("Retry-After") or "") if answer.headers else ""


def _beginning(answer: Any, size: int) -> bytes:
    """Return the beginning of a body, or nothing if it cannot be read in time."""
    try:
        return bytes(answer.read(size))
    except (OSError, HTTPException):
        return b""
