"""What was worked out once of something that keeps coming back: kept for the next time, within a
bound.

Producers repeat themselves. From run to run the bytes of a schema, of a column lineage or of a
job's SQL are the same, and so is all that follows from them alone. A memo never changes an answer,
only how soon it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(Generic[K, V]):
    """Values by key, of at most `bytes_max` bytes together; `size` tells about how many a key and
    its value take.

    There are two generations. What is kept or asked for is in the young one; when that has half of
    the bytes it becomes the old one, and what nobody asked for since the last time is forgotten. So
    what keeps coming stays, and what comes once goes, without a list to be put in order at every
    question. Threads may share it.
    """

    def __init__(self, bytes_max: int, *, size: Callable[[K, V], int]) -> None:
        self._generation_bytes_max = bytes_max // 2
        self._size = size
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._young_bytes = 0
        self._turn = Lock()

    def get(self, key: K) -> V | None:
        """The value, if it is still there."""
        value = self._young.get(key)
        if value is None:
            value = self._old.get(key)
            if value is not None:
                self.put(key, value)
        return value

    def put(self, key: K, value: V) -> V:
        """Keep a value, unless it alone is more than a generation holds. Returns the value."""
        size = self._size(key, value)
        if size > self._generation_bytes_max:
            return value
        with self._turn:
            if key in self._young:
                return value
            if self._young_bytes + size > self._generation_bytes_max:
                self._old, self._young, self._young_bytes = self._young, {}, 0
            self._young[key] = value
            self._young_bytes += size
        return value
