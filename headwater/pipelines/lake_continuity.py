"""Continuity: a lake holds the events of this spool, and not those of another copy of it.

A restored backup keeps the identity of its spool, and its next events get numbers that a lake may
have already. By numbers alone they would count as archived, and a cut would delete them. So the
receipts of the newest archived events are compared with those of the spool, as
`headwater.ingest.continuity` does for the graph.
"""

from __future__ import annotations

from collections.abc import Callable

from headwater.errors import QueryError
from headwater.ingest.spool.spool import Spool
from headwater.pipelines.lake import Lake

OnProgress = Callable[[str, int, int], object]


def check_lake(spool: Spool, lake: Lake) -> None:
    """Check that a lake may take the next events of a spool.

    A lake without events of the spool may. Raises QueryError if the lake is further than the spool
    or has another event in its place, or if it lacks events that were cut from the spool. Raises
    SpoolFullError if the spool cannot be read.
    """
    position, last = lake.archived(spool.id), spool.last()
    if not position:
        return
    if position > last:
        raise _other_history(
            lake,
            f"the lake {lake.root} holds {position} events of the spool, and the spool only "
            f"{last}: the spool is older than the lake",
        )
    cut, cut_lake = spool.cut_events()
    if position < cut:
        raise _missing(lake, position + 1, cut, cut_lake)
    receipts = lake.newest_receipts(spool.id)
    for seq, received in receipts.items():
        if spool.received_at(seq) not in (None, received):
            raise _other_history(
                lake,
                f"event {seq} of the spool is not the one that the lake {lake.root} holds: the "
                "spool is a copy from before it, and has accepted other events since",
            )
    # The cut of an older version left nothing to compare in the spool.
    if cut and max(receipts, default=0) <= cut and lake.root != cut_lake:
        raise QueryError(
            f"the spool has none of the newest events of the lake {lake.root} any more: they were "
            f"cut into {cut_lake}",
            hint=f"Name the lake {cut_lake}, or an empty folder.",
        )


def copy_cut_events(spool: Spool, lake: Lake, on_progress: OnProgress) -> None:
    """Copy the events that were cut from a spool into a lake that has no events of the spool.

    Raises QueryError if the lake that should hold them lacks some.
    """
    cut, cut_lake = spool.cut_events()
    if not cut or lake.archived(spool.id):
        return
    source = Lake(cut_lake)
    found = source.archived(spool.id)
    if found < cut:
        raise _missing(source, found + 1, cut, cut_lake)
    # Later ranges may be of events that a restored spool never had.
    ranges = [one for one in source.ranges(spool.id) if one.first <= cut]
    for number, one in enumerate(ranges, start=1):
        for file in one.files:
            lake.put(file.name, source.read(file.name))
        on_progress("copying", number, len(ranges))
    # A lake counts from its first range, so a killed copy counts as none.
    for one in reversed(ranges):
        lake.add(spool.id, one)


def _other_history(lake: Lake, message: str) -> QueryError:
    return QueryError(
        message,
        hint="Archive into an empty folder. This lake keeps the events that the spool has lost: "
        f"`headwater pipeline backfill {lake.root}` folds them.",
    )


def _missing(lake: Lake, first: int, last: int, cut_lake: str) -> QueryError:
    hint = f"Name the lake {cut_lake}, or an empty folder."
    return QueryError(
        f"the lake {lake.root} lacks events {first} to {last}, which were cut from the spool",
        hint="Restore the lake." if lake.root == cut_lake else hint,
    )
