"""Bounded memory of results of pure functions.

Producers repeat themselves: from run to run a schema, a column lineage or the SQL of a job has the
same bytes, and so the same results. A memo never changes a result, only the time it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(Generic[K, V]):
    """Values by key, of at most `bytes_max` bytes in total; `size` estimates the bytes of an entry.

    There are two generations. New and requested entries are in the young one. When it has half of
    the bytes it becomes the old one, and the previous old one is dropped. So repeated entries stay
    and single ones go, without an ordered list. Threads may share a memo.
    """

    def __init__(self, bytes_max: int, *, size: Callable[[K, V], int]) -> None:
        self._generation_bytes_max = bytes_max // 2
        self._size = size
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._young_bytes = 0
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """Return the value of a key, or None."""
        value = self._young.get(key)
        if value is None:
            value = self._old.get(key)
            if value is not None:
                self.put(key, value)
        return value

    def put(self, key: K, value: V) -> V:
        """Store a value, unless it exceeds a generation; return the value."""
        size = self._size(key, value)
        if size > self._generation_bytes_max:
            return value
        with self._lock:
            if key in self._young:
                return value
            if self._young_bytes + size > self._generation_bytes_max:
                self._old, self._young, self._young_bytes = self._young, {}, 0
            self._young[key] = value
            self._young_bytes += size
        return value
