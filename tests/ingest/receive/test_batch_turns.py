"""The batches of several senders are accepted in turns."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from headwater.access.principal import ANONYMOUS, Principal
from headwater.ingest.receive.accept import LARGE_BYTES, EventAcceptor
from headwater.ingest.receive.http import _accept_batch, _Sender
from headwater.ingest.receive.redact import Redactor
from headwater.ingest.spool.group_commit import GroupCommitter
from headwater.ingest.spool.spool import Spool
from headwater.schema.naming import load_naming

# A test that fails ends after this time.
SECONDS_MAX = 120


def event(job: str, note: str = "") -> bytes:
    body = {
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": note,
        "job": {"namespace": "etl", "name": job},
        "run": {"runId": "r"},
    }
    return json.dumps(body).encode()


def test_a_batch_of_small_events_does_not_wait_for_large_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(GroupCommitter(Spool(tmp_path / "spool.db"))) as committer:
        acceptor = EventAcceptor(Redactor(b"key"), load_naming(), committer)
        small_is_accepted = threading.Event()
        accept = acceptor.accept

        def slow(principal: Principal, body: bytes, received: int, trace: None = None) -> bytes:
            if len(body) > LARGE_BYTES:
                assert small_is_accepted.wait(SECONDS_MAX)
            return accept(principal, body, received, trace)

        monkeypatch.setattr(acceptor, "accept", slow)
        turns = asyncio.Lock()

        async def send(name: str, elements: list[bytes]) -> tuple[int, list[int]]:
            sender = _Sender(acceptor, replace(ANONYMOUS, name=name), None, 10 * 2**20, 1)
            accepted, failed = await _accept_batch(sender, elements, turns)
            if name == "small":
                small_is_accepted.set()
            return len(accepted), [one.index for one in failed]

        async def both() -> list[tuple[int, list[int]]]:
            large = [event("a"), b"{}", event("b", "x " * LARGE_BYTES), b"[]", event("c")]
            small = [event(f"s{number}") for number in range(50)]
            return list(await asyncio.gather(send("large", large), send("small", small)))

        assert asyncio.run(both()) == [(3, [1, 3]), (50, [])]
