"""Continuity: a lake holds the events of this spool, and not those of another copy of it.

A restored backup keeps the identity of its spool, and its next events get numbers that a lake may
have already. By numbers alone they would count as archived, and a cut would delete them. So the
receipts of the newest archived events are compared with those of the spool, as
`headwater.ingest.continuity` does for the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from headwater.errors import QueryError, SpoolFullError
from headwater.ingest.spool.salvage import check
from headwater.ingest.spool.spool import Spool
from headwater.pipelines.lake import Lake

OnProgress = Callable[[str, int, int], object]
_SHOWN_MAX = 3


def check_lake(spool: Spool, lake: Lake) -> None:
    """Check that a lake may take the next events of a spool.

    A lake without events of the spool may, if the lake of cut events has these. Raises QueryError
    if the lake is further than the spool or has another event in its place, or if it lacks events
    that were cut from the spool. Raises SpoolFullError if the spool cannot be read.
    """
    position, last = lake.archived(spool.id), spool.last()
    cut, cut_lake = spool.cut_events()
    if not position:
        found = Lake(cut_lake).archived(spool.id) if cut else 0
        if found < cut:
            raise _missing(Lake(cut_lake), found + 1, cut, cut_lake)
        return
    if position > last:
        raise _other_history(
            lake,
            f"the lake {lake.root} holds {position} events of the spool, and the spool only "
            f"{last}: the spool is older than the lake",
        )
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
    if cut and max(receipts, default=0) <= cut and not lake.is_at(cut_lake):
        raise QueryError(
            f"the spool has none of the newest events of the lake {lake.root} any more: they were "
            f"cut into {cut_lake}",
            hint=f"Name the lake {cut_lake}, or an empty folder.",
        )


def check_files(spool: Spool, lake: Lake, last: int) -> None:
    """Check that a lake has the files of the events that are about to be cut, up to a seq.

    Another lake than that of the cut events takes its place, so it needs their files too. Raises
    QueryError for a file that is missing, or has another size than in its manifest.
    """
    cut, cut_lake = spool.cut_events()
    if cut and not lake.is_at(cut_lake):
        missing = lake.missing_files(spool.id, 1, cut)
        if missing:
            raise QueryError(
                f"the lake {lake.root} lacks files of events that were cut into {cut_lake}, or "
                f"their size is not that of the manifest ({len(missing)}): "
                f"{', '.join(missing[:_SHOWN_MAX])}",
                hint=f"Restore these files, or name the lake {cut_lake}, or an empty folder. "
                "Nothing was cut.",
            )
    missing = lake.missing_files(spool.id, cut + 1, last)
    if missing:
        raise QueryError(
            f"the lake {lake.root} lacks files of events that are about to be cut, or their size "
            f"is not that of the manifest ({len(missing)}): {', '.join(missing[:_SHOWN_MAX])}",
            hint="Restore these files, or archive into an empty folder. Nothing was cut.",
        )


def check_rows(spool: Spool, last: int, on_progress: OnProgress) -> None:
    """Check that a spool has each event that is about to be cut, up to a seq, as it was accepted.

    An archive passes over the events without rows, and copies damaged ones. So after the cut their
    loss would be unknown. The worker and a salvage note a loss as a dead letter. Raises
    SpoolFullError for one that is not noted.
    """
    for lost_first, lost_last in check(spool.path, partial(on_progress, "checking")).damaged:
        if lost_first <= last:
            raise SpoolFullError(
                f"the spool {spool.path} has lost events {lost_first} to {lost_last}, and no dead "
                "letter says so",
                hint="Nothing was cut. Run `headwater spool check`, which names the next step.",
            )


def copy_cut_events(spool: Spool, lake: Lake, on_progress: OnProgress) -> None:
    """Copy the events that were cut from a spool into a lake that has no events of the spool.

    `check_lake` must have passed.
    """
    cut, cut_lake = spool.cut_events()
    if not cut or lake.archived(spool.id):
        return
    source = Lake(cut_lake)
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
        hint="Restore the lake." if lake.is_at(cut_lake) else hint,
    )
