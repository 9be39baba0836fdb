"""Group commit, with a real spool."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from headwater.errors import SpoolFullError
from headwater.ingest.spool import group_commit as module
from headwater.ingest.spool.group_commit import EXIT_WITHOUT_MEMORY, GroupCommitter
from headwater.ingest.spool.spool import Spool

WAIT = 10
# The thread stores one request, and has no memory to gather another.
WITHOUT_MEMORY = """
import asyncio, sys
from pathlib import Path
from headwater.ingest.spool.group_commit import GroupCommitter
from headwater.ingest.spool.spool import Spool

class Failing(GroupCommitter):
    def _gather(self):
        group = super()._gather()
        if group[0].bodies == [b"2"]:
            raise MemoryError
        return group

async def send():
    committer = Failing(Spool(Path(sys.argv[1])))
    print("acknowledged", await committer.append([b"1"]), flush=True)
    await committer.append([b"2"])

asyncio.run(send())
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "spool.db"


@pytest.fixture
def committer(path: Path) -> Iterator[GroupCommitter]:
    committer = GroupCommitter(Spool(path))
    yield committer
    committer.close()


def stored(path: Path) -> list[bytes]:
    with closing(Spool(path)) as spool:
        return [record.body for record in spool.read(0, events_max=10**6, bytes_max=10**9)]


def test_the_receipt_is_the_number_of_the_last_event(committer: GroupCommitter, path: Path) -> None:
    async def send() -> None:
        assert await committer.append([b"1"]) == 1
        assert await committer.append([b"2", b"3"]) == 3

    asyncio.run(send())
    assert stored(path) == [b"1", b"2", b"3"]


def test_without_memory_the_process_ends_and_keeps_what_it_acknowledged(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_MEMORY, path], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (EXIT_WITHOUT_MEMORY, "acknowledged 1\n")
    assert "no memory is left" in done.stderr
    assert stored(path) == [b"1"]


def test_each_concurrent_request_gets_its_own_receipt(
    committer: GroupCommitter, path: Path
) -> None:
    """The requests come from several event loops, each in its own thread."""
    receipts: dict[bytes, int] = {}

    async def send(worker: int) -> None:
        bodies = [b"%d-%d" % (worker, number) for number in range(50)]
        receipts_of_loop = await asyncio.wait_for(
            asyncio.gather(*(committer.append([b"before " + b, b]) for b in bodies)), WAIT
        )
        receipts.update(zip(bodies, receipts_of_loop, strict=True))

    threads = [
        threading.Thread(target=lambda worker=worker: asyncio.run(send(worker)))
        for worker in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bodies = stored(path)
    assert (len(receipts), len(bodies)) == (400, 800)
    assert all(
        bodies[number - 1] == body and bodies[number - 2] == b"before " + body
        for body, number in receipts.items()
    )


def test_a_cancelled_request_does_not_stop_the_others(
    committer: GroupCommitter, path: Path
) -> None:
    async def send() -> None:
        futures = [committer.append([b"%d" % number]) for number in range(200)]
        for future in futures[::2]:
            future.cancel()
        assert await asyncio.gather(*futures[1::2]) == list(range(2, 201, 2))
        assert await committer.append([b"last"]) == 201

    asyncio.run(send())
    assert stored(path) == [*(b"%d" % number for number in range(200)), b"last"], (
        "what is handed in is written"
    )


def test_a_closed_loop_does_not_stop_the_others(committer: GroupCommitter, path: Path) -> None:
    async def leave() -> None:
        committer.append([b"abandoned"])

    async def stay() -> int:
        return await committer.append([b"waited for"])

    for _ in range(20):
        asyncio.run(leave())
    assert asyncio.run(stay()) == 21
    assert stored(path) == [*[b"abandoned"] * 20, b"waited for"]


def test_closing_finishes_the_submitted_requests(path: Path) -> None:
    async def send() -> list[int]:
        committer = GroupCommitter(Spool(path))
        futures = [committer.append([b"%d" % number]) for number in range(100)]
        committer.close()
        return await asyncio.wait_for(asyncio.gather(*futures), WAIT)

    assert asyncio.run(send()) == list(range(1, 101))
    assert len(stored(path)) == 100


def test_every_waiting_request_gets_the_error_of_a_full_spool(path: Path) -> None:
    async def send() -> None:
        committer = GroupCommitter(Spool(path, bytes_max=100_000))
        futures = [committer.append([b"x" * 1_000_000]) for _ in range(3)]
        for future in futures:
            with pytest.raises(SpoolFullError):
                await asyncio.wait_for(future, WAIT)
        assert await committer.append([b"small"]) == 1
        committer.close()

    asyncio.run(send())


def test_requests_beyond_the_queue_bound_are_refused_at_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WAITING_BYTES_MAX", 1_000)

    async def send() -> None:
        spool = Spool(path)
        with closing(Spool(path)) as second:
            connection = second._connected()
            connection.execute("BEGIN IMMEDIATE")  # another connection writes
            committer = GroupCommitter(spool)
            first = committer.append(
                [b"x" * 5_000]
            )  # the first request is always accepted, of any size
            with pytest.raises(SpoolFullError, match="faster than the disk"):
                committer.append([b"y"])
            connection.execute("ROLLBACK")
        assert await asyncio.wait_for(first, WAIT) == 1
        committer.close()

    asyncio.run(send())


class CountingSpool(Spool):
    """A spool that records the number of events of each sync."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.sizes: list[int] = []

    def append(self, bodies: Sequence[bytes], *, received: int) -> int:
        self.sizes.append(len(bodies))
        return super().append(bodies, received=received)


def test_requests_that_come_side_by_side_share_a_sync(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def send() -> list[int]:
        spool = CountingSpool(path)
        with closing(Spool(path)) as second:
            connection = second._connected()
            connection.execute("BEGIN IMMEDIATE")  # another connection writes
            committer = GroupCommitter(spool)
            futures = [committer.append([b"first"])]
            while not spool.sizes:  # the thread waits for the other connection
                await asyncio.sleep(0.001)
            futures += [committer.append([b"x"]) for _ in range(4)]
            connection.execute("ROLLBACK")
        await asyncio.wait_for(asyncio.gather(*futures), WAIT)
        monkeypatch.setattr(module, "GATHER_SECONDS_MAX", 60.0)
        some = [committer.append([b"y"]) for _ in range(3)]
        await asyncio.sleep(0.05)
        assert not any(future.done() for future in some), "a fourth may come, as last time"
        some.append(committer.append([b"y"]))
        await asyncio.wait_for(asyncio.gather(*some), WAIT)
        monkeypatch.setattr(module, "GATHER_SECONDS_MAX", 0.0)
        for _ in range(2):
            await asyncio.wait_for(committer.append([b"alone"]), WAIT)
        monkeypatch.setattr(module, "GATHER_SECONDS_MAX", 60.0)
        await asyncio.wait_for(committer.append([b"still alone"]), WAIT)
        committer.close()
        return spool.sizes

    assert asyncio.run(send()) == [1, 4, 4, 1, 1, 1]
