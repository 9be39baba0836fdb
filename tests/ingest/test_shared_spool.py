"""Several APIs, each a process of its own, over api spool: started at once, taking events at
once, and api killed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from headwater.ingest.spool.spool import Spool
from tests.conftest import Neo4jServer
from tests.faults.load import Load
from tests.faults.processes import Installation, installation, wait_for

APIS = 3
# Nothing listens there: accepting events must not need Neo4j.
NOWHERE = Neo4jServer("bolt://127.0.0.1:1", "neo4j", "nobody")


def event(number: int) -> bytes:
    return (
        b'{"eventType":"START","run":{"runId":"r%d"},"job":{"namespace":"n","name":"j"},"producer":"p"}'
        % number
    )


@pytest.fixture
def apis(tmp_path: Path) -> Iterator[list[Installation]]:
    """All of them in api home, that none has been in before; nothing runs yet."""
    spool = tmp_path / "shared" / "spool.db"
    built: list[Installation] = []
    contexts = [
        installation(tmp_path / str(number), NOWHERE, spool=spool) for number in range(APIS)
    ]
    try:
        built.extend(context.__enter__() for context in contexts)
        yield built
    finally:
        for context in contexts:
            context.__exit__(None, None, None)


def test_each_event_acknowledged_by_several_processes_is_stored_once_in_one_order(
    apis: list[Installation],
) -> None:
    starts = [Thread(target=api.start_api) for api in apis]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    assert all(api.alive() for api in apis), [api.api.output() for api in apis]

    singles = [[[event(1_000_000 * at + number)] for number in range(400)] for at in (0, 1)]
    batches = [
        [[event(10_000_000 * (at + 1) + 20 * group + k) for k in range(20)] for group in range(60)]
        for at in (0, 1)
    ]
    with (
        Load(apis[0].port, singles[0]) as first,
        Load(apis[1].port, singles[1]) as second,
        Load(apis[1].port, batches[0], clients=2) as third,
        Load(apis[2].port, batches[1], clients=2) as fourth,
    ):
        loads = [first, second, third, fourth]
        wait_for("the third takes events", lambda: fourth.acknowledged >= 100, 60)
        apis[2].api.kill()  # while all of them append
        apis[2].start_api()
    kept = apis[0].records()
    assert all(load.acknowledged for load in loads)

    # A receipt is the place of that very event, whichever process gave it.
    receipts = {
        attempt.receipt: attempt.bodies[0]
        for load in loads
        for attempt in load.acked()
        if attempt.receipt
    }
    assert len(receipts) == 800
    assert {seq: kept[seq] for seq in receipts} == receipts
    # Every batch that was acknowledged stands together, in its order; sent again after the kill, it
    # may stand twice.
    assert list(kept) == list(range(1, len(kept) + 1)), "no number is left out"
    at = {body: seq for seq, body in kept.items()}
    for load in (third, fourth):
        for attempt in load.acked():
            assert [at[body] - at[attempt.bodies[0]] for body in attempt.bodies] == list(range(20))
    sent = {body for groups in (*singles, *batches) for group in groups for body in group}
    assert set(at) == sent
    again = len(kept) - len(sent)
    lost = [attempt for attempt in fourth.attempts if not attempt.acknowledged]
    assert again <= sum(len(attempt.bodies) for attempt in lost)
    with closing(Spool(apis[0].spool_path)) as spool:
        assert all(record.intact for record in spool.read(0, events_max=10**6, bytes_max=2**30))
    assert not [api.api.output() for api in apis if "Traceback" in api.api.output()]
