"""What becomes of the map when namespaces are spread over several Neo4j: a simulation, not a measurement.

An estate is pairs of namespaces: for every edge of the map, that of its source and that of its target. Either the edges
of a real graph (`headwater export` writes them), or a made-up estate: namespaces of very different sizes (the k-th has
1/k of the jobs of the first), whose jobs read tables of their own namespace but for a share that they read elsewhere,
of large namespaces more often than of small ones.

Two ways to place namespaces: by a hash of the name, which needs no knowledge; and by what they share, largest first,
each to the shard with which it has most edges that still has room.
"""

from __future__ import annotations

import json
import random
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

# How much more than its part of the edges a shard may have.
ROOM = 1.2
_SEED = 6
_STARTS = 200
_OF_MAP = ("dataset:", "job:", "column:")

Pairs = Counter[tuple[str, str]]
Placement = dict[str, int]


@dataclass(frozen=True)
class Estate:
    """`pairs`: how many edges go from one namespace to another. `reads`: for each table those it is made from, and
    `homes` the namespace of each; empty for an estate of which only the pairs are known."""

    pairs: Pairs
    reads: Mapping[int, tuple[int, ...]]
    homes: Mapping[int, str]


def made_up(jobs: int, namespaces: int, foreign: float) -> Estate:
    """An estate of so many jobs, each of which reads two tables and writes one; `foreign` is the share of reads that go
    to another namespace."""
    chance = random.Random(_SEED)
    names = [f"team-{k:03}" for k in range(namespaces)]
    weights = [1 / (k + 1) for k in range(namespaces)]
    tables: dict[str, list[int]] = {name: [] for name in names}
    reads: dict[int, tuple[int, ...]] = {}
    homes: dict[int, str] = {}
    pairs: Pairs = Counter()
    for table, home in enumerate(chance.choices(names, weights, k=jobs)):
        sources = []
        for _ in range(2):
            other = chance.choices(names, weights)[0] if chance.random() < foreign else home
            if tables[other]:
                sources.append(chance.choice(tables[other]))
        for source in sources:
            pairs[homes[source], home] += 1
        # The job writes its table.
        pairs[home, home] += 1
        reads[table], homes[table] = tuple(sources), home
        tables[home].append(table)
    return Estate(pairs, reads, homes)


def exported(path: Path) -> Estate:
    """The estate of a graph, from the edges in what `headwater export` wrote."""
    pairs: Pairs = Counter()
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            edge = json.loads(line)
            ends = [str(edge.get(end) or "") for end in ("source", "target")]
            if all(urn.startswith(_OF_MAP) and urn.count(":") > 1 for urn in ends):
                source, target = (unquote(urn.split(":")[1]) for urn in ends)
                pairs[source, target] += 1
    return Estate(pairs, {}, {})


def by_hash(estate: Estate, shards: int) -> Placement:
    return {name: zlib.crc32(name.encode()) % shards for name in _sizes(estate.pairs)}


def by_affinity(estate: Estate, shards: int) -> Placement:
    """Largest first, each where most of its edges are already, as long as there is room."""
    sizes = _sizes(estate.pairs)
    near: dict[str, Counter[str]] = defaultdict(Counter)
    for (source, target), count in estate.pairs.items():
        near[source][target] += count
        near[target][source] += count
    room = ROOM * sum(sizes.values()) / shards
    loads = [0.0] * shards
    placed: Placement = {}
    for name, size in sizes.most_common():
        shared = [0] * shards
        for other, count in near[name].items():
            if other in placed:
                shared[placed[other]] += count
        fits = [k for k in range(shards) if loads[k] + size <= room] or [loads.index(min(loads))]
        placed[name] = max(fits, key=lambda k: (shared[k], -loads[k]))
        loads[placed[name]] += size
    return placed


def _sizes(pairs: Pairs) -> Counter[str]:
    sizes: Counter[str] = Counter()
    for (source, target), count in pairs.items():
        sizes[source] += count
        if target != source:
            sizes[target] += count
    return sizes


def crossing(estate: Estate, placed: Placement) -> float:
    """The share of edges whose ends lie on two shards."""
    crossed = sum(count for (a, b), count in estate.pairs.items() if placed[a] != placed[b])
    return crossed / max(sum(estate.pairs.values()), 1)


def largest(estate: Estate, placed: Placement) -> float:
    """The share of edges that the fullest shard writes."""
    loads: Counter[int] = Counter()
    for (_, target), count in estate.pairs.items():
        loads[placed[target]] += count
    return max(loads.values(), default=0) / max(sum(loads.values()), 1)


def touched(estate: Estate, placed: Placement, depth: int) -> float:
    """How many shards a walk upstream asks, on the average of some starts; 0 where the tables are not known."""
    if not estate.reads:
        return 0.0
    starts = random.Random(_SEED).sample(sorted(estate.reads), min(_STARTS, len(estate.reads)))
    return sum(len(_asked(estate, placed, start, depth)) for start in starts) / len(starts)


def _asked(estate: Estate, placed: Placement, start: int, depth: int) -> set[int]:
    seen, frontier = {start}, [start]
    for _ in range(depth):
        frontier = [
            source for table in frontier for source in estate.reads[table] if source not in seen
        ]
        frontier = list(dict.fromkeys(frontier))
        seen.update(frontier)
    return {placed[estate.homes[table]] for table in seen}


def compared(estate: Estate, counts: Iterable[int], depth: int) -> list[dict[str, float | str]]:
    """For each number of shards and each way to place namespaces what it costs."""
    return [
        {
            "shards": shards,
            "placed": how,
            "crossing": round(crossing(estate, placed), 4),
            "largest": round(largest(estate, placed), 4),
            "touched": round(touched(estate, placed, depth), 2),
        }
        for shards in counts
        for how, place in (("by hash", by_hash), ("by affinity", by_affinity))
        for placed in (place(estate, shards),)
    ]
