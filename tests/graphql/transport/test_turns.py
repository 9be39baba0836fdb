"""The turns of callers: one caller with many questions does not delay the questions of others."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
import strawberry

from headwater.access.principal import ANONYMOUS, Principal, Scope
from headwater.graphql.persisted_queries import PersistedQueries
from headwater.graphql.transport.http import OPERATIONS_AT_ONCE, GraphQLApp
from headwater.graphql.transport.requests import REQUEST_SECONDS_MAX

LOUD, QUIET = (Principal(name, frozenset({Scope.READ})) for name in ("loud", "quiet"))


class Questions:
    """An endpoint whose questions wait for `release`, and the questions that have begun."""

    def __init__(self) -> None:
        self.begun: Counter[str] = Counter()
        self.release = threading.Event()
        begun, release = self.begun, self.release

        @strawberry.type
        class Query:
            @strawberry.field
            async def wait(self, info: strawberry.Info[Any, None]) -> str:
                begun[info.context.principal.name] += 1
                while not release.is_set():
                    await asyncio.sleep(0.01)
                return "done"

        schema: Any = strawberry.Schema(Query)
        self._app = GraphQLApp(schema, PersistedQueries(), self._context)

    @staticmethod
    def _context(principal: Principal) -> Any:
        return SimpleNamespace(principal=principal)

    async def ask(self, principal: Principal, gone: asyncio.Event | None = None) -> Any:
        """Return the answer to a question; its client disconnects at `gone`."""
        messages: list[Any] = [{"type": "http.request", "body": b'{"query": "{ wait }"}'}]
        sent: list[Any] = []

        async def receive() -> Any:
            if messages:
                return messages.pop()
            await (gone or asyncio.Event()).wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/graphql",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
            "state": {"principal": principal},
        }
        await self._app(scope, receive, send)
        return json.loads(sent[1]["body"])

    async def wait_until_begun(self, name: str, count: int) -> None:
        async with asyncio.timeout(REQUEST_SECONDS_MAX):
            while self.begun[name] < count:
                await asyncio.sleep(0.01)


def test_a_caller_executes_a_few_operations_at_once() -> None:
    async def run() -> list[Any]:
        questions = Questions()
        loud = [asyncio.create_task(questions.ask(LOUD)) for _ in range(3 * OPERATIONS_AT_ONCE)]
        await questions.wait_until_begun("loud", OPERATIONS_AT_ONCE)
        quiet = asyncio.create_task(questions.ask(QUIET))
        await questions.wait_until_begun("quiet", 1)
        assert questions.begun == {"loud": OPERATIONS_AT_ONCE, "quiet": 1}
        questions.release.set()
        return await asyncio.gather(quiet, *loud)

    answers = asyncio.run(run())
    assert answers == [{"data": {"wait": "done"}}] * (1 + 3 * OPERATIONS_AT_ONCE)


def test_a_waiting_operation_whose_client_disconnects_is_dropped() -> None:
    async def run() -> int:
        questions, gone = Questions(), asyncio.Event()
        first = [asyncio.create_task(questions.ask(LOUD)) for _ in range(OPERATIONS_AT_ONCE)]
        await questions.wait_until_begun("loud", OPERATIONS_AT_ONCE)
        waiting = [asyncio.create_task(questions.ask(LOUD, gone)) for _ in range(5)]
        await asyncio.sleep(0)
        gone.set()
        questions.release.set()
        await asyncio.gather(*first, *waiting)
        return questions.begun["loud"]

    assert asyncio.run(run()) == OPERATIONS_AT_ONCE


def test_callers_without_a_key_have_no_turns() -> None:
    async def run() -> None:
        questions = Questions()
        asked = [asyncio.create_task(questions.ask(ANONYMOUS)) for _ in range(20)]
        await questions.wait_until_begun(ANONYMOUS.name, 20)
        questions.release.set()
        await asyncio.gather(*asked)

    asyncio.run(run())


def test_a_question_that_waits_too_long_gets_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headwater.graphql.transport.http.REQUEST_SECONDS_MAX", 0.2)

    async def run() -> list[Any]:
        questions = Questions()
        asked = (questions.ask(LOUD) for _ in range(OPERATIONS_AT_ONCE + 3))
        return await asyncio.gather(*asked)

    answers = asyncio.run(run())
    codes = [answer["errors"][0]["extensions"]["code"] for answer in answers]
    assert codes == ["TIMEOUT"] * (OPERATIONS_AT_ONCE + 3)
