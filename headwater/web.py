"""HTTP helpers of every room with routes: bodies of bounded size, and errors in one JSON form."""

from __future__ import annotations

import asyncio
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater.errors import EventError, HeadwaterError

RETRY_AFTER_SECONDS = 5
# The first segments of the paths under /api/v1 that Marquez does not have.
_OWN_SEGMENTS = frozenset({"lineage-table", "analyses", "evidence"})
# The pages of this package load nothing from other hosts.
_CONTENT_SECURITY_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "worker-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}


def page_headers(**policy: str) -> dict[str, str]:
    """Return the headers of a page; `policy` replaces directives, with `_` for `-`."""
    directives = _CONTENT_SECURITY_POLICY | {
        name.replace("_", "-"): value for name, value in policy.items()
    }
    return {
        "content-security-policy": "; ".join(
            f"{name} {value}" for name, value in directives.items()
        ),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }


STRICT_PAGE_HEADERS = page_headers()
# CodeMirror, GraphiQL's editor, sets its size by style attributes.
PAGE_HEADERS = page_headers(style_src="'self' 'unsafe-inline'")
_HELD = "headwater.held_body"
# In the scope of a request: who sent it, among the callers that share the memory of bodies.
CALLER = "headwater.caller"
# A chunk of gzip may unpack to a thousand times its size, so it is unpacked in pieces. Others get
# their turn between two of them.
PIECE_BYTES = 2**18
# Z_MEM_ERROR, which the module zlib raises as zlib.error.
_ZLIB_NO_MEMORY = "Error -4 "


class BodyError(HeadwaterError):
    """An unreadable body: too large (413), broken gzip (400) or another encoding (415)."""

    def __init__(self, message: str, *, status: int, field: str = "body", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.field = field


def error_response(error: HeadwaterError) -> Response:
    """Convert an error to its response, `{"error": {"code", "message", "field"?, "hint"?}}`.

    The field of an error about no field in particular is `body`.
    """
    content = {"code": type(error).__name__.removesuffix("Error"), "message": error.message}
    if isinstance(error, EventError):
        content["field"] = error.field or "body"
    elif isinstance(error, BodyError):
        content["field"] = error.field
    if error.hint:
        content["hint"] = error.hint
    return json_response({"error": content}, error.status, _retry_headers(error))


def _retry_headers(error: HeadwaterError) -> dict[str, str]:
    """Return when to send again after an error that passes."""
    if error.status not in (429, 503):
        return {}
    return {"Retry-After": str(getattr(error, "retry_after_seconds", RETRY_AFTER_SECONDS))}


class MarquezError(msgspec.Struct, omit_defaults=True):
    """The body of an error on a path of Marquez; `details` is the hint."""

    code: int
    message: str
    details: str = ""


def is_marquez(method: str, path: str) -> bool:
    """Return True for a request to the API of Marquez, whether or not the path exists."""
    before, _, rest = path.partition("/api/v1/")
    segment, _, further = rest.partition("/")
    if before or not segment or segment in _OWN_SEGMENTS:
        return False
    return segment != "lineage" or (method in ("GET", "HEAD") and not further)


def error_response_at(error: HeadwaterError, method: str, path: str) -> Response:
    """Convert an error to the response of its path: in Marquez' form or in Headwater's own."""
    if not is_marquez(method, path):
        return error_response(error)
    body = MarquezError(error.status, error.message, error.hint)
    return json_response(body, error.status, _retry_headers(error))


def json_response(
    content: Any, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return a response with JSON content."""
    return Response(msgspec.json.encode(content), status, headers, media_type="application/json")


class BodyMemory:
    """ASGI middleware that bounds the bytes of all bodies that requests hold at one time.

    The bodies of one caller have half of them, so that others can send. A single body is only
    bounded beside others.
    """

    def __init__(self, app: ASGIApp, bytes_max: int) -> None:
        self._app = app
        self.bytes_max = bytes_max
        self.held = 0
        self.held_by: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        held = _HeldBody(self, scope)
        scope[_HELD] = held
        try:
            await self._app(scope, receive, send)
        finally:
            held.release()


class _HeldBody:
    """The bytes that one request holds."""

    def __init__(self, memory: BodyMemory, scope: Scope) -> None:
        self._memory = memory
        self._scope = scope
        self._caller = ""
        self._size = 0

    def add(self, size: int) -> None:
        """Count further bytes. Raises BodyError if the caller, or all, hold too many."""
        memory = self._memory
        self._caller = self._scope.get(CALLER, "")
        self._size += size
        memory.held += size
        memory.held_by[self._caller] += size
        of_caller = memory.held_by[self._caller]
        if of_caller > memory.bytes_max // 2 and of_caller > self._size:
            raise _too_large_together("your requests")
        if memory.held > memory.bytes_max and memory.held > self._size:
            raise _too_large_together("all requests")

    def release(self) -> None:
        """Count the bytes no longer."""
        memory = self._memory
        memory.held -= self._size
        memory.held_by[self._caller] -= self._size
        if not memory.held_by[self._caller]:
            del memory.held_by[self._caller]


def _too_large_together(of_whom: str) -> BodyError:
    return BodyError(
        f"the bodies of {of_whom} together are too large now",
        status=503,
        hint="Send again later, or smaller batches.",
    )


async def read_body(request: Request, bytes_max: int) -> bytes:
    """Read and unpack a body. Memory use is bounded by `bytes_max`, packed or unpacked, and for all
    requests together by BodyMemory.

    Raises BodyError, and starlette's ClientDisconnect if the client disconnects.
    """
    held: _HeldBody | None = request.scope.get(_HELD)
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip", "x-gzip", ""}:
        raise BodyError(
            f"Content-Encoding {encoding!r} is not supported; expected gzip or identity",
            status=415,
            field="Content-Encoding",
            hint="Send plain JSON or gzip.",
        )
    packed = _Gzip() if "gzip" in encoding else None
    pieces: list[bytes] = []
    size = sent = 0
    async for chunk in request.stream():
        chunks = packed.unpack(chunk) if packed else (chunk,)
        for count, piece in enumerate(chunks):
            if count:
                await asyncio.sleep(0)
            pieces.append(piece)
            size += len(piece)
            if held is not None:
                held.add(len(piece))
            if size > bytes_max:
                raise _too_large(bytes_max)
        sent += len(chunk)  # gzip members may be empty, without end
        if sent > bytes_max:
            raise _too_large(bytes_max)
    if packed and not packed.is_complete:
        raise BodyError("the gzip body is truncated", status=400)
    return b"".join(pieces)


def _too_large(bytes_max: int) -> BodyError:
    return BodyError(
        f"the body is larger than {bytes_max} bytes",
        status=413,
        hint="Send fewer or smaller events.",
    )


class _Gzip:
    """A gzip stream of one or more members (RFC 1952), unpacked piece by piece."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)

    @property
    def is_complete(self) -> bool:
        return self._member.eof

    def unpack(self, chunk: bytes) -> Iterator[bytes]:
        """Unpack a chunk piece by piece. Raises BodyError if it is no gzip, and MemoryError."""
        try:
            while chunk:
                if self._member.eof:
                    self._member = zlib.decompressobj(wbits=31)
                yield self._member.decompress(chunk, PIECE_BYTES)
                chunk = self._member.unconsumed_tail or self._member.unused_data
        except zlib.error as error:
            if str(error).startswith(_ZLIB_NO_MEMORY):
                raise MemoryError("no memory to unpack a body") from error
            raise BodyError(
                f"the body is no gzip, in spite of its Content-Encoding: {error}", status=400
            ) from error
