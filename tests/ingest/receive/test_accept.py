"""Accepting an event: parse, redact, authorize, append."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headwater.access.principal import ANONYMOUS, UNAUTHENTICATED
from headwater.errors import EventError
from headwater.ingest.receive.accept import LARGE_BODIES_MAX, LARGE_BYTES, EventAcceptor
from headwater.ingest.receive.redact import Redactor
from headwater.ingest.spool.group_commit import GroupCommitter
from headwater.ingest.spool.spool import Spool
from headwater.schema.naming import load_naming


def event(job: str, **more: Any) -> dict[str, Any]:
    return {
        "eventTime": "2026-01-01T00:00:00Z",
        "job": {"namespace": "etl", "name": job},
        "run": {"runId": "r"},
        **more,
    }


def acceptor(path: Path, **options: Any) -> tuple[EventAcceptor, GroupCommitter]:
    committer = GroupCommitter(Spool(path))
    return EventAcceptor(Redactor(b"key"), load_naming(), committer, **options), committer


def test_an_event_without_secrets_keeps_its_bytes(tmp_path: Path) -> None:
    accepts, committer = acceptor(tmp_path / "spool.db")
    body = json.dumps(event("load")).encode()
    assert accepts.accept(ANONYMOUS, body, 1) is body
    committer.close()


def test_a_malformed_event_and_a_foreign_one_are_refused(tmp_path: Path) -> None:
    accepts, committer = acceptor(tmp_path / "spool.db")
    with pytest.raises(EventError) as malformed:
        accepts.accept(ANONYMOUS, b"{", 1)
    assert malformed.value.status == 400
    with pytest.raises(EventError) as foreign:
        accepts.accept(UNAUTHENTICATED, json.dumps(event("load")).encode(), 1)
    assert (foreign.value.status, foreign.value.field) == (403, "job.namespace")
    committer.close()


@pytest.mark.parametrize("allowed", [False, True])
def test_a_missing_time_is_accepted_only_by_the_setting(tmp_path: Path, allowed: bool) -> None:
    accepts, committer = acceptor(tmp_path / "spool.db", allow_missing_event_time=allowed)
    bodies = [json.dumps(event("load", eventTime=sent)).encode() for sent in (None, "2026-01-01")]
    refused = []
    for body in bodies:
        try:
            accepts.accept(ANONYMOUS, body, 1)
        except EventError as error:
            refused.append((body, error.status, error.field))
    expected = [bodies[1]] if allowed else bodies
    assert refused == [(body, 422, "eventTime") for body in expected]
    committer.close()


def test_few_large_bodies_are_in_work_at_one_time(tmp_path: Path) -> None:
    accepts, committer = acceptor(tmp_path / "spool.db")
    lock, working = threading.Lock(), Counter[str]()
    most = Counter[str]()

    def count(caller: str) -> None:
        with lock:
            working.update((caller, "all"))
            most.update({name: max(0, working[name] - most[name]) for name in working})
        time.sleep(0.01)
        with lock:
            working.subtract((caller, "all"))

    async def work() -> None:
        callers = [replace(ANONYMOUS, name=f"caller {number}") for number in range(6)] * 4
        run = accepts.run_in_thread
        await asyncio.gather(
            *(run(caller, LARGE_BYTES + 1, count, caller.name) for caller in callers)
        )
        # Small ones do not wait for each other: each waits for all.
        together = threading.Barrier(8)
        await asyncio.gather(*(run(ANONYMOUS, LARGE_BYTES, together.wait) for _ in range(8)))

    asyncio.run(work())
    assert most.pop("all") == LARGE_BODIES_MAX
    assert set(most.values()) == {1}, "one of each caller"
    committer.close()


def test_submitted_events_are_on_disk_in_order_and_without_secrets(tmp_path: Path) -> None:
    accepts, committer = acceptor(tmp_path / "spool.db")
    secret = {"_producer": "p", "_schemaURL": "s", "password": "hunter2"}
    first, second = event("a"), event("b")
    second["job"]["facets"] = {"x": secret}
    asyncio.run(accepts.submit(ANONYMOUS, [first, second]))
    committer.close()
    with closing(Spool(tmp_path / "spool.db")) as spool:
        bodies = [one.body for one in spool.read(0, events_max=10, bytes_max=10**6)]
    assert [json.loads(body)["job"]["name"] for body in bodies] == ["a", "b"]
    assert json.loads(bodies[1])["job"]["facets"]["x"]["password"] == "***"


def test_a_refused_event_refuses_its_whole_request(tmp_path: Path) -> None:
    accepts, committer = acceptor(tmp_path / "spool.db")
    with pytest.raises(EventError):
        asyncio.run(accepts.submit(ANONYMOUS, [event("a"), {"job": 1}]))
    committer.close()
    with closing(Spool(tmp_path / "spool.db")) as spool:
        assert spool.last() == 0
