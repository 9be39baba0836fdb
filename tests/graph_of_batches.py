"""The graph of events that are written in given batches, by two writers in turn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain

from msgspec.structs import replace

from headwater.cypher.driver.database import Database
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.transaction import Checkpoint, CheckpointMovedError, WriteRequest, write
from headwater.schema.delta import GraphDelta
from tests.canonical import Graph, canonical, empty


def graph_of(
    database: Database, fold: Callable[[list[bytes]], GraphDelta], batches: list[list[bytes]]
) -> Graph:
    """Return the canonical export of the graph of these events, written batch by batch."""
    empty(database)
    before = Checkpoint()
    # Two writers, each with its own cache and deferred updates, take turns of two transactions.
    caches = WriteCache(), WriteCache()
    bodies = list(chain.from_iterable(batches))
    for number, batch in enumerate(batches):
        cache = caches[number // 2 % 2]
        request = partial(WriteRequest, spool="s", holder="test")
        after = Checkpoint(before.position + len(batch), before.folded + len(batch), 0)
        # Updates deferred two events before, or earlier, are written; in the end all of them.
        defer_before = before.position - 2 if number + 1 < len(batches) else None
        delta = fold(batch)
        new = request(delta, before=before, after=after, defer_before=defer_before)
        try:
            before = write(database, new, cache=cache)
        except CheckpointMovedError:
            # The updates that the other writer deferred are folded again.
            lost = fold(bodies[before.complete_position : before.position])
            settled = replace(before, settled=None)
            repeated = request(lost, before=before, after=settled, refold=True)
            before = write(database, repeated, cache=cache)
            new = request(delta, before=before, after=after, defer_before=defer_before)
            before = write(database, new, cache=cache)
    assert before.settled is None
    return canonical(database)
