"""Events over HTTP: the paths every OpenLineage client uses.

    POST /api/v1/lineage         one event                        201 once it is synced to disk
    POST /api/v1/lineage/batch   a JSON array, or JSON lines      200 with a result for every event that failed

| answer | when | what clients do with it |
|---|---|---|
| 400 | not JSON, or a body that does not unpack | give up; sending it again would not help |
| 403 | the key is not for the namespace that `field` names (`headwater.access.events`) | give up |
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
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import anyio.to_thread
import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from headwater.access.guard import principal_of
from headwater.access.principal import Principal
from headwater.errors import EventError, HeadwaterError
from headwater.ingest.spool.group_commit import Appender
from headwater.web import BodyError, json_response, problem, read_body

BATCH_EVENTS_MAX = 100_000
# So long a batch is worked on before others have their turn.
_TURN_SECONDS = 0.002
# A string, to its end or that of the body, or a mark between values. Possessive, so that no text takes longer than its
# length: a request must not keep all others waiting.
_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)
# A body or event smaller than this is looked at at once, a larger one in a thread. Whatever Python does in a thread
# costs all requests more time than if it were done in turn with them, so only what would take too long is.
_AT_ONCE_BYTES_MAX = 256 * 1024

Counted = Callable[[int, int], None]
Keep = Callable[[Principal, bytes, int], bytes]
T = TypeVar("T")


class Failed(msgspec.Struct):
    """One event of a batch that was not accepted."""

    index: int
    reason: str
    retriable: bool
    field: str


def routes(
    appender: Appender, *, event_bytes_max: int, batch_bytes_max: int, keep: Keep, counted: Counted
) -> list[Route]:
    """The routes of ingest. What `keep` makes of somebody's event (its bytes, and when it was received, in microseconds
    since 1970) is kept, or it raises EventError; `counted(accepted, refused)` hears of every request."""
    turns = asyncio.Lock()

    async def one(request: Request) -> Response:
        body = await read_body(request, event_bytes_max)
        who = principal_of(request)
        event = await _aside(body, lambda body: _kept(body, keep, who))
        seq = await appender.append([event])
        counted(1, 0)
        return json_response({"receipt": seq}, 201)

    async def batch(request: Request) -> Response:
        body = await read_body(request, batch_bytes_max)
        who = principal_of(request)
        elements = await _aside(body, _elements)
        good, failed = await _sorted_out(elements, event_bytes_max, partial(keep, who), turns)
        if good:
            await appender.append(good)
        counted(len(good), len(failed))
        return json_response(_summary(len(good), failed), 200)

    async def answered(
        endpoint: Callable[[Request], Awaitable[Response]], request: Request
    ) -> Response:
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


async def _aside(body: bytes, look: Callable[[bytes], T]) -> T:
    if len(body) <= _AT_ONCE_BYTES_MAX:
        return look(body)
    return await anyio.to_thread.run_sync(look, body)


def _kept(body: bytes, keep: Keep, who: Principal) -> bytes:
    """The event as it is to be kept. Raises EventError when it is none, or none that whoever sends it may send."""
    try:
        return keep(who, body, time.time_ns() // 1_000)
    except EventError as error:
        if body.lstrip()[:1] == b"[":
            error.hint = "POST arrays to /api/v1/lineage/batch."
        raise


def _elements(body: bytes) -> list[bytes]:
    """The events of a batch. Raises EventError (400) when it is neither an array nor JSON lines."""
    body = body.removeprefix(codecs.BOM_UTF8)
    if body.lstrip()[:1] != b"[":
        if _is_one(body):
            return [body]
        lines = [line for line in body.splitlines() if line.strip()]
        if not lines:
            raise EventError(
                "the body is empty", status=400, hint="Send a JSON array, or one event per line."
            )
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


async def _sorted_out(
    elements: list[bytes],
    event_bytes_max: int,
    keep: Callable[[bytes, int], bytes],
    turns: asyncio.Lock,
) -> tuple[list[bytes], list[Failed]]:
    """The events as they are to be kept, and what was none. In turns with all other requests: a batch is some hundred
    times the work of one event, and nobody should wait for all of it."""
    if len(elements) > BATCH_EVENTS_MAX:
        raise BodyError(
            f"more than {BATCH_EVENTS_MAX} events in one batch",
            status=413,
            hint="Send smaller batches.",
        )
    good: list[bytes] = []
    failed: list[Failed] = []
    received = time.time_ns() // 1_000
    rest = enumerate(elements)
    while len(good) + len(failed) < len(elements):
        async with turns:
            ends = time.monotonic() + _TURN_SECONDS
            for index, element in rest:
                try:
                    if len(element) > event_bytes_max:
                        raise EventError(f"the event is larger than {event_bytes_max} bytes")
                    good.append(await _aside(element, lambda event: keep(event, received)))
                except EventError as error:
                    failed.append(Failed(index, error.message, False, error.field or "body"))
                if time.monotonic() >= ends:
                    break
            await asyncio.sleep(0)
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
