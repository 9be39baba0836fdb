"""Continuity: a spool still holds the events that the graph's checkpoint counts as folded.

A restored backup of the spool, or a lost log of its database, ends before the checkpoint. Its next
events would get sequence numbers that count as folded, and would never reach the graph. So each
checkpoint holds the time of receipt of its last event, and nothing is folded while the spool's own
event at that position differs.
"""

from __future__ import annotations

from headwater.cypher.driver.database import Database
from headwater.errors import UnavailableError
from headwater.ingest.spool.spool import Spool
from headwater.ingest.write.transaction import Checkpoint, WriteRequest, read_checkpoint, write
from headwater.schema.delta import GraphDelta

SALVAGE = "Run `headwater spool salvage`: the events of this spool are then folded again."


class DiscontinuityError(UnavailableError):
    """A spool and a checkpoint do not belong together; folding must wait for an operator."""


def check_continuity(spool: Spool, checkpoint: Checkpoint) -> None:
    """Check that a worker may fold the events after a checkpoint.

    Raises DiscontinuityError if the spool ends before the checkpoint or has another event there, or
    if events after it were cut from the spool: without them the graph would hold a part of the
    history only. Raises SpoolFullError if the spool cannot be read.
    """
    position, last = checkpoint.position, spool.last()
    cut, lake = spool.cut_events()
    if checkpoint.complete_position < cut:
        raise DiscontinuityError(
            f"events {checkpoint.complete_position + 1} to {cut} of the spool "
            f"are in the lake only: `headwater pipeline backfill {lake}`"
        )
    if position > last:
        raise DiscontinuityError(
            f"the graph holds {position} events of the spool, and the spool only {last}: it is "
            "older than the graph",
            hint=SALVAGE,
        )
    received = spool.received_at(position)
    if None not in (checkpoint.received, received) and checkpoint.received != received:
        raise DiscontinuityError(
            f"event {position} of the spool is not the one that the graph holds: the spool is a "
            "copy from before it, and has accepted other events since",
            hint=SALVAGE,
        )


def reset_checkpoint(database: Database, spool: Spool) -> Checkpoint:
    """Move the checkpoint of a spool back to the events that were cut, and return it.

    A worker then folds all events of the spool again. That changes nothing where the graph has them
    already, except that the counts of events by producer grow. The graph keeps what it has of
    events that the spool has lost. Raises UnavailableError or SpoolFullError.
    """
    cut, _ = spool.cut_events()
    dead = len([seq for seq in spool.dead_after(0) if seq <= cut])
    after = Checkpoint(cut, cut - dead, dead)
    request = WriteRequest(
        GraphDelta(),
        spool=spool.id,
        before=read_checkpoint(database, spool.id),
        after=after,
        holder="spool salvage",
        refold=True,
    )
    return write(database, request)
