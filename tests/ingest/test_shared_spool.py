"""Several APIs with one spool, each in its own process.

They start at once and accept events at once; one is killed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from threading import Thread

import pytest

from headwater.ingest.spool.spool import Spool
from tests.conftest import Neo4jServer
from tests.faults.load import Load
from tests.faults.processes import Installation, installation, wait_for

APIS = 3
# Nothing listens at this address: accepting events does not need Neo4j.
NOWHERE = Neo4jServer("bolt://127.0.0.1:1", "neo4j", "nobody")


def event(number: int) -> bytes:
    return (
        b'{"eventTime":"2026-01-01T00:00:00Z","eventType":"START","run":{"runId":"r%d"},'
        b'"job":{"namespace":"n","name":"j"},"producer":"p"}' % number
    )


def single_events(first: int) -> list[list[bytes]]:
    return [[event(first + number)] for number in range(400)]


def batches_of_20(first: int) -> list[list[bytes]]:
    starts = range(first, first + 1_200, 20)
    return [[*map(event, range(start, start + 20))] for start in starts]


@pytest.fixture
def apis(tmp_path: Path) -> Iterator[list[Installation]]:
    """Yield the installations of three APIs with one spool; none is started."""
    spool = tmp_path / "shared" / "spool.db"
    installations: list[Installation] = []
    contexts = [
        installation(tmp_path / str(number), NOWHERE, spool=spool) for number in range(APIS)
    ]
    try:
        installations.extend(context.__enter__() for context in contexts)
        yield installations
    finally:
        for context in contexts:
            context.__exit__(None, None, None)


@pytest.mark.slow
def test_each_event_acknowledged_by_several_processes_is_stored_once_in_one_order(
    apis: list[Installation],
) -> None:
    starts = [Thread(target=api.start_api) for api in apis]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    assert all(api.alive() for api in apis), [api.api.output() for api in apis]

    singles = [single_events(0), single_events(1_000_000)]
    batches = [batches_of_20(10_000_000), batches_of_20(20_000_000)]
    with (
        Load(apis[0].port, singles[0]) as first,
        Load(apis[1].port, singles[1]) as second,
        Load(apis[1].port, batches[0], clients=2) as third,
        Load(apis[2].port, batches[1], clients=2) as fourth,
    ):
        loads = [first, second, third, fourth]
        wait_for("the third takes events", lambda: fourth.acknowledged >= 100, 60)
        apis[2].api.kill()  # during the appends of all
        apis[2].start_api()
    stored = apis[0].records()
    assert all(load.acknowledged for load in loads)

    # A sequence number is the position of its event, whichever process answered the client.
    attempts = chain.from_iterable(load.acked() for load in loads)
    by_sequence = {attempt.sequence: attempt.bodies[0] for attempt in attempts if attempt.sequence}
    assert len(by_sequence) == 800
    assert {seq: stored[seq] for seq in by_sequence} == by_sequence
    # The events of an acknowledged batch are adjacent and in order. A batch that was sent again
    # after the kill may be stored twice.
    assert list(stored) == list(range(1, len(stored) + 1)), "no number is left out"
    positions = {body: seq for seq, body in stored.items()}
    for load in (third, fourth):
        for attempt in load.acked():
            first_position = positions[attempt.bodies[0]]
            offsets = [positions[body] - first_position for body in attempt.bodies]
            assert offsets == list(range(20))
    sent = set(chain.from_iterable(chain.from_iterable((*singles, *batches))))
    assert set(positions) == sent
    repeated = len(stored) - len(sent)
    lost = [attempt for attempt in fourth.attempts if not attempt.acknowledged]
    assert repeated <= sum(len(attempt.bodies) for attempt in lost)
    with closing(Spool(apis[0].spool_path)) as spool:
        assert all(record.intact for record in spool.read(0, events_max=10**6, bytes_max=2**30))
    assert not [api.api.output() for api in apis if "Traceback" in api.api.output()]
