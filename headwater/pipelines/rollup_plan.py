"""The roll-up of old runs into daily summaries: which runs stay, and how the others are removed.

Protected runs stay at any age (`protected_runs`). These are all runs upstream of every answer. For
every failed run, they are the runs that `headwater.lineage.questions.failure_impact` shows, and the
runs upstream of it as far as a trace goes. The former are the runs downstream of it and of the
version from before it, and the runs that resolved it. The same holds for the newest complete
version of every dataset, so freshness and lineage of current data do not change. Further reasons to
stay are checked on the run itself (read/rollup/removable_runs), in the transaction that removes it.

Protected runs are determined before, without the write lock, so that other writers can proceed.
Their writes count as later than the roll-up: a new answer cites the newest versions, which stay. A
version that a remaining run has read stays without its own run (`rolledUp`). Lineage ends there, as
at a source.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from headwater.chunks import chunks
from headwater.cypher.driver.database import Database, Row, Transaction
from headwater.cypher.driver.write_lock import acquire_write_lock, identify_graph
from headwater.cypher.maintenance.export import checkpoints
from headwater.lineage.questions.failures import HOPS_MAX
from headwater.lineage.questions.lineage import TRACE_HOPS_MAX
from headwater.schema.retention import Horizon, add_horizon, decode_horizons, is_expired

BATCH_SIZE = 500
_PAGE_SIZE = 2_000
_TIMEOUT_SECONDS = 60.0
_EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
_LATEST = datetime(9999, 12, 31, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOLDER = "rollup"
# The greatest integer of Neo4j. Sums end there.
INTEGER_MAX = 2**63 - 1
_SUMMED = ("rowsRead", "rowsWritten", "bytesWritten")


class Candidate(NamedTuple):
    """A run beyond the horizon, the time of its last event, and the number of its versions."""

    urn: str
    run_id: str
    namespaces: tuple[str, ...]
    last: datetime
    versions: int


class UrnSet:
    """A set of urns that stores 8 bytes for each, a hash."""

    def __init__(self) -> None:
        self._keys: set[int] = set()

    def __contains__(self, urn: str) -> bool:
        return _key(urn) in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    def add_new(self, urns: Iterable[str]) -> list[str]:
        """Add urns; return those that were not in the set before."""
        added = []
        for urn in urns:
            key = _key(urn)
            if key not in self._keys:
                self._keys.add(key)
                added.append(urn)
        return added

    def update(self, other: UrnSet) -> None:
        """Add the urns of another set."""
        self._keys |= other._keys


def _key(urn: str) -> int:
    return int.from_bytes(hashlib.blake2b(urn.encode(), digest_size=8).digest(), "big")


def _clock() -> int:
    return time.time_ns() // 1_000


def present_time(database: Database) -> int:
    """Return the present time, in microseconds since 1970, from which days are counted back.

    It is not after the newest commit of folded events, which Neo4j dates. So a clock that is ahead
    expires no run that the present time would keep. Raises UnavailableError.
    """
    commits = [row["at"] for row in checkpoints(database) if row.get("at") is not None]
    return min([_clock(), *([_to_instant(max(commits))] if commits else [])])


def record_horizon(database: Database, horizon: Horizon) -> str:
    """Record a horizon; from then on the writer refuses late events of runs beyond it.

    Return the id of the graph that has the horizon. Raises UnavailableError.
    """
    graph = identify_graph(database, HOLDER)
    with database.write() as transaction:
        acquire_write_lock(transaction, HOLDER, graph=graph)
        rows = transaction.run("read/state/retention")
        # Unreadable horizons are replaced.
        horizons = decode_horizons(rows[0]["horizons"])[0] if rows else []
        now = _clock()
        horizons = [other.until(now) for other in horizons]
        transaction.run(
            "write/maintenance/retention",
            horizons=msgspec.json.encode(add_horizon(horizons, horizon)).decode(),
        )
    return graph


def candidates(database: Database, horizon: Horizon) -> Iterator[list[Candidate]]:
    """Yield pages of the runs beyond a horizon, those that began last first."""
    cursor: dict[str, Any] = {"cursorAt": _LATEST, "cursorUrn": ""}
    before = to_datetime(horizon.latest)
    while True:
        rows = database.read(
            "read/rollup/candidates",
            seconds=_TIMEOUT_SECONDS,
            before=before,
            limit=_PAGE_SIZE,
            **cursor,
        )
        yield [_candidate(row) for row in rows if _is_expired(horizon, row)]
        if len(rows) < _PAGE_SIZE:
            return
        cursor = {"cursorAt": rows[-1]["startedAt"], "cursorUrn": rows[-1]["urn"]}


def _is_expired(horizon: Horizon, row: Row) -> bool:
    if row["lastSeen"] is None or row["status"] not in {"COMPLETE", "ABORT", "ABANDONED"}:
        return False
    return is_expired([horizon], row["runId"], row["namespaces"], _to_instant(row["lastSeen"]))


def _candidate(row: Row) -> Candidate:
    return Candidate(
        urn=row["urn"],
        run_id=row["runId"],
        namespaces=tuple(row["namespaces"]),
        last=row["lastSeen"],
        versions=row["versions"],
    )


def protected_runs(database: Database, on_progress: Callable[[int], object] = id) -> UrnSet:
    """Return the runs to which a question about an answer, a failure or current data leads.

    `on_progress` is called with the number of runs read in each step.
    """
    walks = _Walks(database, on_progress)
    # The history of answers is protected to its end, that of other nodes for a number of hops.
    protected, upstream, downstream = UrnSet(), UrnSet(), UrnSet()
    for page in _read_pages(database, "read/rollup/cited_runs"):
        walks.walk("read/rollup/upstream_runs", _runs(page), protected, hops_max=None)
    newest: set[str] = set()
    for page in _read_pages(database, "read/rollup/runs_of_newest_versions"):
        newest.update(_runs(page))
    failed, old_versions = _read_failures(database, protected)
    walks.walk(
        "read/rollup/upstream_runs", sorted(newest | failed), upstream, hops_max=TRACE_HOPS_MAX
    )
    walks.walk(
        "read/rollup/downstream_runs", sorted(failed | old_versions), downstream, hops_max=HOPS_MAX
    )
    protected.update(upstream)
    protected.update(downstream)
    return protected


def _runs(page: list[Row]) -> Iterator[str]:
    for row in page:
        yield from row["runs"]


def _read_failures(database: Database, protected: UrnSet) -> tuple[set[str], set[str]]:
    """Return the failed runs and the versions from before each.

    The failed runs, the runs that resolved them and the writers of those versions are protected.
    """
    failed: set[str] = set()
    old_versions: set[str] = set()
    cursor: dict[str, Any] = {"cursorAt": _EARLIEST, "cursorUrn": ""}
    while rows := database.read(
        "read/rollup/failed_runs", seconds=_TIMEOUT_SECONDS, limit=BATCH_SIZE, **cursor
    ):
        cursor = {"cursorAt": rows[-1]["failedAt"], "cursorUrn": rows[-1]["urn"]}
        urns = [row["urn"] for row in rows]
        failed.update(urns)
        for failure in database.read(
            "read/failures/failed_run_outputs", seconds=_TIMEOUT_SECONDS, urns=urns
        ):
            outputs = failure["outputs"]
            successes = [failure["retry"], failure["next"], *(out["renewed"] for out in outputs)]
            protected.add_new(success["run"] for success in successes if success)
            old_versions.update(output["old"] for output in outputs if output["old"])
    writers = database.read(
        "read/rollup/producing_runs", seconds=_TIMEOUT_SECONDS, urns=sorted(old_versions)
    )
    protected.add_new([*failed, *(row["urn"] for row in writers)])
    return failed, old_versions


def _read_pages(database: Database, query: str) -> Iterator[list[Row]]:
    after = ""
    while rows := database.read(query, seconds=_TIMEOUT_SECONDS, after=after, limit=_PAGE_SIZE):
        yield rows
        after = rows[-1]["urn"]


class _Walks(NamedTuple):
    """Breadth-first walks from run to run."""

    database: Database
    on_progress: Callable[[int], object]

    def walk(
        self, query: str, starts: Iterable[str], reached: UrnSet, *, hops_max: int | None
    ) -> None:
        """Add the runs within some hops (None: all) to `reached`; do not cross known ones."""
        layer = reached.add_new(starts)
        hop = 0
        while layer and (hops_max is None or hop < hops_max):
            following: list[str] = []
            for batch in chunks(layer, BATCH_SIZE):
                rows = self.database.read(query, seconds=_TIMEOUT_SECONDS, urns=batch)
                following += reached.add_new(row["urn"] for row in rows)
            self.on_progress(len(layer))
            layer = following
            hop += 1


def removable_runs(database: Database, batch: list[Candidate]) -> list[str]:
    """Return those candidates that could be removed now."""
    rows = database.read(
        "read/rollup/removable_runs", seconds=_TIMEOUT_SECONDS, rows=_parameters(batch)
    )
    return [row["urn"] for row in rows]


def roll_up(database: Database, batch: list[Candidate], graph: str) -> set[str]:
    """Replace the removable runs of a batch by summaries, in one transaction; return their urns.

    `graph` is the id of the graph that has the horizon: without it, later events of a removed run
    would make a part of the run again. Raises GraphErasedError, and UnavailableError. Then either
    none of the batch was written or all of it; the caller may repeat the batch in both cases.
    """
    with database.write() as transaction:
        acquire_write_lock(transaction, HOLDER, graph=graph)
        rows = transaction.run("read/rollup/removable_runs", rows=_parameters(batch))
        if rows:
            transaction.run("write/maintenance/run_summaries", rows=summaries(rows))
            _remove(transaction, [row["urn"] for row in rows])
    return {row["urn"] for row in rows}


def _remove(transaction: Transaction, urns: list[str]) -> None:
    [affected] = transaction.run("write/maintenance/roll_up", urns=urns) or [{"versions": []}]
    # Sources stay: a dataset has one.
    versions = sorted(urn for urn in affected["versions"] if urn.startswith("artifact:"))
    if versions:
        transaction.run("write/versions/delete_unused", urns=versions)


def _parameters(batch: list[Candidate]) -> list[Row]:
    return [{"urn": candidate.urn, "lastSeen": candidate.last} for candidate in batch]


def summaries(rows: Iterable[Row]) -> list[Row]:
    """Summarise rows of read/rollup/removable_runs by job, day, status and set of versions."""
    groups: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        day = row["startedAt"].astimezone(UTC).date().isoformat()
        groups.setdefault((row["job"], day, row["status"], version_set(row)), []).append(row)
    return [_summary(*key, groups[key]) for key in sorted(groups)]


def version_set(row: Row) -> str:
    """Return a hash of the code version, the datasets and the schemas of a run."""
    parts = [row["version"], *(sorted(row[side], key=str) for side in ("reads", "writes"))]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _summary(job: str, day: str, status: str, digest: str, rows: list[Row]) -> Row:
    durations = [
        (row["finishedAt"] - row["startedAt"]) / timedelta(seconds=1)
        for row in rows
        if row["finishedAt"] is not None and row["finishedAt"] >= row["startedAt"]
    ]
    return {
        "urn": f"summary:{job.removeprefix('job:')}:{day}:{status}:{digest}",
        "job": job,
        "properties": {
            "job": job,
            "day": day,
            "status": status,
            "versions": digest,
            "version": rows[0]["version"],
            "reads": _datasets(rows[0]["reads"]),
            "writes": _datasets(rows[0]["writes"]),
        },
        "runs": len(rows),
        "timed": len(durations),
        "seconds": sum(durations),
        "secondsMin": min(durations, default=None),
        "secondsMax": max(durations, default=None),
        "first": min(row["startedAt"] for row in rows),
        "last": max(row["startedAt"] for row in rows),
        "errors": sum(row["errors"] for row in rows),
        **{key: _sum_present(rows, key) for key in _SUMMED},
    }


def _datasets(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return sorted({dataset for dataset, _ in pairs})


def _sum_present(rows: list[Row], key: str) -> int:
    counts = chain.from_iterable(row[key] for row in rows)
    total: int = sum(count for count in counts if count is not None)
    return max(-INTEGER_MAX, min(total, INTEGER_MAX))


def _to_instant(timestamp: datetime) -> int:
    return (timestamp - _EPOCH) // timedelta(microseconds=1)


def to_datetime(instant: int) -> datetime:
    """Convert microseconds since 1970 to a time in UTC."""
    return _EPOCH + timedelta(microseconds=instant)
