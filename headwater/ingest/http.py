"""Events over HTTP: the paths every OpenLineage client uses.

    POST /api/v1/lineage         one event                        201 once it is synced to disk
    POST /api/v1/lineage/batch   a JSON array, or JSON lines      200 with a result for every event that failed

| answer | when | what clients do with it |
|---|---|---|
| 400 | not JSON, or a body that does not unpack | give up; sending it again would not help |
| 413 | larger than the limit after unpacking | give up |
| 415 | an encoding other than gzip | give up |
| 422 | JSON, but no event; `field` says where | give up |
| 503 | the spool is full or its disk fails; with Retry-After | try again |

Never a redirect (some clients take any code under 400 as success: the event would be lost in silence), never 429 or
507 (clients do not retry them), never 500 for a bad event (clients send it five more times). Accepting waits for
the disk and for nothing else. Secrets are taken out before anything is written (`redact`).
"""

from __future__ import annotations

import asyncio
import codecs
import re
import time
import zlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio.to_thread
import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from headwater.errors import EventError, HeadwaterError
from headwater.ingest.appender import Appender
from headwater.schema.events import parse

BATCH_EVENTS_MAX = 100_000
RETRY_AFTER_SECONDS = 5
# A string, to its end or that of the body, or a mark between values. Possessive, so that no text takes longer than its
# length: a request must not keep all others waiting.
_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)
# A body smaller than this is looked at at once, a larger one in a thread.
_AT_ONCE_BYTES_MAX = 256 * 1024
# A chunk of gzip may unpack to a thousand times its size; it does so in pieces.
_PIECE_BYTES = 2**20

Counted = Callable[[int, int], None]
Redact = Callable[[bytes], bytes]
T = TypeVar("T")


class BodyError(HeadwaterError):
    """A body that cannot be read at all: too large (413), wrongly packed (400) or packed otherwise (415)."""

    def __init__(self, message: str, *, status: int, field: str = "body", mend: str = "") -> None:
        super().__init__(message, mend=mend)
        self.status = status
        self.field = field


class Failed(msgspec.Struct):
    """One event of a batch that was not accepted."""

    index: int
    reason: str
    retriable: bool
    field: str


def routes(
    appender: Appender, *, event_bytes_max: int, batch_bytes_max: int, redact: Redact, counted: Counted
) -> list[Route]:
    """The routes of ingest. What `redact` makes of an event is kept; `counted(accepted, refused)` hears of every
    request."""

    async def one(request: Request) -> Response:
        body = await _body(request, event_bytes_max)
        event = await _aside(body, lambda body: redact(_judged(body)))
        seq = await asyncio.wrap_future(appender.append([event]))
        counted(1, 0)
        return _json({"receipt": seq}, 201)

    async def batch(request: Request) -> Response:
        body = await _body(request, batch_bytes_max)
        good, failed = await _aside(body, lambda body: _sorted_out(_elements(body), event_bytes_max, redact))
        if good:
            await asyncio.wrap_future(appender.append(good))
        counted(len(good), len(failed))
        return _json(_summary(len(good), failed), 200)

    async def answered(endpoint: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
        try:
            return await endpoint(request)
        except ClientDisconnect:
            return Response(status_code=400)
        except HeadwaterError as error:
            if error.status < 500:
                counted(0, 1)
            return problem(error)

    async def post_one(request: Request) -> Response:
        return await answered(one, request)

    async def post_batch(request: Request) -> Response:
        return await answered(batch, request)

    endpoints = (("/api/v1/lineage", post_one), ("/api/v1/lineage/batch", post_batch))
    return [
        Route(path + slash, endpoint, methods=["POST"], include_in_schema=not slash)
        for path, endpoint in endpoints
        for slash in ("", "/")
    ]


def problem(error: HeadwaterError) -> Response:
    """An error as its HTTP answer: `{"error": {"code", "message", "field"?, "mend"?}}`. What is wrong with no field
    in particular is wrong with the `body`."""
    said = {"code": type(error).__name__.removesuffix("Error"), "message": error.message}
    if isinstance(error, EventError):
        said["field"] = error.field or "body"
    elif isinstance(error, BodyError):
        said["field"] = error.field
    if error.mend:
        said["mend"] = error.mend
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)} if error.status == 503 else {}
    return _json({"error": said}, error.status, headers)


def _json(content: Any, status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(content), status, headers, media_type="application/json")


