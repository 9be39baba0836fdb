"""Gathering: events that arrive one at a time wait for further ones, so that one write holds many.

A transaction costs Neo4j about as much for one event as for twenty. While events keep coming, the
worker therefore waits for more of them, up to a bound. A lone event waits for one more look at the
spool, and a full batch does not wait.

This module decides by observations of the spool and has no clock of its own.
"""

from __future__ import annotations

from typing import NamedTuple

# No event waits longer than this for further ones.
GATHER_SECONDS_MAX = 0.5
# If no further event came for this long, the events that wait are folded.
LULL_SECONDS = 0.02


class SpoolObservation(NamedTuple):
    """The newest event of the spool at one time, and what earlier observations add.

    at: the time of the observation, in seconds of a monotonic clock.
    newest: the seq of the newest event.
    newest_at: the time at which that event was first observed.
    waiting: the number of events that wait.
    waiting_since: a time before which none of the waiting events had arrived.
    """

    at: float = float("-inf")
    newest: int = 0
    newest_at: float = float("-inf")
    waiting: int = 0
    waiting_since: float = float("-inf")


def observe(before: SpoolObservation, *, at: float, newest: int, position: int) -> SpoolObservation:
    """Return the observation that follows `before`; events up to `position` do not wait."""
    # The events that wait now arrived after the last observation, unless one of them was in it.
    are_new = before.newest <= position
    return SpoolObservation(
        at=at,
        newest=newest,
        newest_at=at if newest > before.newest else before.newest_at,
        waiting=max(newest - position, 0),
        waiting_since=before.at if are_new else before.waiting_since,
    )


def should_gather(observed: SpoolObservation, *, batch_events: int) -> bool:
    """Return True if the events that wait should wait for further ones.

    `batch_events` is the number of events in a full batch.
    """
    return (
        0 < observed.waiting < batch_events
        and observed.at - observed.waiting_since < GATHER_SECONDS_MAX
        and observed.at - observed.newest_at < LULL_SECONDS
    )
