"""Events over HTTP: the paths every OpenLineage client uses.

    POST /api/v1/lineage         one event                     201 once it is synced to disk
    POST /api/v1/lineage/batch   a JSON array, or JSON lines   200 with the failed events

| answer | reason | reaction of clients |
|---|---|---|
| 400 | no JSON, or a body that cannot be unpacked | give up; a second attempt fails too |
| 403 | the key lacks the namespace that `field` names (`headwater.access.events`) | give up |
| 413 | larger than the limit after unpacking | give up |
| 415 | an encoding other than gzip | give up |
| 422 | JSON, but no event; `field` names the place | give up |
| 503 | the spool is full or its disk fails; with Retry-After | try again |

No answer is a redirect: some clients take any code under 400 for success and lose the event. None
is 429 or 507: clients do not retry them. A bad event never gets 500: clients send it five more
times. Accepting waits for the disk and for nothing else.
"""

from __future__ import annotations

import asyncio
import codecs
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from headwater.access.guard import principal_of
from headwater.access.principal import Principal
from headwater.errors import EventError, HeadwaterError
from headwater.ingest.receive.accept import LARGE_BYTES, EventAcceptor
from headwater.ingest.receive.trace_headers import RequestTrace, request_trace
from headwater.web import BodyError, error_response, json_response, read_body

BATCH_EVENTS_MAX = 100_000
# A batch is accepted in turns of this length, so that other requests run in between.
TURN_SECONDS = 0.002
# A string up to its end or the end of the body, or a mark between values. The quantifiers are
# possessive, so that matching takes time proportional to the length of any text.
_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)
_LINE = re.compile(rb"\S[^\r\n]*")

T = TypeVar("T")


class FailedEvent(msgspec.Struct):
    """One event of a batch that was not accepted."""

    index: int
    reason: str
    retriable: bool
    field: str


