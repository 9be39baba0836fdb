"""Bodies of bounded size, and errors as JSON."""

from __future__ import annotations

import gzip

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from headwater.errors import EventError, HeadwaterError, UnavailableError
from headwater.web import error_response, read_body

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


def test_an_error_names_its_field_and_a_hint() -> None:
    refused = error_response(EventError("job.name is empty", field="job.name", hint="Send it."))
    assert refused.status_code == 422
    assert bytes(refused.body) == (
        b'{"error":{"code":"Event","message":"job.name is empty","field":"job.name",'
        b'"hint":"Send it."}}'
    )
    assert error_response(UnavailableError("no")).headers["retry-after"] == "5"
