"""F01: kill -9 of a process that accepts events, at random instants, while it acknowledges."""

from __future__ import annotations

import random
import time
from contextlib import closing, suppress
from multiprocessing.connection import Connection
from pathlib import Path

from headwater.ingest.spool.spool import Spool
from tests.faults.checker import scaled, seeded
from tests.faults.history import events_of
from tests.faults.spool_processes import accept, kill, pipe, started

KILLS = 100
ACKNOWLEDGED_MAX = 12


def killed_while_accepting(path: Path, first: int, chance: random.Random) -> dict[int, int]:
    """Accept, kill after a random number of acknowledgements, and return them: seq to run."""
    reader, writer = pipe()
    process = started(accept, path, first, writer)
    writer.close()
    acknowledged: dict[int, int] = {}
    with closing(reader):
        for _ in range(chance.randint(1, ACKNOWLEDGED_MAX)):
            seq, run = reader.recv()
            acknowledged[seq] = run
        time.sleep(chance.uniform(0, 0.005))
        kill(process)
        with suppress(EOFError, OSError):
            read_rest(reader, acknowledged)
    return acknowledged


def read_rest(reader: Connection, acknowledged: dict[int, int]) -> None:
    while True:
        seq, run = reader.recv()
        acknowledged[seq] = run


def test_every_acknowledged_event_is_stored_whole_and_in_order(tmp_path: Path) -> None:
    chance, path = seeded(20261124), tmp_path / "spool.db"
    acknowledged: dict[int, int] = {}
    first, kills = 0, scaled(KILLS)
    for _ in range(kills):
        found = killed_while_accepting(path, first, chance)
        assert found, "it was killed while it acknowledged"
        assert acknowledged.keys().isdisjoint(found), "a receipt is given once"
        acknowledged |= found
        first = max(found.values()) + 100
    with closing(Spool(path)) as spool:
        records = spool.read(0, events_max=10**7, bytes_max=2**40)
    assert all(record.intact for record in records)
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    bodies = [record.body for record in records]
    for seq, run in acknowledged.items():
        assert bodies[seq - 2 : seq] == events_of(run), f"run {run} is lost"
    print(f"{kills} kills: {2 * len(acknowledged)} acknowledged, {len(bodies)} stored, 0 lost")
