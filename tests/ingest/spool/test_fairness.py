"""Single events do not wait for batches: neither while those are judged, nor while they are written."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.applications import Starlette

from headwater.access.principal import Principal
from headwater.errors import EventError
from headwater.ingest.receive import http as ingest
from headwater.ingest.spool import group_commit as module
from headwater.ingest.spool.group_commit import SMALL_BYTES_MAX, Appender
from headwater.ingest.spool.spool import Spool

BATCH = [b'{"n":%d}' % number for number in range(600)]
# A batch is judged for more than a second, so that ten syncs of a busy disk come before its end.
EVENT_SECONDS = 0.002


def slowly(_: Principal, body: bytes, __: int) -> bytes:
    """A judgement that takes all of the processor for its time, and refuses every hundredth event."""
    ends = time.perf_counter() + EVENT_SECONDS
    while time.perf_counter() < ends:
        pass
    if body.endswith(b"99}"):
        raise EventError("no event")
    return body


class App:
    """The routes of ingest without a socket."""

    def __init__(self, appender: Appender, keep: Callable[[Principal, bytes, int], bytes]) -> None:
        routes = ingest.routes(
            appender,
            event_bytes_max=2**20,
            batch_bytes_max=2**24,
            keep=keep,
            counted=lambda *_: None,
        )
        self._app = Starlette(routes=list(routes))

    async def post(self, path: str, body: bytes) -> tuple[float, dict[str, Any]]:
        """When it was answered, and how."""
        said: list[bytes] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body}

        async def send(message: Any) -> None:
            said.append(message.get("body", b""))

        scope = {
            "type": "http",
            "method": "POST",
            "path": f"/api/v1/{path}",
            "headers": [],
            "query_string": b"",
        }
        await self._app(scope, receive, send)
        return time.monotonic(), msgspec.json.decode(b"".join(said))


def test_single_events_are_answered_while_batches_are_judged(tmp_path: Path) -> None:
    async def run() -> None:
        appender = Appender(Spool(tmp_path / "spool.db"))
        app = App(appender, slowly)
        content = b"[" + b",".join(BATCH) + b"]"
        batches = [asyncio.create_task(app.post("lineage/batch", content)) for _ in range(2)]
        await asyncio.sleep(0.02)
        singles = [await app.post("lineage", b'{"single":%d}' % number) for number in range(10)]
        answered = [await batch for batch in batches]
        assert singles[-1][0] < min(at for at, _ in answered), (
            "ten, one after another, before either batch"
        )
        for _, said in answered:
            assert said["summary"]["successful"] == 594
            assert [failed["index"] for failed in said["failed_events"]] == list(
                range(99, 600, 100)
            )
        appender.close()

    asyncio.run(run())
    with closing(Spool(tmp_path / "spool.db")) as spool:
        kept = [record.body for record in spool.read(0, events_max=10_000, bytes_max=2**30)]
    good = [body for body in BATCH if not body.endswith(b"99}")]
    assert kept[10:] == good * 2, "each batch in its order, and in one piece"


async def handed_in_while_the_disk_is_busy(path: Path, *requests: list[bytes]) -> list[int]:
    """The receipts of requests that all wait when the disk is free again."""
    spool = Spool(path)
    with closing(Spool(path)) as other:
        connection = other._opened()
        connection.execute("BEGIN IMMEDIATE")  # the disk is busy with somebody else
        appender = Appender(spool)
        held = appender.append([b"held"])
        await asyncio.sleep(0.2)  # it is being written by now
        futures = [appender.append(request) for request in requests]
        connection.execute("ROLLBACK")
    assert await held == 1
    receipts = await asyncio.gather(*futures)
    appender.close()
    return receipts


LARGE = b"x" * (SMALL_BYTES_MAX + 1)


def test_single_events_are_written_before_batches_that_wait(tmp_path: Path) -> None:
    requests = [*[[LARGE] * 100] * 4, *[[b"small"]] * 50]
    receipts = asyncio.run(handed_in_while_the_disk_is_busy(tmp_path / "spool.db", *requests))
    assert receipts[4:] == list(range(2, 52))
    assert receipts[:4] == [151, 251, 351, 451]


def test_a_batch_goes_along_however_many_single_events_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GROUP_EVENTS_MAX", 10)
    requests = [[LARGE], [LARGE], *[[b"small"]] * 50]
    receipts = asyncio.run(handed_in_while_the_disk_is_busy(tmp_path / "spool.db", *requests))
    assert receipts[:2] == [12, 23], "one behind the first ten, one behind the second"
