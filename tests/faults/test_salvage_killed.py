"""F01: kill -9 of `spool salvage` at random instants, while this process writes the spool."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from headwater.errors import SpoolFullError
from headwater.ingest.spool.salvage import check, salvage
from headwater.ingest.spool.spool import Spool
from tests.faults.checker import scaled, seeded
from tests.faults.spool_processes import kill, started
from tests.ingest.spool.test_damage import change

KILLS = 12
EVENTS = 2_000
SECONDS_MAX = 0.6
# A refusal comes at once; a writer that waits for the lock of SQLite waits ten seconds.
REFUSAL_SECONDS_MAX = 2.0


@dataclass
class Written:
    """The successful writes, and the reasons of the refused ones with their numbers."""

    bodies: dict[int, bytes] = field(default_factory=dict)
    dead: set[int] = field(default_factory=set)
    skipped: set[int] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)

    def write(self, spool: Spool) -> None:
        """Append an event, dead-letter it, and skip it."""
        body = b"event %d" % len(self.bodies)
        seq = spool.append([body], received=1)
        self.bodies[seq] = body
        spool.dead_letter([(seq, "not foldable")])
        self.dead.add(seq)
        spool.skip([seq])
        self.skipped.add(seq)

    def write_or_count(self, spool: Spool) -> None:
        """Write, or count a refusal, which must come at once."""
        began = time.monotonic()
        try:
            self.write(spool)
        except SpoolFullError as error:
            self.refused[error.message] += 1
        assert time.monotonic() - began < REFUSAL_SECONDS_MAX


def test_a_killed_salvage_loses_no_write_and_refuses_none_later(tmp_path: Path) -> None:
    chance, path = seeded(20261128), tmp_path / "spool.db"
    written, kills = Written(), scaled(KILLS)
    with closing(Spool(path)) as spool:
        spool.append([b"%04d" % number * 750 for number in range(EVENTS)], received=1)
        for number in range(1, kills + 1):
            change(path, f"UPDATE event SET checksum = checksum + 1 WHERE seq = {number}")
            process = started(salvage, path)
            end = time.monotonic() + chance.uniform(0, SECONDS_MAX)
            while time.monotonic() < end:
                written.write_or_count(spool)
            kill(process)
            written.write(spool)
        salvage(path)
        records = spool.read(EVENTS, events_max=10**6, bytes_max=2**40)
        assert {record.seq: record.body for record in records} == written.bodies
        assert spool.dead_after(EVENTS) == written.dead
        assert spool.skipped_between(1, spool.last()) == written.skipped
    report = check(path)
    assert (report.is_whole, report.lost) == (True, kills)
    assert list(written.refused) == [f"nothing is written to the spool {path} while it is salvaged"]
    refused = written.refused.total()
    print(f"{kills} kills: {len(records)} events written, {refused} refused, 0 lost")
