"""Pieces of a delta into the graph, one transaction each, with the number of facts written kept in the same one.

Neo4j may be away for a while or find a piece too large: then it is tried again after a pause, in halves. What Neo4j
will not take at all is found by halving, counted, and left out, so that its neighbours get in.
"""

from __future__ import annotations

import logging
import os
import random
import socket
import time
from collections.abc import Sequence
from contextlib import suppress

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError, UnavailableError
from headwater.ingest.producer_stats import ProducerStats
from headwater.ingest.write.cache import Memory
from headwater.ingest.write.transaction import (
    Checkpoint,
    CheckpointMovedError,
    read_checkpoint,
    write,
)
from headwater.pipelines.rows import Row, rows_to_delta
from headwater.schema.facts import GraphDelta
from headwater.schema.naming import Naming

# Between tries, in seconds: twice as long each time. All in all a minute and a half.
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 30.0)

log = logging.getLogger("headwater.pipelines")


class ChunkWriter:
    """Writes rows in the order in which they come, but for those that an earlier one of this name has written."""

    def __init__(self, database: Database, name: str, naming: Naming) -> None:
        self._database = database
        self._name = name
        self._naming = naming
        self._memory = Memory()
        self._holder = f"{name} {os.getpid()}@{socket.gethostname()}"
        self._checkpoint = read_checkpoint(database, name)
        # Of facts: written before this began; come by so far; refused by Neo4j; and how many transactions it took.
        self.resumed = self._checkpoint.position
        self.position = 0
        self.refused = 0
        self.transactions = 0

    def write(self, rows: Sequence[Row]) -> None:
        """Write the next rows. Raises UnavailableError when Neo4j stays away, QueryError when another one writes the
        same."""
        new = rows[max(self._checkpoint.position - self.position, 0) :]
        self.position += len(rows)
        if new:
            self._write(new)

    def _write(self, rows: Sequence[Row]) -> None:
        goal = self._checkpoint.position + len(rows)
        for pause in (*PAUSES, None):
            try:
                self._commit(rows)
                return
            except CheckpointMovedError as error:
                raise QueryError("another backfill of the same files is at work") from error
            except UnavailableError as error:
                if pause is None:
                    raise
                log.warning("waiting up to %.1f s: %s", pause, error.message)
                time.sleep(random.uniform(pause / 2, pause))
                rows = self._left(rows, goal)
                if len(rows) > 1:
                    middle = len(rows) // 2
                    self._write(rows[:middle])
                    rows = rows[middle:]
                if not rows:
                    return
            except Exception as error:  # whatever a fact breaks must not stop the others
                self._around(rows, error)
                return

    def _left(self, rows: Sequence[Row], goal: int) -> Sequence[Row]:
        """Those of these rows, the last of which is number `goal`, that the graph does not have: an interrupted commit
        may have happened."""
        try:
            self._checkpoint = read_checkpoint(self._database, self._name)
        except UnavailableError:
            return rows
        return (
            rows[len(rows) - (goal - self._checkpoint.position) :]
            if self._checkpoint.position < goal
            else ()
        )

    def _around(self, rows: Sequence[Row], error: Exception) -> None:
        """Write these in halves, down to the one that cannot be."""
        if len(rows) > 1:
            middle = len(rows) // 2
            self._write(rows[:middle])
            self._write(rows[middle:])
            return
        log.error("%s cannot be written: %s", rows[0].key.decode(errors="replace"), error)
        self.refused += 1
        self._commit(rows, GraphDelta())

    def _commit(self, rows: Sequence[Row], delta: GraphDelta | None = None) -> None:
        before = self._checkpoint
        refused = int(delta is not None)
        after = Checkpoint(
            before.position + len(rows), before.folded + len(rows) - refused, before.dead + refused
        )
        write(
            self._database,
            rows_to_delta(rows) if delta is None else delta,
            spool=self._name,
            before=before,
            after=after,
            holder=self._holder,
            memory=self._memory,
            naming=self._naming,
            # The graph may be an older copy, of a moment when a worker had put something off.
            again=True,
        )
        self._checkpoint = after
        self.transactions += 1


def advance_checkpoint(
    database: Database,
    spool: str,
    before: Checkpoint,
    position: int,
    *,
    dead: int,
    producer_stats: ProducerStats,
) -> None:
    """Tell the graph that it has the events of a spool up to this position, all but those that are dead: a worker goes
    on behind them. `tallies` are of those after `before`, where it was when they were counted, and count with them.

    When it is elsewhere by now a worker has these events too: it goes on by itself, and counts. Raises
    UnavailableError.
    """
    if before.position > position or before.whole == position:
        return
    after = Checkpoint(position, position - dead, dead)
    if before.position == position:
        after = Checkpoint(position, before.folded, before.dead)
    holder = f"backfill of {spool}"
    with suppress(CheckpointMovedError):
        write(
            database,
            GraphDelta(),
            spool=spool,
            before=before,
            after=after,
            holder=holder,
            producer_stats=producer_stats,
            again=True,
        )
