"""Group commit, with a real spool."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

import pytest

from headwater.errors import SpoolFullError
from headwater.ingest import appender as module
from headwater.ingest.appender import Appender
from headwater.ingest.spool import Spool

WAIT = 10


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "spool.db"


@pytest.fixture
def appender(path: Path) -> Iterator[Appender]:
    appender = Appender(Spool(path))
    yield appender
    appender.close()


def kept(path: Path) -> list[bytes]:
    with closing(Spool(path)) as spool:
        return [record.body for record in spool.read(0, events_max=10**6, bytes_max=10**9)]


def test_the_receipt_is_the_number_of_the_last_event(appender: Appender, path: Path) -> None:
    assert appender.append([b"1"]).result(WAIT) == 1
    assert appender.append([b"2", b"3"]).result(WAIT) == 3
    assert kept(path) == [b"1", b"2", b"3"]


def test_each_of_many_at_once_gets_its_own_receipt(appender: Appender, path: Path) -> None:
    receipts: dict[bytes, Future[int]] = {}
    lock = threading.Lock()

    def send(worker: int) -> None:
        for number in range(50):
            body = b"%d-%d" % (worker, number)
            future = appender.append([b"before " + body, body])
            with lock:
                receipts[body] = future

    threads = [threading.Thread(target=send, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers = {body: future.result(WAIT) for body, future in receipts.items()}
    bodies = kept(path)
    assert len(bodies) == 800
    assert all(
        bodies[number - 1] == body and bodies[number - 2] == b"before " + body for body, number in numbers.items()
    )


def test_whoever_stops_waiting_does_not_stop_the_others(appender: Appender, path: Path) -> None:
    futures = [appender.append([b"%d" % number]) for number in range(200)]
    assert not any(future.cancel() for future in futures), "what is handed in is written"
    assert [future.result(WAIT) for future in futures] == list(range(1, 201))
    assert appender.append([b"last"]).result(WAIT) == 201
    assert len(kept(path)) == 201


def test_closing_finishes_what_was_handed_in(path: Path) -> None:
    appender = Appender(Spool(path))
    futures = [appender.append([b"%d" % number]) for number in range(100)]
    appender.close()
    assert [future.result(0) for future in futures] == list(range(1, 101))
    assert len(kept(path)) == 100


def test_a_spool_that_is_full_is_heard_of_by_everyone_who_waits(path: Path) -> None:
    appender = Appender(Spool(path, bytes_max=100_000))
    futures = [appender.append([b"x" * 1_000_000]) for _ in range(3)]
    for future in futures:
        with pytest.raises(SpoolFullError):
            future.result(WAIT)
    assert appender.append([b"small"]).result(WAIT) == 1
    appender.close()


def test_more_than_the_disk_keeps_up_with_is_refused_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAITING_BYTES_MAX", 1_000)
    spool = Spool(path)
    with closing(Spool(path)) as other:
        connection = other._opened()
        connection.execute("BEGIN IMMEDIATE")  # the disk is busy with somebody else
        appender = Appender(spool)
        first = appender.append([b"x" * 5_000])  # a first one is always taken, however large
        with pytest.raises(SpoolFullError, match="faster than the disk"):
            appender.append([b"y"])
        connection.execute("ROLLBACK")
    assert first.result(WAIT) == 1
    appender.close()
