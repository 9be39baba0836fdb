"""Simulate the lineage graph with namespaces spread over several Neo4j; this is no measurement.

An estate is a set of pairs of namespaces: for every edge, the namespaces of its source and target.
It comes from a real graph (`headwater export` writes the edges) or is generated. In a generated
estate the k-th namespace has 1/k of the jobs of the first. Its jobs read tables of their own
namespace but for a share of reads elsewhere, more often of large namespaces.

There are two ways to place namespaces. By a hash of the name, which needs no knowledge. By
affinity: largest first, each to the shard with most of its edges that still has room.
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

# The share by which a shard may exceed its part of the edges.
ROOM = 1.2
_SEED = 6
_STARTS = 200
_OF_MAP = ("dataset:", "job:", "column:")

Pairs = Counter[tuple[str, str]]
Placement = dict[str, int]


@dataclass(frozen=True)
class Estate:
    """Edges between namespaces (`pairs`), inputs of each table (`reads`), its namespace (`homes`).

    `reads` and `homes` are empty if only the pairs of an estate are known.
    """

    pairs: Pairs
    reads: Mapping[int, tuple[int, ...]]
    homes: Mapping[int, str]


def generate_estate(jobs: int, namespaces: int, foreign: float) -> Estate:
    """Generate an estate of jobs that read two tables and write one; `foreign` is the share of
    foreign reads.
    """
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
    """Return the estate of a graph, from the edges that `headwater export` wrote."""
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
    """Place the largest namespace first, each where most of its edges are, as long as there is
    room.
    """
    sizes = _sizes(estate.pairs)
    near: dict[str, Counter[str]] = defaultdict(Counter)
    for (source, target), count in estate.pairs.items():
        near[source][target] += count
        near[target][source] += count
    room = ROOM * sum(sizes.values()) / shards
    loads = [0.0] * shards
    placement: Placement = {}
    for name, size in sizes.most_common():
        shared = [0] * shards
        for other, count in near[name].items():
            if other in placement:
                shared[placement[other]] += count
        fits = [k for k in range(shards) if loads[k] + size <= room] or [loads.index(min(loads))]
        placement[name] = max(fits, key=lambda k: (shared[k], -loads[k]))
        loads[placement[name]] += size
    return placement


def _sizes(pairs: Pairs) -> Counter[str]:
    sizes: Counter[str] = Counter()
    for (source, target), count in pairs.items():
        sizes[source] += count
        if target != source:
            sizes[target] += count
    return sizes


def crossing(estate: Estate, placement: Placement) -> float:
    """Return the share of edges between two shards."""
    crossed = sum(count for (a, b), count in estate.pairs.items() if placement[a] != placement[b])
    return crossed / max(sum(estate.pairs.values()), 1)


def largest(estate: Estate, placement: Placement) -> float:
    """Return the share of edges that the fullest shard writes."""
    loads: Counter[int] = Counter()
    for (_, target), count in estate.pairs.items():
        loads[placement[target]] += count
    return max(loads.values(), default=0) / max(sum(loads.values()), 1)


def touched(estate: Estate, placement: Placement, depth: int) -> float:
    """Return the mean number of shards that a traversal upstream asks; 0 if the tables are
    unknown.
    """
    if not estate.reads:
        return 0.0
    starts = random.Random(_SEED).sample(sorted(estate.reads), min(_STARTS, len(estate.reads)))
    return sum(len(_shards_visited(estate, placement, start, depth)) for start in starts) / len(
        starts
    )


def _shards_visited(estate: Estate, placement: Placement, start: int, depth: int) -> set[int]:
    visited, frontier = {start}, [start]
    for _ in range(depth):
        frontier = [
            source for table in frontier for source in estate.reads[table] if source not in visited
        ]
        frontier = list(dict.fromkeys(frontier))
        visited.update(frontier)
    return {placement[estate.homes[table]] for table in visited}


def compared(estate: Estate, counts: Iterable[int], depth: int) -> list[dict[str, float | str]]:
    """Compare the placements for each number of shards."""
    return [
        {
            "shards": shards,
            "placement": how,
            "crossing": round(crossing(estate, placement), 4),
            "largest": round(largest(estate, placement), 4),
            "touched": round(touched(estate, placement, depth), 2),
        }
        for shards in counts
        for how, place in (("by hash", by_hash), ("by affinity", by_affinity))
        for placement in (place(estate, shards),)
    ]
