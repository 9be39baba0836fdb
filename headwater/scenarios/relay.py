"""The address to which the listener of a story's Spark sends its events.

The jobs of a story run now, and its nights are days ago. So each event gets a time in the night
that is played: a second after the event before it. Nothing else in an event is changed. The
order of the events is real; their distances are not.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.scenarios.receiver import receiving

_TICK = timedelta(seconds=1)
Event = dict[str, Any]


class Relay:
    """The events that arrived since `begin`, with times of the night."""

    def __init__(self) -> None:
        self.url = ""
        self._events: list[Event] = []
        self._next = datetime.now(UTC)
        self._lock = threading.Lock()

    def begin(self, when: datetime) -> None:
        """Give the next events times from an instant on."""
        with self._lock:
            self._next = when

    def add(self, event: Event) -> None:
        """Keep an event, a second after the one before it."""
        with self._lock:
            time = self._next.isoformat().replace("+00:00", "Z")
            self._events.append({**event, "eventTime": time})
            self._next += _TICK

    def take(self) -> list[Event]:
        """Return the events that arrived since the last call."""
        with self._lock:
            taken, self._events = self._events, []
        return taken


@contextmanager
def open_relay() -> Iterator[Relay]:
    """Receive events until the end of the block."""
    relay = Relay()
    with receiving(relay.add, status=201) as relay.url:
        yield relay
