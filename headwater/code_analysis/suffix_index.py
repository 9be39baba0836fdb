"""Values by names in parts: `orders` matches `shop.raw.orders`, and the other way round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Generic, TypeVar

# Longer names are compared by their last parts.
PARTS_MAX = 20

Parts = tuple[str, ...]
T = TypeVar("T")


class SuffixIndex(Generic[T]):
    """Finds the values whose name is the end of a given one, or ends with it, part by part.

    It looks at the parts of the given name, and not at each value.
    """

    def __init__(self) -> None:
        # Values with their numbers, by whole names, and by each shorter end of a name.
        self._by_name: dict[Parts, dict[int, T]] = defaultdict(dict)
        self._by_end: dict[Parts, dict[int, T]] = defaultdict(dict)
        self._count = 0

    def add(self, parts: Sequence[str], value: T) -> None:
        """Add a value under a name; it may have several. One without parts is never found."""
        whole, *shorter = _ends(parts) or [()]
        if whole:
            self._by_name[whole][self._count] = value
        for end in shorter:
            self._by_end[end][self._count] = value
        self._count += 1

    def first(self, parts: Sequence[str]) -> T | None:
        """Return the value that was added first of those with a matching name, or None."""
        firsts = [next(iter(found.items())) for found in self._matching(parts)]
        return min(firsts, key=lambda numbered: numbered[0])[1] if firsts else None

    def all(self, parts: Sequence[str]) -> list[T]:
        """Return the values with a matching name, in the order in which they were added."""
        numbered: dict[int, T] = {}
        for found in self._matching(parts):
            numbered |= found
        return [numbered[number] for number in sorted(numbered)]

    def _matching(self, parts: Sequence[str]) -> list[dict[int, T]]:
        ends = _ends(parts)
        matching = [self._by_name[end] for end in ends if end in self._by_name]
        if ends and ends[0] in self._by_end:
            matching.append(self._by_end[ends[0]])
        return matching


def _ends(parts: Sequence[str]) -> list[Parts]:
    """Return the ends of a name, the longest first."""
    last = tuple(parts[-PARTS_MAX:])
    return [last[start:] for start in range(len(last))]