def routes(
    acceptor: EventAcceptor,
    *,
    event_bytes_max: int,
    batch_bytes_max: int,
    on_refused: Callable[[int], object] = lambda _: None,
) -> list[Route]:
    """Return the routes of ingest.

    `on_refused` gets the number of events of each request that were answered with a 4xx.
    """
    turns = asyncio.Lock()

    async def accept_one(request: Request) -> Response:
        body = await read_body(request, event_bytes_max)
        trace, principal = request_trace(request.headers), principal_of(request)
        accept = partial(_accept_one, acceptor, principal, trace=trace)
        sequence = await acceptor.append([await _run(acceptor, principal, accept, body)])
        return json_response({"sequence": sequence}, 201)

    async def accept_batch(request: Request) -> Response:
        body = await read_body(request, batch_bytes_max)
        trace, principal = request_trace(request.headers), principal_of(request)
        elements = await _run(acceptor, principal, _split_batch, body)
        sender = _Sender(acceptor, principal, trace, event_bytes_max, time.time_ns() // 1_000)
        accepted, failed = await _accept_batch(sender, elements, turns)
        if accepted:
            await acceptor.append(accepted)
        if failed:
            on_refused(len(failed))
        return json_response(_summary(len(accepted), failed), 200)

    async def answer(
        endpoint: Callable[[Request], Awaitable[Response]], request: Request
    ) -> Response:
        try:
            return await endpoint(request)
        except ClientDisconnect:
            return Response(status_code=400)
        except HeadwaterError as error:
            if error.status < 500:
                on_refused(1)
            return error_response(error)

    async def post_one(request: Request) -> Response:
        return await answer(accept_one, request)

    async def post_batch(request: Request) -> Response:
        return await answer(accept_batch, request)

    paths: list[Route] = []
    for path, endpoint in (("/api/v1/lineage", post_one), ("/api/v1/lineage/batch", post_batch)):
        paths.append(Route(path, endpoint, methods=["POST"]))
        paths.append(Route(f"{path}/", endpoint, methods=["POST"], include_in_schema=False))
    return paths


async def _run(
    acceptor: EventAcceptor, principal: Principal, function: Callable[[bytes], T], body: bytes
) -> T:
    """Return `function(body)`, computed in a thread if the body is large.

    Python code in a thread delays all requests more than the same code run in turn with them.
    """
    if len(body) <= LARGE_BYTES:
        return function(body)
    return await acceptor.run_in_thread(principal, len(body), function, body)


def _accept_one(
    acceptor: EventAcceptor, principal: Principal, body: bytes, *, trace: RequestTrace | None
) -> bytes:
    """Accept the only event of a request, with a hint for a batch sent to the wrong path."""
    try:
        return acceptor.accept(principal, body, time.time_ns() // 1_000, trace)
    except EventError as error:
        if body.lstrip()[:1] == b"[":
            error.hint = "POST arrays to /api/v1/lineage/batch."
        raise


def _split_batch(body: bytes) -> list[bytes]:
    """Return the events of a batch. Memory use is bounded, however small its elements are.

    Raises EventError (400) if the body is neither an array nor JSON lines, and BodyError (413) for
    too many events.
    """
    body = body.removeprefix(codecs.BOM_UTF8)
    if body.lstrip()[:1] != b"[":
        if _is_one_value(body):
            return [body]
        lines = _bounded(match.group() for match in _LINE.finditer(body))
        if not lines:
            raise EventError(
                "the body is empty", status=400, hint="Send a JSON array, or one event per line."
            )
        return lines
    try:
        # Each element takes two bytes at least.
        if len(body) > 2 * BATCH_EVENTS_MAX:
            element: Any = _counted_element()
            msgspec.json.decode(body, type=list[element])
        return [bytes(raw) for raw in msgspec.json.decode(body, type=list[msgspec.Raw])]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _split_broken_array(body)


def _is_one_value(body: bytes) -> bool:
    """Return True if the body is a single JSON value, on one line or several."""
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _split_broken_array(body: bytes) -> list[bytes]:
    """Split an array with a broken element, so that the other elements are accepted."""
    return _bounded(_elements(body))


def _elements(body: bytes) -> Iterator[bytes]:
    """Yield the elements of an array. Raises EventError at the end of what is none."""
    depth, start = 0, 0
    for token in _TOKENS.finditer(body):
        mark = token.group()
        if mark in b"[{":
            depth += 1
            start = token.end() if depth == 1 else start
        elif (mark == b"," and depth == 1) or (mark in b"]}" and depth == 1):
            yield body[start : token.start()]
            start = token.end()
            depth -= mark != b","
        elif mark in b"]}":
            depth -= 1
        if depth == 0:
            break
    if depth != 0 or body[start:].strip():
        raise EventError("the body is not a JSON array", status=400)


def _bounded(elements: Iterator[bytes]) -> list[bytes]:
    """Return the elements of a batch as a list. Raises BodyError for too many."""
    listed = list(islice(elements, BATCH_EVENTS_MAX + 1))
    if len(listed) > BATCH_EVENTS_MAX:
        raise _too_many()
    return listed


def _counted_element() -> type[msgspec.Struct]:
    """Return a type whose objects raise BodyError when a decoder has built too many of them."""
    count = 0

    class Element(msgspec.Struct, gc=False):
        def __post_init__(self) -> None:
            nonlocal count
            count += 1
            if count > BATCH_EVENTS_MAX:
                raise _too_many()

    return Element


def _too_many() -> BodyError:
    return BodyError(
        f"the batch has more than {BATCH_EVENTS_MAX} events",
        status=413,
        hint="Send smaller batches.",
    )


@dataclass(frozen=True)
class _Sender:
    """The sender of a batch; `received` is in microseconds since 1970."""

    acceptor: EventAcceptor
    principal: Principal
    trace: RequestTrace | None
    event_bytes_max: int
    received: int

    def accept(self, element: bytes) -> bytes:
        if len(element) > self.event_bytes_max:
            raise EventError(f"the event is larger than {self.event_bytes_max} bytes")
        return self.acceptor.accept(self.principal, element, self.received, self.trace)

    async def accept_large(self, element: bytes) -> bytes:
        return await self.acceptor.run_in_thread(self.principal, len(element), self.accept, element)


async def _accept_batch(
    sender: _Sender, elements: list[bytes], turns: asyncio.Lock
) -> tuple[list[bytes], list[FailedEvent]]:
    """Accept the elements of a batch in turns with all other requests.

    A batch is some hundred times the work of one event; other requests must not wait for all of it.
    A large element waits for a thread, so it has no turn: other batches go on meanwhile.
    """
    accepted: list[bytes] = []
    failed: list[FailedEvent] = []
    index = 0
    while index < len(elements):
        if len(elements[index]) > LARGE_BYTES:
            try:
                accepted.append(await sender.accept_large(elements[index]))
            except EventError as error:
                failed.append(_failed_event(index, error))
            index += 1
            continue
        async with turns:
            turn_ends = time.monotonic() + TURN_SECONDS
            while index < len(elements) and len(elements[index]) <= LARGE_BYTES:
                try:
                    accepted.append(sender.accept(elements[index]))
                except EventError as error:
                    failed.append(_failed_event(index, error))
                index += 1
                if time.monotonic() >= turn_ends:
                    break
        await asyncio.sleep(0)
    return accepted, failed


def _failed_event(index: int, error: EventError) -> FailedEvent:
    return FailedEvent(index, error.message, False, error.field or "body")


def _summary(accepted: int, failed: list[FailedEvent]) -> dict[str, Any]:
    """Return the answer of the batch endpoint by the specification (OpenLineage.yml)."""
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
