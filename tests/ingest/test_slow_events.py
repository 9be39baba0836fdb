"""How a batch is halved after a time-out, and which events are set aside."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from headwater.cypher.driver.database import WRITE_SECONDS_MAX
from headwater.errors import TimedOutError
from headwater.ingest import worker as module
from headwater.ingest.slow_events import ATTEMPTS_MAX, PART_SECONDS_MIN, SlowEvents
from headwater.ingest.spool.damage import Record
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.ingest.write.transaction import Checkpoint, WriteRequest
from tests.run_builders import RECEIVED

EVENTS = 2_000


def records(first: int, last: int) -> list[Record]:
    return [Record(seq, RECEIVED, b"", intact=True) for seq in range(first, last + 1)]


def part(slow: SlowEvents, first: int) -> list[int]:
    """Return the seqs that are folded at once from one on, of eight and later ones."""
    return [record.seq for record in slow.next_part(records(first, 20))]


def test_a_batch_is_folded_in_halves_and_later_events_are_not_cut() -> None:
    slow = SlowEvents(300.0)
    assert part(slow, 11) == [*range(11, 21)]
    slow.add([11, 12, 13, 14, 15])
    assert (part(slow, 11), part(slow, 14)) == ([11, 12, 13], [14, 15])
    slow.add([11, 12, 13])
    assert (part(slow, 11), part(slow, 13), part(slow, 14)) == ([11, 12], [13], [14, 15])
    assert part(slow, 16) == [16, 17, 18, 19, 20]
    assert slow.next_part([]) == []


def test_the_parts_of_seqs_with_gaps_end_where_the_batch_ended() -> None:
    slow = SlowEvents(300.0)
    slow.add([1, 1_000, 1_001, 2_000])
    read = [*records(1_001, 1_001), *records(2_000, 2_005)]
    assert [record.seq for record in slow.next_part(read)] == [1_001, 2_000]


def test_folded_parts_are_forgotten() -> None:
    slow = SlowEvents(300.0)
    slow.add([11, 12, 13, 14])
    slow.remove([11, 12], 1.0)
    assert slow.has_parts
    assert part(slow, 11) == [11, 12, 13, 14]
    slow.remove([13, 14], 1.0)
    assert not slow.has_parts


def test_an_event_is_set_aside_after_it_timed_out_alone_often_enough() -> None:
    slow = SlowEvents(300.0)
    slow.add([11, 12])
    for _ in range(ATTEMPTS_MAX):
        assert not slow.dead_reason(12)
        slow.add([12])
        assert part(slow, 12) == [12]
    assert slow.seconds_max([11]) == WRITE_SECONDS_MAX
    assert "retry 12" in slow.dead_reason(12)
    assert not slow.dead_reason(11)


def test_the_last_attempt_has_more_time() -> None:
    slow = SlowEvents(300.0)
    slow.add([11, 12])
    assert slow.seconds_max([12]) == WRITE_SECONDS_MAX
    slow.add([12])
    assert slow.seconds_max([12]) == 300.0
    assert slow.seconds_max([13, 14]) == WRITE_SECONDS_MAX


def test_halves_have_the_whole_time_and_smaller_parts_less() -> None:
    slow, seconds = SlowEvents(300.0), []
    failing = [*range(1, EVENTS + 1)]
    while len(failing) > 1:
        seconds.append(slow.seconds_max(failing))
        slow.add(failing)
        failing = failing[: math.ceil(len(failing) / 2)]
    assert seconds[:4] == [WRITE_SECONDS_MAX, WRITE_SECONDS_MAX, 30.0, 15.0]
    assert seconds[-1] == PART_SECONDS_MIN
    assert sum(seconds) < 4 * WRITE_SECONDS_MAX
    assert slow.seconds_max(failing) == WRITE_SECONDS_MAX
    assert slow.seconds_max([EVENTS - 1, EVENTS]) == WRITE_SECONDS_MAX, "the other half"


class Commit:
    """A committed transaction of a graph that is only a checkpoint."""

    def __init__(self, after: Checkpoint) -> None:
        self.after = after

    def wait(self) -> float:
        return 0.0


class FakeGraph:
    """A graph without Neo4j: it records the transactions, and lets some of them time out.

    `is_slow` says for the seqs of a transaction that it does.
    """

    def __init__(self, is_slow: Callable[[range], bool]) -> None:
        self.uri = "bolt://fake"
        self._is_slow = is_slow
        self.checkpoint = Checkpoint()
        self.failed: list[range] = []
        self.folded: list[range] = []

    def send(self, _: object, request: WriteRequest, __: object) -> Commit:
        seqs = range(request.before.position + 1, request.after.position + 1)
        is_dead = request.after.dead > request.before.dead
        if self._is_slow(seqs) and not is_dead:
            self.failed.append(seqs)
            raise TimedOutError("the transaction took too long")
        self.folded.append(seqs)
        self.checkpoint = request.after
        return Commit(request.after)


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    event: dict[str, Any] = {
        "eventTime": "2026-01-01T00:00:00Z",
        "eventType": "COMPLETE",
        "producer": "https://example.com/p",
        "job": {"namespace": "etl", "name": "load"},
    }
    bodies = [json.dumps({**event, "run": {"runId": f"r{n}"}}).encode() for n in range(EVENTS)]
    with closing(Spool(tmp_path / "spool.db")) as spool:
        spool.append(bodies, received=RECEIVED)
        yield spool


def fold(spool: Spool, monkeypatch: pytest.MonkeyPatch, is_slow: Callable[[range], bool]) -> Any:
    """Fold the spool; return the graph."""
    graph = FakeGraph(is_slow)
    monkeypatch.setattr(module, "send", graph.send)
    monkeypatch.setattr(module, "migrate", lambda _: [])
    monkeypatch.setattr(module, "warm_up", lambda *_, **__: None)
    monkeypatch.setattr(module, "read_checkpoint", lambda *_: graph.checkpoint)
    monkeypatch.setattr(module, "read_future_instants", lambda _: set())
    monkeypatch.setattr(Worker, "_can_write", lambda _: True)
    database: Any = graph
    Worker(database, spool, events_max=EVENTS).run(until_done=True)
    return graph


def test_a_batch_that_is_slow_as_a_whole_goes_in_two_halves(
    spool: Spool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "headwater.worker"):
        graph = fold(spool, monkeypatch, lambda seqs: len(seqs) > EVENTS / 2)
    assert graph.failed == [range(1, 2_001)]
    assert graph.folded == [range(1, 1_001), range(1_001, 2_001)]
    assert spool.dead_count() == 0
    lines = [record.getMessage() for record in caplog.records]
    assert "transaction_timed_out first=1 last=2000 events=2000 seconds_max=60.0" in lines
    assert [line.split(" seconds=")[0] for line in lines if line.startswith("part_folded")] == [
        "part_folded first=1 last=1000 events=1000",
        "part_folded first=1001 last=2000 events=1000",
    ]


@pytest.mark.parametrize("slow", [[1], [1_234], [2_000], [7, 8, 1_500], [1, 500, 1_000, 1_999]])
def test_slow_events_are_isolated_by_a_binary_search(
    spool: Spool, monkeypatch: pytest.MonkeyPatch, slow: list[int]
) -> None:
    graph = fold(spool, monkeypatch, lambda seqs: any(seq in seqs for seq in slow))
    assert sorted(letter.seq for letter in spool.dead_letters()) == slow
    assert [seq for seqs in graph.folded for seq in seqs] == [*range(1, EVENTS + 1)]
    alone = [seqs[0] for seqs in graph.failed if len(seqs) == 1]
    assert alone == [seq for seq in slow for _ in range(ATTEMPTS_MAX)]
    steps = math.ceil(math.log2(EVENTS))
    assert len(graph.failed) <= len(slow) * (steps + ATTEMPTS_MAX)
    assert len(graph.folded) <= len(slow) * (steps + 1)
    assert max(map(len, graph.folded)) >= EVENTS / 8, "others are folded together"


def test_after_the_parts_batches_are_whole_again(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool.append([b"malformed"] * EVENTS, received=RECEIVED + EVENTS)
    graph = fold(spool, monkeypatch, lambda seqs: seqs == range(1, EVENTS + 1))
    assert [len(seqs) for seqs in graph.folded] == [1_000, 1_000, 2_000]


def test_a_time_out_of_something_else_counts_for_no_event(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A migration, a sweep or a read may time out after an event that did."""
    alone: list[range] = []

    def is_slow(seqs: range) -> bool:
        """Return True until the event 5 has timed out alone once."""
        if 5 not in seqs or alone:
            return False
        alone.extend([seqs] * (len(seqs) == 1))
        return True

    def check(*_: object) -> None:
        if len(alone) == 1:
            alone.append(alone[0])
            raise TimedOutError("the read of the checkpoint took too long")

    monkeypatch.setattr(module, "BACKOFF_SECONDS_MIN", 0.0)
    monkeypatch.setattr(module, "check_continuity", check)
    graph = fold(spool, monkeypatch, is_slow)
    assert (len(alone), graph.folded[-1][-1], spool.dead_count()) == (2, EVENTS, 0)
