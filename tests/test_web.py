"""Bodies of bounded size, and errors as JSON."""

from __future__ import annotations

import asyncio
import gzip
import random

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from headwater.errors import EventError, HeadwaterError, UnavailableError
from headwater.web import PIECE_BYTES, error_response, read_body

BYTES_MAX = 1_000


async def echo(request: Request) -> Response:
    """Return the body, or the error in it."""
    try:
        return Response(await read_body(request, BYTES_MAX))
    except HeadwaterError as error:
        return error_response(error)


CLIENT = TestClient(Starlette(routes=[Route("/", echo, methods=["POST"])]))


@pytest.mark.parametrize(
    ("body", "encoding", "status"),
    [
        (b"a" * BYTES_MAX, "identity", 200),
        (b"a" * (BYTES_MAX + 1), "identity", 413),
        (gzip.compress(b"a" * BYTES_MAX, mtime=0), "gzip", 200),
        (gzip.compress(b"a" * 1_000_000, mtime=0), "gzip", 413),
        (gzip.compress(b"a", mtime=0)[:-1], "gzip", 400),
        (b"a", "gzip", 400),
        (b"a", "br", 415),
    ],
)
def test_a_body_is_unpacked_within_its_bound(body: bytes, encoding: str, status: int) -> None:
    answer = CLIENT.post("/", content=body, headers={"content-encoding": encoding})
    assert answer.status_code == status
    if status == 200:
        assert len(answer.content) == BYTES_MAX
    else:
        assert answer.json()["error"]["code"] == "Body"


@pytest.mark.parametrize(
    ("members", "turns_min"),
    [
        ([b"a" * 20 * PIECE_BYTES], 19),
        ([b""] * 200, 199),
        ([random.Random(1).randbytes(1_000)] * 200, 199),
        ([b"a" * PIECE_BYTES], 0),
    ],
)
def test_others_have_their_turn_while_a_body_is_unpacked(
    members: list[bytes], turns_min: int
) -> None:
    body = b"".join(gzip.compress(member, mtime=0) for member in members)
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    scope = {"type": "http", "method": "POST", "headers": [(b"content-encoding", b"gzip")]}

    async def receive() -> dict[str, object]:
        return messages.pop()

    async def read() -> int:
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        waiting = asyncio.create_task(others())
        unpacked = await read_body(Request(scope, receive), 10**8)
        waiting.cancel()
        assert unpacked == b"".join(members)
        return turns

    assert asyncio.run(read()) >= turns_min


def test_an_error_names_its_field_and_a_hint() -> None:
    refused = error_response(EventError("job.name is empty", field="job.name", hint="Send it."))
    assert refused.status_code == 422
    assert bytes(refused.body) == (
        b'{"error":{"code":"Event","message":"job.name is empty","field":"job.name",'
        b'"hint":"Send it."}}'
    )
    assert error_response(UnavailableError("no")).headers["retry-after"] == "5"
