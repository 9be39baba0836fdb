"""How a REST route reads a request: encoded paths, and parameters and bodies as types."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any
from urllib.parse import quote

import pytest
from httpx import ASGITransport, AsyncClient
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct
from starlette.applications import Starlette
from starlette.routing import Match

from headwater.access.bounded_threads import CODE_THREADS_MAX
from headwater.lineage.view import GraphView
from headwater.rest.operations import (
    THREADS_MAX,
    Api,
    ArgumentError,
    EncodedRoute,
    Operation,
    OperationRequest,
    read_json,
    read_params,
)
from tests.rest.conftest import HeaderPrincipal


class Page(Struct):
    limit: Annotated[int, Meta(ge=0, le=10)] = 5
    deep: bool = False
    name: str = ""


class Named(Struct):
    name: str
    parts: list[Page] = []


def matched(route: EncodedRoute, raw: str) -> dict[str, str] | None:
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/decoded/otherwise",
        "raw_path": raw.encode(),
    }
    match, found = route.matches(scope)
    return None if match is Match.NONE else found["path_params"]


async def answer(_: Any) -> None: ...


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=2, max_size=2)
)
def test_a_part_of_a_path_comes_back_as_it_was(parts: list[str]) -> None:
    route = EncodedRoute("/namespaces/{namespace}/jobs/{job}", answer)
    raw = "/namespaces/{}/jobs/{}".format(*(quote(part, safe="") for part in parts))
    found = matched(route, raw)
    assert found == {"namespace": parts[0], "job": parts[1]}
    assert matched(route, f"{raw}/") == found


def test_a_slash_that_is_not_encoded_ends_a_part() -> None:
    route = EncodedRoute("/jobs/{job}", answer)
    assert matched(route, "/jobs/a%2Fb") == {"job": "a/b"}
    assert matched(route, "/jobs/a/b") is None
    assert matched(route, "/jobs/") is None
    assert matched(route, "/jobs/a%252Fb?x=/") == {"job": "a%2Fb"}


def test_other_protocols_are_not_matched() -> None:
    assert EncodedRoute("/jobs", answer).matches({"type": "websocket", "path": "/jobs"}) == (
        Match.NONE,
        {},
    )


def test_parameters_are_read_as_their_type() -> None:
    assert read_params(Page, {"limit": "7", "deep": "true", "name": "12", "more": "x"}) == Page(
        7, True, "12"
    )
    for query_string, field in (
        ({"limit": "11"}, "limit"),
        ({"limit": ""}, "limit"),
        ({"deep": "perhaps"}, "deep"),
    ):
        with pytest.raises(ArgumentError) as caught:
            read_params(Page, query_string)
        assert caught.value.field == field


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        (b"", "body", "the body is not JSON"),
        (b"\xff", "body", "the body is not JSON"),
        (b'{"name": "\\ud800"}', "body", "the body is not JSON"),
        (b"[]", "body", "expected `object`, got `array`"),
        (b"{}", "name", "the field is missing"),
        (b'{"name": 1}', "name", "expected `str`, got `int`"),
        (b'{"name": "a", "parts": [{}, {"limit": 11}]}', "parts[1].limit", "expected `int` <= 10"),
    ],
)
def test_a_malformed_body_names_its_fault(body: bytes, field: str, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        read_json(body, Named)
    assert (caught.value.field, caught.value.message) == (field, message)


@pytest.mark.neo4j
def test_questions_about_code_take_no_thread_of_other_operations(view: GraphView) -> None:
    release = threading.Event()
    begun: list[int] = []

    def read_code(_: OperationRequest) -> str:
        begun.append(1)
        assert release.wait(120)
        return "code"

    operations = (
        Operation("GET", "/code", "", read_code, str, reads_code=True),
        Operation("GET", "/other", "", lambda _: "other", str),
    )

    async def submit(*_: Any) -> None: ...

    api = Api("Tests", ("",), operations, Page, lambda *_: Page())
    routes = api.routes(lambda _: view, submit)

    async def ask() -> None:
        transport = ASGITransport(HeaderPrincipal(Starlette(routes=routes)))
        async with AsyncClient(transport=transport, base_url="http://a", timeout=120) as client:
            # One caller has one thread.
            callers = [{"x-visibility": "*", "x-principal": str(i)} for i in range(THREADS_MAX + 4)]
            codes = [asyncio.create_task(client.get("/code", headers=each)) for each in callers]
            while len(begun) < CODE_THREADS_MAX:
                await asyncio.sleep(0.01)
            assert (await client.get("/other")).json() == "other"
            assert len(begun) == CODE_THREADS_MAX
            release.set()
            assert {answer.json() for answer in await asyncio.gather(*codes)} == {"code"}

    asyncio.run(ask())
