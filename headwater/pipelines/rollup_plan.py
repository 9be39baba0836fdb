"""Old runs become daily summaries: what is kept for the questions' sake, and the taking out of the rest.

Kept, whatever their age (`protected`): the runs upstream of every answer, all the way; for every failed run what
`headwater.lineage.questions.failure_impact` shows of it (what is downstream of it and of the version from before it, the runs that
resolved it) and what lies upstream of it as far as a trace goes; and the same of the newest complete version of every
dataset, so that freshness and lineage of today's data are as they were. What else keeps a run is seen at the run
itself (read/rollup/removable_runs), in the very transaction that takes it out.

What is protected is found out before, without the lock, so that others can write meanwhile. What they write then counts
as written after the roll-up: an answer that comes now cites the newest versions, and those are kept. A version that
something left has read stays, without its run (`rolledUp`): there lineage ends, as at a source.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from headwater.cypher.driver.database import Database, Row, Transaction
from headwater.cypher.driver.write_lock import acquire_write_lock
from headwater.lineage.questions.failures import HOPS_MAX
from headwater.lineage.questions.lineage import TRACE_HOPS_MAX
from headwater.schema.retention import Horizon, add_horizon, is_expired

PIECE = 500
_PAGE = 2_000
_SECONDS = 60.0
_NEVER = datetime(1, 1, 1, tzinfo=UTC)
_LATEST = datetime(9999, 12, 31, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOLDER = "rollup"
_COUNTED = ("rowsRead", "rowsWritten", "bytesWritten")


class Candidate(NamedTuple):
    """A run that is old enough: when it was last heard of, and how many versions it made."""

    urn: str
    run_id: str
    namespaces: tuple[str, ...]
    last: datetime
    versions: int


class Urns:
    """A set of urns that takes 8 bytes of each."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def __contains__(self, urn: str) -> bool:
        return _key(urn) in self._seen

    def __len__(self) -> int:
        return len(self._seen)

    def fresh(self, urns: Iterable[str]) -> list[str]:
        """Those of these that were not among them, and are from now on."""
        found = []
        for urn in urns:
            key = _key(urn)
            if key not in self._seen:
                self._seen.add(key)
                found.append(urn)
        return found


def _key(urn: str) -> int:
    return int.from_bytes(hashlib.blake2b(urn.encode(), digest_size=8).digest(), "big")


def horizons(database: Database) -> list[Horizon]:
    """By which rules, and at which moments, this graph was rolled up."""
    rows = database.read("read/state/retention")
    return msgspec.json.decode(rows[0]["horizons"], type=list[Horizon]) if rows else []


def begin(database: Database, horizon: Horizon) -> None:
    """From now on the writer leaves out late news of runs beyond this horizon. Raises UnavailableError."""
    with database.write() as transaction:
        acquire_write_lock(transaction, HOLDER)
        rows = transaction.run("read/state/retention")
        known = msgspec.json.decode(rows[0]["horizons"], type=list[Horizon]) if rows else []
        transaction.run(
            "write/maintenance/retention",
            horizons=msgspec.json.encode(add_horizon(known, horizon)).decode(),
        )


def candidates(database: Database, horizon: Horizon) -> Iterator[list[Candidate]]:
    """Pages of the runs beyond a horizon, those that began last first."""
    cursor: dict[str, Any] = {"cursorAt": _LATEST, "cursorUrn": ""}
    before = moment(horizon.latest)
    while True:
        rows = database.read(
            "read/rollup/candidates", seconds=_SECONDS, before=before, limit=_PAGE, **cursor
        )
        yield [_candidate(row) for row in rows if _is_over(horizon, row)]
        if len(rows) < _PAGE:
            return
        cursor = {"cursorAt": rows[-1]["startedAt"], "cursorUrn": rows[-1]["urn"]}


def _is_over(horizon: Horizon, row: Row) -> bool:
    if row["lastSeen"] is None or row["status"] not in {"COMPLETE", "ABORT", "ABANDONED"}:
        return False
    return is_expired([horizon], row["runId"], row["namespaces"], _instant(row["lastSeen"]))


def _candidate(row: Row) -> Candidate:
    return Candidate(
        row["urn"], row["runId"], tuple(row["namespaces"]), row["lastSeen"], row["versions"]
    )


def protected(database: Database, walked: Callable[[int], object] = id) -> Urns:
    """The runs that a question about an answer, a failure or the newest data leads to. `walked` hears how many were
    found with each step."""
    kept = Urns()
    for page in _pages(database, "read/rollup/cited_runs"):
        _walk(
            database,
            "read/rollup/upstream_runs",
            (urn for row in page for urn in row["runs"]),
            kept,
            None,
            walked,
        )
    # What was reached through an answer was walked to its end; what follows ends after so many hops.
    behind, ahead = Urns(), Urns()
    newest = {
        urn
        for page in _pages(database, "read/rollup/runs_of_newest_versions")
        for row in page
        for urn in row["runs"]
    }
    failed, olds = _failures(database, kept)
    _walk(
        database,
        "read/rollup/upstream_runs",
        sorted(newest | failed),
        behind,
        TRACE_HOPS_MAX,
        walked,
    )
    _walk(database, "read/rollup/downstream_runs", sorted(failed | olds), ahead, HOPS_MAX, walked)
    return _united(kept, behind, ahead)


def _united(*sets: Urns) -> Urns:
    whole = Urns()
    for one in sets:
        whole._seen |= one._seen
    return whole


