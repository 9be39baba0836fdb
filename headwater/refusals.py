"""The answers to requests that `headwater.connections` refuses."""

from __future__ import annotations

from starlette.types import Receive, Scope, Send

from headwater.errors import HeadwaterError, UnavailableError
from headwater.web import error_response

HEADER_BYTES_MAX = 32 * 2**10
LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
NO_MEMORY = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\n"
    b"content-length: 0\r\n\r\n"
)
HEADERS_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n"
    b"content-length: 0\r\n\r\n"
)
NO_HANDSHAKE = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class _TooLargeError(HeadwaterError):
    status = 431


async def refuse_headers(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 431 and close the connection."""
    error = _TooLargeError(
        f"the request line and the headers are larger than {HEADER_BYTES_MAX} bytes",
        hint="Send fewer cookies, or the query in the body.",
    )
    await _close_after(error, scope, receive, send)


async def refuse_request(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 503 and close the connection."""
    error = UnavailableError("too many connections are open", hint="Send again later.")
    await _close_after(error, scope, receive, send)


async def _close_after(error: HeadwaterError, scope: Scope, receive: Receive, send: Send) -> None:
    response = error_response(error)
    response.headers["connection"] = "close"
    await response(scope, receive, send)
