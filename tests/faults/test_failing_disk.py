"""The spool on a failing disk.

The spool refuses events during the fault, keeps every acknowledged event, and recovers by itself.
"""

from __future__ import annotations

import http.client
import itertools
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette

from headwater.access.store import AccessStore
from headwater.errors import SpoolFullError
from headwater.ingest.receive import http as ingest
from headwater.ingest.receive.accept import EventAcceptor
from headwater.ingest.receive.redact import Redactor
from headwater.ingest.spool.group_commit import GroupCommitter
from headwater.ingest.spool.spool import Spool
from headwater.schema.naming import load_naming as load_naming
from tests.faults.disks import FailingDisk
from tests.faults.history import history
from tests.faults.processes import wait_for
from tests.guards import guard_of

KINDS = [{"sync"}, {"write"}, {"read"}, {"write", "sync"}, {"open"}, {"truncate"}, {"delete"}]
ALL_KINDS = frozenset({"sync", "write", "read", "open", "truncate", "delete"})
CALLS_MAX = 400


@pytest.fixture
def disk(request: pytest.FixtureRequest) -> Iterator[FailingDisk]:
    disk = FailingDisk(f"failing-{request.node.name}")
    yield disk
    disk.unregister()


def stored_events(path: Path) -> list[bytes]:
    """Return the events on disk through a spool without faults; assert that all are intact."""
    with closing(Spool(path)) as spool:
        records = spool.read(0, events_max=10_000, bytes_max=2**30)
    assert all(record.intact for record in records)
    assert [record.seq for record in records] == list(range(1, len(records) + 1)), (
        "receipts without gaps"
    )
    return [record.body for record in records]


def holds_in_order(stored: list[bytes], acknowledged: list[bytes]) -> bool:
    """Return True if the acknowledged events are stored in order; refused ones may be stored
    too.
    """
    remaining = iter(stored)
    return all(body in remaining for body in acknowledged)


@pytest.mark.parametrize("kinds", KINDS, ids=lambda kinds: "-".join(sorted(kinds)))
def test_a_disk_fails_for_a_while(tmp_path: Path, disk: FailingDisk, kinds: set[str]) -> None:
    path = tmp_path / "spool.db"
    acknowledged: list[bytes] = []
    with closing(Spool(path, vfs=disk.vfs_name)) as spool:
        for body in history(10):
            spool.append([body], received=1)
            acknowledged.append(body)
        disk.failing = frozenset(kinds)
        refused = 0
        for body in history(10, first=10):
            try:
                spool.append([body], received=1)
                acknowledged.append(body)
            except SpoolFullError:
                refused += 1
        if kinds & {"sync", "write"}:
            assert refused == 20
        disk.failing = frozenset()
        for body in history(10, first=20):
            spool.append([body], received=1)
            acknowledged.append(body)
        disk.failing = frozenset(kinds)
    assert holds_in_order(stored_events(path), acknowledged)


def append_groups(
    path: Path, disk: FailingDisk, nth: int
) -> tuple[list[list[bytes]], list[list[bytes]]]:
    """Append groups while the nth call of the disk fails; return the accepted and refused ones."""
    bodies = history(12)
    groups = [bodies[i : i + 3] for i in range(0, len(bodies), 3)]
    disk.failing, disk.nth, disk.calls = ALL_KINDS, nth, 0
    acknowledged, refused = [], []
    try:
        with closing(Spool(path, vfs=disk.vfs_name)) as spool:
            for group in groups:
                try:
                    spool.append(group, received=1)
                    acknowledged.append(group)
                except SpoolFullError:
                    refused.append(group)
    except SpoolFullError:
        pass  # the open itself failed
    finally:
        disk.failing = frozenset()
    return acknowledged, refused


def test_every_single_call_may_fail(tmp_path: Path, disk: FailingDisk) -> None:
    """Fail the first call, the second, and so on until a load has no failure, as SQLite tests."""
    for nth in itertools.count(1):
        path = tmp_path / f"{nth}.db"
        acknowledged, refused = append_groups(path, disk, nth)
        stored = stored_events(path)
        assert holds_in_order(stored, list(itertools.chain.from_iterable(acknowledged))), (
            f"call {nth}"
        )
        for group in refused:
            assert sum(body in stored for body in group) in (0, len(group)), (
                f"call {nth} stored a part of a group"
            )
        assert len(refused) <= 1, f"call {nth}: one fault, one refusal"
        if disk.calls < nth:
            break
        assert nth < CALLS_MAX
    print(f"{nth - 1} calls, each made to fail once")
    assert nth > 30


@contextmanager
def served(committer: GroupCommitter, access_path: Path) -> Iterator[int]:
    """Serve the routes of ingest on a real socket without keys; yield the port."""
    store = AccessStore(access_path)
    routes = ingest.routes(
        EventAcceptor(Redactor(b"key"), load_naming(), committer),
        event_bytes_max=2**20,
        batch_bytes_max=2**20,
    )
    guard = guard_of(store)
    server = uvicorn.Server(
        uvicorn.Config(Starlette(routes=guard.routes(routes)), log_level="warning")
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            wait_for("the server", lambda: server.started, 10)
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(10)
            store.close()


def test_a_failing_disk_is_503_with_retry_after(tmp_path: Path, disk: FailingDisk) -> None:
    path = tmp_path / "spool.db"
    committer = GroupCommitter(Spool(path, vfs=disk.vfs_name))
    acknowledged: list[bytes] = []

    def post(port: int, body: bytes) -> tuple[int, str | None]:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
            connection.request("POST", "/api/v1/lineage", body)
            answer = connection.getresponse()
            answer.read()
            if answer.status == 201:
                acknowledged.append(body)
            return answer.status, answer.getheader("Retry-After")

    bodies = history(3)
    with closing(committer), served(committer, tmp_path / "access.db") as port:
        assert post(port, bodies[0]) == (201, None)
        disk.failing = frozenset({"sync"})
        for body in bodies[1:4]:
            status, retry_after = post(port, body)
            assert status == 503
            assert retry_after is not None
            assert int(retry_after) > 0
        disk.failing = frozenset()
        assert post(port, bodies[4]) == (201, None)
    assert holds_in_order(stored_events(path), acknowledged)
    assert acknowledged == [bodies[0], bodies[4]]