def _failures(database: Database, kept: Urns) -> tuple[set[str], set[str]]:
    """The failed runs, and the versions from before each; what resolved them, and made those versions, is kept."""
    failed: set[str] = set()
    olds: set[str] = set()
    cursor: dict[str, Any] = {"cursorAt": _NEVER, "cursorUrn": ""}
    while rows := database.read("read/rollup/failed_runs", seconds=_SECONDS, limit=PIECE, **cursor):
        cursor = {"cursorAt": rows[-1]["failedAt"], "cursorUrn": rows[-1]["urn"]}
        urns = [row["urn"] for row in rows]
        failed.update(urns)
        for row in database.read("read/failures/failed_run_outputs", seconds=_SECONDS, urns=urns):
            resolves = [
                row["retry"],
                row["next"],
                *(output["renewed"] for output in row["outputs"]),
            ]
            kept.fresh(repair["run"] for repair in resolves if repair)
            olds.update(output["old"] for output in row["outputs"] if output["old"])
    makers = [
        row["urn"]
        for row in database.read("read/rollup/producing_runs", seconds=_SECONDS, urns=sorted(olds))
    ]
    kept.fresh([*failed, *makers])
    return failed, olds


def _pages(database: Database, query: str) -> Iterator[list[Row]]:
    after = ""
    while rows := database.read(query, seconds=_SECONDS, after=after, limit=_PAGE):
        yield rows
        after = rows[-1]["urn"]


def _walk(
    database: Database,
    query: str,
    starts: Iterable[str],
    seen: Urns,
    hops: int | None,
    walked: Callable[[int], object],
) -> None:
    """Breadth-first, each run once however many ways lead to it."""
    layer = seen.fresh(starts)
    while layer and hops != 0:
        found: list[str] = []
        for start in range(0, len(layer), PIECE):
            rows = database.read(query, seconds=_SECONDS, urns=layer[start : start + PIECE])
            found.extend(seen.fresh(row["urn"] for row in rows))
        walked(len(layer))
        layer = found
        hops = None if hops is None else hops - 1


def removable(database: Database, piece: list[Candidate]) -> list[str]:
    """Which of these could be taken out now."""
    rows = database.read("read/rollup/removable_runs", seconds=_SECONDS, rows=_asked(piece))
    return [row["urn"] for row in rows]


def roll_up(database: Database, piece: list[Candidate]) -> set[str]:
    """Make summaries of those of these runs that nothing else keeps, in one transaction; returns which.

    Raises UnavailableError: nothing of the piece was done, or all of it; doing it again is right in either case.
    """
    with database.write() as transaction:
        acquire_write_lock(transaction, HOLDER)
        rows = transaction.run("read/rollup/removable_runs", rows=_asked(piece))
        if rows:
            transaction.run("write/maintenance/run_summaries", rows=summaries(rows))
            _take_out(transaction, [row["urn"] for row in rows])
    return {row["urn"] for row in rows}


def _take_out(transaction: Transaction, urns: list[str]) -> None:
    [touched] = transaction.run("write/maintenance/roll_up", urns=urns) or [{"versions": []}]
    # Sources stay: there is one for a dataset.
    versions = sorted(urn for urn in touched["versions"] if urn.startswith("artifact:"))
    if versions:
        transaction.run("write/versions/delete_unused", urns=versions)


def _asked(piece: list[Candidate]) -> list[Row]:
    return [{"urn": one.urn, "lastSeen": one.last} for one in piece]


def summaries(rows: Iterable[Row]) -> list[Row]:
    """What rows of read/rollup/removable_runs add to the summaries of their job, day, status and set of versions."""
    keyed: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        day = row["startedAt"].astimezone(UTC).date().isoformat()
        keyed.setdefault((row["job"], day, row["status"], version_set(row)), []).append(row)
    return [_summary(*key, keyed[key]) for key in sorted(keyed)]


def version_set(row: Row) -> str:
    """Which code ran on which datasets, in which schemas: alike for runs that differ in nothing but their data."""
    said = [row["version"], *(sorted(row[side], key=str) for side in ("reads", "writes"))]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def _summary(job: str, day: str, status: str, digest: str, rows: list[Row]) -> Row:
    times = [
        (row["finishedAt"] - row["startedAt"]) / timedelta(seconds=1)
        for row in rows
        if row["finishedAt"] is not None and row["finishedAt"] >= row["startedAt"]
    ]
    datasets = {
        side: sorted({dataset for dataset, _ in rows[0][side]}) for side in ("reads", "writes")
    }
    return {
        "urn": f"summary:{job.removeprefix('job:')}:{day}:{status}:{digest}",
        "job": job,
        "properties": {
            "job": job,
            "day": day,
            "status": status,
            "versions": digest,
            "version": rows[0]["version"],
        }
        | datasets,
        "runs": len(rows),
        "timed": len(times),
        "seconds": sum(times),
        "secondsMin": min(times, default=None),
        "secondsMax": max(times, default=None),
        "first": min(row["startedAt"] for row in rows),
        "last": max(row["startedAt"] for row in rows),
        "errors": sum(row["errors"] for row in rows),
        **{
            key: sum(count for row in rows for count in row[key] if count is not None)
            for key in _COUNTED
        },
    }


def _instant(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1)


def moment(instant: int) -> datetime:
    """The time of microseconds since 1970, UTC."""
    return _EPOCH + timedelta(microseconds=instant)
