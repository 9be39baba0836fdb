"""How the jobs of the big graph connect: the tables that each reads, and the one it writes.

Every job reads two tables and writes one of its own, so 20,000 jobs make 60,000 edges. There are
four groups, numbered so that everything is written before it is read:

- *levels*: jobs of a level read tables of the level before. They grow from one table, `ROOT`;
  downstream of it lie about 10,000 edges within 10 hops and 35,000 within 20.
- *diamonds*: twenty pairs of jobs; each job reads both tables of the pair before: 2^20 paths from
  one column.
- *fans*: jobs that all read one table, `HUB`.
- *hot*: one more reader of the hub, with most of the runs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property

# Tables that no job writes.
HUB, ROOT, OTHER, DIAMOND = 0, 1, 2, 3
SOURCES = 4
_SEED = 6


@dataclass(frozen=True)
class Wiring:
    """The jobs of each level, and of the other groups. The defaults have 20,000 jobs."""

    levels: tuple[int, ...] = (4, 16, 64, 256, *(499,) * 6, *(833,) * 10, *(813,) * 9)
    diamonds: int = 20
    fans: int = 978

    @cached_property
    def tables(self) -> list[tuple[int, int, int]]:
        """Return for each job the two tables that it reads and the one that it writes."""
        chance = random.Random(_SEED)
        reads: list[tuple[int, int]] = []
        before = [ROOT, OTHER]
        for index, count in enumerate(self.levels):
            written = [SOURCES + len(reads) + k for k in range(count)]
            # All jobs of the first level read the root.
            reads += [(ROOT, OTHER) if index == 0 else _two(chance, before) for _ in written]
            before = written
        last = before
        pair = [DIAMOND, OTHER]
        for _ in range(self.diamonds):
            written = [SOURCES + len(reads), SOURCES + len(reads) + 1]
            reads += [(pair[0], pair[1])] * 2
            pair = written
        reads += [(HUB, chance.choice(last)) for _ in range(self.fans + 1)]
        return [(first, second, SOURCES + job) for job, (first, second) in enumerate(reads)]

    @property
    def jobs(self) -> int:
        return len(self.tables)

    @property
    def hot(self) -> int:
        """Return the job with most of the runs."""
        return self.jobs - 1

    @property
    def readers(self) -> range:
        """Return the jobs that read the hub, the hot one last."""
        return range(self.hot - self.fans, self.jobs)

    def deepest(self) -> int:
        """Return a table of the last level; its lineage reaches all the way back."""
        return SOURCES + sum(self.levels) - 1

    def last_diamond(self) -> int:
        return SOURCES + sum(self.levels) + 2 * self.diamonds - 1


def _two(chance: random.Random, tables: list[int]) -> tuple[int, int]:
    first, second = chance.sample(tables, 2)
    return first, second
