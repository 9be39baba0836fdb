"""The writer of chunks of a delta: a transaction per chunk, which also stores the position.

If Neo4j is unavailable, or a chunk is too large for it, the writer retries after a pause, in
halves. A fact that Neo4j refuses is found by halving, counted and left out; its neighbours are
written.
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
from headwater.cypher.driver.write_lock import GraphErasedError, identify_graph
from headwater.errors import QueryError, UnavailableError
from headwater.ingest.producer_stats import ProducerStats
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.transaction import (
    Checkpoint,
    CheckpointMovedError,
    WriteRequest,
    read_checkpoint,
    write,
)
from headwater.pipelines.rows import Row, rows_to_delta
from headwater.schema.delta import GraphDelta
from headwater.schema.naming import Naming

# Seconds between attempts; a minute and a half in all.
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 30.0)

log = logging.getLogger("headwater.pipelines")


class ChunkWriter:
    """A writer of rows in order; it skips the rows of an earlier writer of the same name."""

    def __init__(self, database: Database, name: str, naming: Naming) -> None:
        self._database = database
        self._name = name
        self._naming = naming
        self._cache = WriteCache()
        self._holder = f"{name} {os.getpid()}@{socket.gethostname()}"
        # Of the graph that all rows must reach.
        self.graph = identify_graph(database, self._holder)
        self._checkpoint = read_checkpoint(database, name)
        # Facts: written by an earlier writer, passed to this one, and refused by Neo4j.
        self.resumed = self._checkpoint.position
        self.position = 0
        self.refused = 0
        self.transactions = 0

    def write(self, rows: Sequence[Row]) -> None:
        """Write the next rows.

        Raises UnavailableError if Neo4j stays unavailable, GraphErasedError if the graph was erased
        since the first rows, QueryError if another backfill writes under the same name.
        """
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
                raise QueryError("another backfill of the same files is running") from error
            except GraphErasedError:
                raise
            except UnavailableError as error:
                if pause is None:
                    raise
                log.warning("retry pause_seconds=%.1f error=%r", pause, error.message)
                time.sleep(random.uniform(pause / 2, pause))
                rows = self._unwritten(rows, goal)
                if len(rows) > 1:
                    middle = len(rows) // 2
                    self._write(rows[:middle])
                    rows = rows[middle:]
                if not rows:
                    return
            except Exception as error:  # one bad fact must not stop the others
                self._write_around(rows, error)
                return

    def _unwritten(self, rows: Sequence[Row], goal: int) -> Sequence[Row]:
        """Return the rows that the graph does not have; the last row has number `goal`.

        An interrupted commit may have succeeded.
        """
        try:
            self._checkpoint = read_checkpoint(self._database, self._name)
        except UnavailableError:
            return rows
        return (
            rows[len(rows) - (goal - self._checkpoint.position) :]
            if self._checkpoint.position < goal
            else ()
        )

    def _write_around(self, rows: Sequence[Row], error: Exception) -> None:
        """Write the rows in halves, down to the row that Neo4j refuses."""
        if len(rows) > 1:
            middle = len(rows) // 2
            self._write(rows[:middle])
            self._write(rows[middle:])
            return
        key = rows[0].key.decode(errors="replace")
        log.error("fact_refused key=%s error=%r", key, str(error))
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
            WriteRequest(
                rows_to_delta(rows) if delta is None else delta,
                spool=self._name,
                before=before,
                after=after,
                holder=self._holder,
                naming=self._naming,
                # The graph may be an older copy, from a moment when a worker had deferred updates.
                refold=True,
                graph=self.graph,
            ),
            cache=self._cache,
        )
        self._checkpoint = after
        self.transactions += 1


def advance_checkpoint(
    database: Database,
    spool: str,
    before: Checkpoint,
    position: int,
    *,
    received: int | None,
    dead: int,
    producer_stats: ProducerStats,
    graph: str,
) -> None:
    """Move the checkpoint of a spool to this position, so that a worker continues behind it.

    `received` is the receipt of the event there, by which the worker checks that its spool has it.
    `dead` is the number of refused events up to there. `producer_stats` count the events after
    `before`, and are written with the checkpoint. If a worker has moved the checkpoint meanwhile,
    nothing is written: that worker counts the events itself. `graph` is the id of the graph with
    the events. Raises GraphErasedError if it was erased since, and UnavailableError.
    """
    if before.position > position or before.complete_position == position:
        return
    after = Checkpoint(position, position - dead, dead, received=received)
    if before.position == position:
        after = Checkpoint(position, before.folded, before.dead, received=received)
    holder = f"backfill of {spool}"
    with suppress(CheckpointMovedError):
        write(
            database,
            WriteRequest(
                GraphDelta(),
                spool=spool,
                before=before,
                after=after,
                holder=holder,
                producer_stats=producer_stats,
                refold=True,
                graph=graph,
            ),
        )