async def _body(request: Request, bytes_max: int) -> bytes:
    """The body, unpacked. Never more than `bytes_max` in memory, whatever it would unpack to."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip", "x-gzip", ""}:
        raise BodyError(
            f"content-encoding {encoding!r} is not taken",
            status=415,
            field="Content-Encoding",
            mend="Send plain JSON or gzip.",
        )
    packed = _Gzip() if "gzip" in encoding else None
    body, sent = bytearray(), 0
    async for chunk in request.stream():
        if packed:
            packed.unpack(chunk, body, bytes_max)
        else:
            body += chunk
        sent += len(chunk)  # members of gzip may be empty, for ever
        if max(len(body), sent) > bytes_max:
            raise BodyError(f"the body is larger than {bytes_max} bytes", status=413, mend="Send fewer or smaller.")
    if packed and not packed.whole:
        raise BodyError("the gzip body is cut short", status=400)
    return bytes(body)


class _Gzip:
    """A gzip stream, unpacked piece by piece; it may have several members (RFC 1952), one after another."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)

    @property
    def whole(self) -> bool:
        return self._member.eof

    def unpack(self, chunk: bytes, body: bytearray, bytes_max: int) -> None:
        """Add to the body what the chunk unpacks to; stops a little beyond `bytes_max`."""
        try:
            while chunk and len(body) <= bytes_max:
                if self._member.eof:
                    self._member = zlib.decompressobj(wbits=31)
                body += self._member.decompress(chunk, _PIECE_BYTES)
                chunk = self._member.unconsumed_tail or self._member.unused_data
        except zlib.error as error:
            raise BodyError(f"the body is not gzip, though it says so: {error}", status=400) from error


async def _aside(body: bytes, look: Callable[[bytes], T]) -> T:
    if len(body) <= _AT_ONCE_BYTES_MAX:
        return look(body)
    return await anyio.to_thread.run_sync(look, body)


def _judged(body: bytes) -> bytes:
    """The same event. Raises EventError when it is none."""
    try:
        parse(body, received=time.time_ns() // 1_000)
    except EventError as error:
        if body.lstrip()[:1] == b"[":
            error.mend = "POST arrays to /api/v1/lineage/batch."
        raise
    return body


def _elements(body: bytes) -> list[bytes]:
    """The events of a batch. Raises EventError (400) when it is neither an array nor JSON lines."""
    body = body.removeprefix(codecs.BOM_UTF8)
    if body.lstrip()[:1] != b"[":
        if _is_one(body):
            return [body]
        lines = [line for line in body.splitlines() if line.strip()]
        if not lines:
            raise EventError("the body is empty", status=400, mend="Send a JSON array, or one event per line.")
        return lines
    try:
        return [bytes(raw) for raw in msgspec.json.decode(body, type=list[msgspec.Raw])]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _split(body)


def _is_one(body: bytes) -> bool:
    """Whether the body is a single event, perhaps written over several lines."""
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _split(body: bytes) -> list[bytes]:
    """The elements of an array one of which is broken, so that its neighbours need not be lost with it."""
    elements: list[bytes] = []
    depth, start = 0, 0
    for token in _TOKENS.finditer(body):
        mark = token.group()
        if mark in b"[{":
            depth += 1
            start = token.end() if depth == 1 else start
        elif (mark == b"," and depth == 1) or (mark in b"]}" and depth == 1):
            elements.append(body[start : token.start()])
            start = token.end()
            depth -= mark != b","
        elif mark in b"]}":
            depth -= 1
        if depth == 0:
            break
    if depth != 0 or body[start:].strip():
        raise EventError("the body is not a JSON array", status=400)
    return elements


def _sorted_out(elements: list[bytes], event_bytes_max: int, redact: Redact) -> tuple[list[bytes], list[Failed]]:
    """The events as they are to be kept, and what was none."""
    if len(elements) > BATCH_EVENTS_MAX:
        raise BodyError(f"more than {BATCH_EVENTS_MAX} events in one batch", status=413, mend="Send smaller batches.")
    good: list[bytes] = []
    failed: list[Failed] = []
    received = time.time_ns() // 1_000
    for index, element in enumerate(elements):
        try:
            if len(element) > event_bytes_max:
                raise EventError(f"the event is larger than {event_bytes_max} bytes")
            parse(element, received=received)
            good.append(redact(element))
        except EventError as error:
            failed.append(Failed(index, error.message, False, error.field or "body"))
    return good, failed


def _summary(accepted: int, failed: list[Failed]) -> dict[str, Any]:
    """The answer of the specification's batch endpoint (OpenLineage.yml, `/lineage/batch`)."""
    return {
        "status": "partial_success" if failed else "success",
        "summary": {
            "received": accepted + len(failed),
            "successful": accepted,
            "failed": len(failed),
            "retriable": 0,
            "non_retriable": len(failed),
        },
        "failed_events": failed,
    }
