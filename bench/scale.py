"""Plan the layout for more events than one machine takes, by arithmetic on measured costs and
queues.

    python -m bench.scale --costs costs.json              JSON
    python -m bench.scale --costs costs.json --markdown   the tables of docs/explanation/scale.md

`costs.json` holds measured values, by the names of `Costs`. Missing values are assumed as the class
states, and reported as assumed. Only arithmetic runs: a part is busy for its cost per event, is
planned at most `BUSY` busy, and shares nothing with others. Queues are simulated second by second.
`bench.shards` simulates the effect of several Neo4j on the lineage graph.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import msgspec

from bench import shards
from bench.report import Report

RATES = {"10 thousand": 1e4, "1 million": 1e6, "100 million": 1e8}
# No part is planned busier than this, so queues stay short and a backlog can be worked off.
BUSY = 0.6
CORES_PER_EXECUTOR = 4
CORES_PER_API = 2
CORES_PER_NEO4J_MAX = 32
OUTAGE_MINUTES = (1, 10, 60)
BURST, BURST_MINUTES = 5.0, 10
_HOUR, _DAY = 3_600, 86_400
_SIMULATED_SECONDS_MAX = 14 * _DAY
SHARDS_SHOWN = (2, 4, 8, 16, 32)
WALK_DEPTH = 10


@dataclass(frozen=True)
class Costs:
    """Costs per event unless stated otherwise; the defaults are assumptions for events of 5.9
    kB.
    """

    api_cpu_us: float = 100.0  # bench.post, batches
    worker_cpu_us: float = 200.0  # Python of the worker: parse, fold, project, send
    neo4j_cpu_us: float = 200.0
    lock_us: float = 250.0  # time under the write lock
    spark_cpu_us: float = 150.0  # bench of backfill and stream: Spark's side, without the write
    spool_bytes: float = 6_000.0
    archive_bytes: float = 300.0  # Parquet, zstd
    graph_bytes: float = 900.0  # before rollup
    query_cpu_ms: float = 20.0  # one lineage question, API and Neo4j together
    questions_per_second: float = 10.0  # not measured: the number of questions
    retention_days: float = 30.0  # not measured: how long runs are kept in detail
    page_cache_share: float = 0.25  # not measured: the share of the store that is read


@dataclass(frozen=True)
class Lag:
    """A backlog: the most `events` waiting, the age of the oldest one (`oldest_seconds`), and the
    `seconds` until it is empty.
    """

    events: float
    oldest_seconds: float
    seconds: float


def limits(costs: Costs) -> dict[str, float]:
    """Return the events a second that one instance of each part takes at most."""
    return {
        "one API process (a core of Python)": 1e6 / costs.api_cpu_us,
        "one worker process (a core of Python)": 1e6 / costs.worker_cpu_us,
        "the write lock of one Neo4j": 1e6 / costs.lock_us,
        f"{CORES_PER_NEO4J_MAX} cores of one Neo4j": CORES_PER_NEO4J_MAX * 1e6 / costs.neo4j_cpu_us,
        "two cores with everything on them": 2e6
        / (costs.api_cpu_us + costs.worker_cpu_us + costs.neo4j_cpu_us),
    }


def breaks(costs: Costs, rate: float) -> list[str]:
    """Return the parts that break at so many events a second with one instance each, the first to
    break first.
    """
    return [
        name
        for name, limit in sorted(limits(costs).items(), key=lambda one: one[1])
        if rate > limit * BUSY
    ]


def layout(costs: Costs, per_hour: float) -> dict[str, Any]:
    """Return the needed instances for so many events an hour."""
    rate = per_hour / _HOUR
    neo4j_shards = _count(rate * costs.lock_us / 1e6)
    per_shard = rate / neo4j_shards
    questions = costs.questions_per_second * costs.query_cpu_ms / 1e3 / BUSY
    spark_cores = rate * costs.spark_cpu_us / 1e6 / BUSY
    stored = costs.graph_bytes * rate * _DAY * costs.retention_days / neo4j_shards
    needed = breaks(costs, rate)
    return {
        "eventsPerSecond": round(rate, 1),
        "apiReplicas": _count(
            rate * costs.api_cpu_us / 1e6 / CORES_PER_API + questions * BUSY / CORES_PER_API
        ),
        # A power of two with room to double without moving jobs between partitions twice.
        "kafkaPartitions": 2 ** math.ceil(math.log2(max(2 * spark_cores, 1))) if needed else 0,
        "executors": math.ceil(spark_cores / CORES_PER_EXECUTOR) if needed else 0,
        "workers": 0 if needed else 1,
        "neo4jShards": neo4j_shards,
        "neo4jCores": max(math.ceil(per_shard * costs.neo4j_cpu_us / 1e6 / BUSY), 1),
        "neo4jPageCacheGB": _gigabytes(stored * costs.page_cache_share),
        "neo4jStoreGB": _gigabytes(stored),
        "graphGBPerDay": _gigabytes(costs.graph_bytes * rate * _DAY),
        "archiveGBPerDay": _gigabytes(costs.archive_bytes * rate * _DAY),
        "spoolGBPerHour": _gigabytes(costs.spool_bytes * rate * _HOUR),
        "breaks": needed,
        "outages": {
            str(minutes): asdict(outage(costs, rate, neo4j_shards, minutes))
            for minutes in OUTAGE_MINUTES
        },
        "burst": asdict(burst(costs, rate, neo4j_shards)),
    }


def _count(busy: float) -> int:
    """Return the number of instances at which none is busier than planned."""
    return max(math.ceil(busy / BUSY), 1)


def _gigabytes(size: float) -> float:
    return float(f"{size / 1e9:.3g}")


def outage(costs: Costs, rate: float, neo4j_shards: int, minutes: float) -> Lag:
    """Simulate an outage of the graph for so many minutes while events keep coming."""
    down = minutes * 60
    return queue(
        lambda _: rate, lambda second: 0.0 if second < down else _taken(costs, neo4j_shards)
    )


def burst(costs: Costs, rate: float, neo4j_shards: int) -> Lag:
    """Simulate several times the usual events for some minutes."""
    length = BURST_MINUTES * 60
    return queue(
        lambda second: rate * (BURST if second < length else 1),
        lambda _: _taken(costs, neo4j_shards),
    )


def _taken(costs: Costs, neo4j_shards: int) -> float:
    """Return the events a second that the graph's writers take when they do nothing else."""
    return neo4j_shards * 1e6 / costs.lock_us


