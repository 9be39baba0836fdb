"""Values by names in parts: `orders` matches `shop.raw.orders`, and the other way round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
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
        firsts = [next(iter(found.items())) for found in self.matching(parts)]
        return min(firsts, key=lambda numbered: numbered[0])[1] if firsts else None

    def all(self, parts: Sequence[str]) -> list[T]:
        """Return the values with a matching name, in the order in which they were added."""
        numbered: dict[int, T] = {}
        for found in self.matching(parts):
            numbered |= found
        return [numbered[number] for number in sorted(numbered)]

    def only(self, parts: Sequence[str]) -> T | None:
        """Return the one value with a matching name, or None if there is none or are several."""
        only: T | None = None
        for value in chain.from_iterable(found.values() for found in self.matching(parts)):
            if only is not None and value != only:
                return None
            only = value
        return only

    def matching(self, parts: Sequence[str]) -> list[Mapping[int, T]]:
        """Return the values with a matching name by their numbers, as a few mappings.

        They are those of the index and not copies: two names have the same values if they have the
        same mappings."""
        ends = _ends(parts)
        matching: list[Mapping[int, T]] = []
        matching += [self._by_name[end] for end in ends if end in self._by_name]
        if ends and ends[0] in self._by_end:
            matching.append(self._by_end[ends[0]])
        return matching


def _ends(parts: Sequence[str]) -> list[Parts]:
    """Return the ends of a name, the longest first."""
    last = tuple(parts[-PARTS_MAX:])
    return [last[start:] for start in range(len(last))]
