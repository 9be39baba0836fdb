"""Single events do not wait for batches, neither for acceptance nor for the write."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.applications import Starlette

from headwater.access.principal import Principal
from headwater.errors import EventError
from headwater.ingest.receive import http as ingest
from headwater.ingest.receive.accept import EventAcceptor
from headwater.ingest.receive.redact import Redactor
from headwater.ingest.receive.trace_headers import RequestTrace
from headwater.ingest.spool import group_commit as module
from headwater.ingest.spool.group_commit import SMALL_BYTES_MAX, GroupCommitter
from headwater.ingest.spool.spool import Spool
from headwater.schema.naming import load_naming as load_naming

BATCH = [b'{"n":%d}' % number for number in range(600)]
SINGLES = [b'{"single":%d}' % number for number in range(10)]


class RecordingAcceptor(EventAcceptor):
    """An acceptor that records the order of its events and refuses every hundredth."""

    def __init__(self, committer: GroupCommitter) -> None:
        super().__init__(Redactor(b"key"), load_naming(), committer)
        self.order: list[bytes] = []

    def accept(
        self,
        principal: Principal,  # noqa: ARG002
        body: bytes,
        received: int,  # noqa: ARG002
        trace: RequestTrace | None = None,  # noqa: ARG002
    ) -> bytes:
        self.order.append(body)
        if body.endswith(b"99}"):
            raise EventError("no event")
        return body


class App:
    """The routes of ingest without a socket."""

    def __init__(self, acceptor: EventAcceptor) -> None:
        routes = ingest.routes(acceptor, event_bytes_max=2**20, batch_bytes_max=2**24)
        self._app = Starlette(routes=list(routes))

    async def post(self, path: str, body: bytes) -> dict[str, Any]:
        """Post a body and return the JSON of the response."""
        parts: list[bytes] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body}

        async def send(message: Any) -> None:
            parts.append(message.get("body", b""))

        scope = {
            "type": "http",
            "method": "POST",
            "path": f"/api/v1/{path}",
            "headers": [],
            "query_string": b"",
        }
        await self._app(scope, receive, send)
        answer: dict[str, Any] = msgspec.json.decode(b"".join(parts))
        return answer


def test_single_events_are_accepted_between_the_turns_of_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "TURN_SECONDS", 0.0)  # one event per turn

    async def run() -> list[bytes]:
        committer = GroupCommitter(Spool(tmp_path / "spool.db"))
        acceptor = RecordingAcceptor(committer)
        app = App(acceptor)
        content = b"[" + b",".join(BATCH) + b"]"
        batches = [asyncio.create_task(app.post("lineage/batch", content)) for _ in range(2)]
        while len(acceptor.order) < 100:
            await asyncio.sleep(0)
        singles = []
        for body in SINGLES:
            posted_after = len(acceptor.order)
            singles.append(asyncio.create_task(app.post("lineage", body)))
            while body not in acceptor.order:
                await asyncio.sleep(0)
            waited_for = acceptor.order.index(body) - posted_after
            assert waited_for <= 2, "at most one event of each batch comes first"
        assert len(acceptor.order) < 2 * len(BATCH), "both batches are still being accepted"
        for answer in await asyncio.gather(*batches):
            assert answer["summary"]["successful"] == 594
            failed = [event["index"] for event in answer["failed_events"]]
            assert failed == list(range(99, 600, 100))
        await asyncio.gather(*singles)
        committer.close()
        return acceptor.order

    order = asyncio.run(run())
    assert len(order) == 2 * len(BATCH) + len(SINGLES)
    with closing(Spool(tmp_path / "spool.db")) as spool:
        stored = [record.body for record in spool.read(0, events_max=10_000, bytes_max=2**30)]
    good = [body for body in BATCH if not body.endswith(b"99}")]
    assert stored[:10] == SINGLES, "single events are written before batches"
    assert stored[10:] == good * 2, "each batch is in order and contiguous"


async def receipts_after_a_lock(path: Path, *requests: list[bytes]) -> list[int]:
    """Return the receipts of requests that all wait while another connection locks the spool."""
    spool = Spool(path)
    with closing(Spool(path)) as second:
        connection = second._connected()
        connection.execute("BEGIN IMMEDIATE")  # another connection writes
        committer = GroupCommitter(spool)
        first_receipt = committer.append([b"first"])
        await asyncio.sleep(0.2)  # the committer waits for the lock by now
        futures = [committer.append(request) for request in requests]
        connection.execute("ROLLBACK")
    assert await first_receipt == 1
    receipts = await asyncio.gather(*futures)
    committer.close()
    return receipts


LARGE = b"x" * (SMALL_BYTES_MAX + 1)


def test_single_events_are_written_before_batches_that_wait(tmp_path: Path) -> None:
    requests = [*[[LARGE] * 100] * 4, *[[b"small"]] * 50]
    receipts = asyncio.run(receipts_after_a_lock(tmp_path / "spool.db", *requests))
    assert receipts[4:] == list(range(2, 52))
    assert receipts[:4] == [151, 251, 351, 451]


def test_a_batch_is_accepted_while_single_events_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GROUP_EVENTS_MAX", 10)
    requests = [[LARGE], [LARGE], *[[b"small"]] * 50]
    receipts = asyncio.run(receipts_after_a_lock(tmp_path / "spool.db", *requests))
    assert receipts[:2] == [12, 23], "one after the first ten, one after the second"