def queue(comes: Any, taken: Any) -> Lag:
    """Simulate a queue second by second until it is empty; both functions return events for a
    second.

    Events are taken in order, so the oldest waiting event arrived when as many had arrived as are
    taken by now.
    """
    waiting = waiting_max = oldest_age = arrived_total = done_total = 0.0
    oldest, arrived = 0, [0.0]
    for second in range(_SIMULATED_SECONDS_MAX):
        arrived_total += comes(second)
        arrived.append(arrived_total)
        out = min(waiting + comes(second), taken(second))
        waiting, done_total = waiting + comes(second) - out, done_total + out
        waiting_max = max(waiting_max, waiting)
        while oldest < second and arrived[oldest + 1] <= done_total:
            oldest += 1
        if waiting <= comes(second) * 1e-9:
            return Lag(round(waiting_max), oldest_age, second + 1 if waiting_max else 0)
        oldest_age = max(oldest_age, float(second + 1 - oldest))
    return Lag(round(waiting_max), oldest_age, math.inf)


def fullest(costs: Costs, estate: shards.Estate, rate: float, neo4j_shards: int) -> float:
    """Return the load of the write lock of the fullest shard; above 1 it cannot hold."""
    share = shards.largest(estate, shards.by_affinity(estate, neo4j_shards))
    return round(rate * share * costs.lock_us / 1e6, 3)


def found(costs: Costs, estate: shards.Estate) -> dict[str, Any]:
    layouts = {name: layout(costs, per_hour) for name, per_hour in RATES.items()}
    for one in layouts.values():
        one["fullestBusy"] = fullest(costs, estate, one["eventsPerSecond"], one["neo4jShards"])
    return {
        "costs": asdict(costs),
        "busy": BUSY,
        "limits": {name: round(limit) for name, limit in limits(costs).items()},
        "layouts": layouts,
        "sharding": shards.compared(estate, SHARDS_SHOWN, WALK_DEPTH),
    }


def read_costs(path: Path | None) -> tuple[Costs, list[str]]:
    """Read measured costs, and the names of those not measured. Raise msgspec.ValidationError for
    unknown names.
    """
    decoded = msgspec.json.decode(path.read_bytes()) if path else {}
    costs = msgspec.convert(decoded, dict[str, float])
    names = [one.name for one in fields(Costs)]
    if unknown := sorted(costs.keys() - set(names)):
        raise msgspec.ValidationError(f"{', '.join(unknown)}: a cost is one of {', '.join(names)}")
    return Costs(**costs), [name for name in names if name not in costs]


_ROWS = {
    "events a second": "eventsPerSecond",
    f"API replicas ({CORES_PER_API} cores each)": "apiReplicas",
    "Kafka partitions, by job": "kafkaPartitions",
    f"Spark executors ({CORES_PER_EXECUTOR} cores each)": "executors",
    "workers of `headwater worker`": "workers",
    "Neo4j, sharded by namespace": "neo4jShards",
    "busy share of the write lock of the fullest": "fullestBusy",
    "cores of each": "neo4jCores",
    "page cache of each, GB": "neo4jPageCacheGB",
    "store of each, GB": "neo4jStoreGB",
    "graph, GB a day before rollup": "graphGBPerDay",
    "archive, GB a day": "archiveGBPerDay",
    "spool or topic, GB an hour": "spoolGBPerHour",
}


def markdown(plan: dict[str, Any], assumed: list[str]) -> str:
    """Return the tables of docs/explanation/scale.md."""
    layouts: dict[str, Any] = plan["layouts"]
    costs = {
        f"`{name}`": [f"{value:g}", "assumed" if name in assumed else "measured"]
        for name, value in plan["costs"].items()
    }
    parts = {
        name: [f"{limit:,}", f"{limit * BUSY * _HOUR / 1e6:,.1f}"]
        for name, limit in plan["limits"].items()
    }
    lags = {
        f"{minutes} min without the graph": [
            _lag(one["outages"][str(minutes)]) for one in layouts.values()
        ]
        for minutes in OUTAGE_MINUTES
    }
    lags[f"{BURST:g} times as many for {BURST_MINUTES} min"] = [
        _lag(one["burst"]) for one in layouts.values()
    ]
    split = {
        f"{one['shards']}, {one['placement']}": [
            f"{one['crossing']:.0%}",
            f"{one['largest']:.0%}",
            f"{one['touched']:g}",
        ]
        for one in plan["sharding"]
    }
    rows = {
        name: [f"{one[key]:,}" if one[key] else "-" for one in layouts.values()]
        for name, key in _ROWS.items()
    }
    rows["breaks with one of each, first to last"] = [
        "; ".join(one["breaks"]) or "nothing" for one in layouts.values()
    ]
    return "\n\n".join(
        [
            _table(["cost", "value", ""], costs),
            _table(["part", "events/s at most", f"millions an hour at {BUSY:.0%}"], parts),
            _table(["events an hour", *layouts], rows),
            _table(["", *layouts], lags),
            _table(
                ["shards", "edges across", "on the fullest", f"asked by a walk of {WALK_DEPTH}"],
                split,
            ),
        ]
    )


def _lag(lag: dict[str, float]) -> str:
    if not lag["events"]:
        return "nothing waits"
    end = "never" if lag["seconds"] == math.inf else f"after {lag['seconds'] / 60:,.1f} min"
    minutes = lag["oldest_seconds"] / 60
    return f"{lag['events']:,.0f} events wait, {minutes:,.1f} min old; caught up {end}"


def _table(head: list[str], rows: dict[str, list[str]]) -> str:
    lines = [head, ["---"] * len(head), *([name, *values] for name, values in rows.items())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="The layout for so many events an hour, from measured costs."
    )
    parser.add_argument(
        "--costs", type=Path, help="JSON of what was measured, by the names of Costs"
    )
    parser.add_argument(
        "--export", type=Path, help="what `headwater export` wrote: the estate to be sharded"
    )
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--namespaces", type=int, default=200)
    parser.add_argument(
        "--foreign", type=float, default=0.2, help="the share of reads from other namespaces"
    )
    parser.add_argument("--markdown", action="store_true")
    chosen = parser.parse_args()
    report = Report("scale")
    costs, assumed = read_costs(chosen.costs)
    estate = (
        shards.exported(chosen.export)
        if chosen.export
        else shards.generate_estate(chosen.jobs, chosen.namespaces, chosen.foreign)
    )
    plan = found(costs, estate)
    if chosen.markdown:
        print(markdown(plan, assumed))
    else:
        report.show(**plan, assumed=assumed)


if __name__ == "__main__":
    main()
