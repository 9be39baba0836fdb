"""What depends on a run's neighbours: what it is part of, whether it was abandoned, which attempt of a slot it is.

Each is a projection over the facts of several runs, and is made afresh whenever one of them changes:

- A run is part of its parent, or, where no parent was told, of the root.
- A run that never ended is ABANDONED when a run that it is part of ended at or after its last sign of life: the Spark
  listener really leaves such STARTs behind. (The other way to be abandoned, silence, is judged by the clock: `sweep`.)
- Runs of one job for one schedule slot are attempts of one logical run, in the order in which they began: Airflow
  sends a new run id for each try. Two that overlap are not attempts of each other.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from headwater.cypher.driver.database import Database, Row, Transaction
from headwater.cypher.driver.write_lock import lock
from headwater.ingest.project import RunView, RunViews
from headwater.ingest.write.rows import run_rows
from headwater.ingest.write.runs import Changes
from headwater.schema.facts import RunFacts

# Runs of a slot beyond so many are no attempts: a producer that sends one nominal time for ever must not slow us.
ATTEMPTS_MAX = 100
_SWEPT_AT_ONCE = 5_000


def write_containment(
    transaction: Transaction, changes: Changes, views: RunViews, new: set[str]
) -> None:
    """Write what these runs are part of, and judge afresh which of them, and of those within them, are abandoned. `new`
    are those that were not there before."""
    above = {urn: (_above(old) if old else [], _above(new)) for urn, (old, new) in changes.items()}
    moved = {urn for urn, (before, now) in above.items() if before != now}
    rows = [{"run": urn, "parents": above[urn][1]} for urn in sorted(moved)]
    run_rows(transaction, "write/runs/part_of", rows)
    ended = {
        urn
        for urn, (old, new) in views.items()
        if _last_end(new) != (_last_end(old) if old else None)
    }
    # A run that was not there before contains none but those that say so now.
    containing = {urn for _, parents in above.values() for urn in parents}
    ended = {urn for urn in ended if urn not in new or urn in containing}
    running = {urn for urn, (_, new) in views.items() if new.is_running and above[urn][1]}
    if moved or ended or running:
        transaction.run(
            "write/runs/update_abandoned", urns=sorted(running), above=sorted(moved | ended)
        )


def _last_end(run: RunView) -> object:
    return run.node["lastEnd"] or run.node["finishedAt"]


def _above(run: RunFacts) -> list[str]:
    return sorted(run.parents or run.roots)


def write_attempts(transaction: Transaction, views: RunViews) -> None:
    """Tell which attempt of its slot each run is, for every slot that one of these runs is or was in."""
    slots = {
        side.node["slot"] for pair in views.values() for side in pair if side and side.node["slot"]
    }
    rows = (
        transaction.run(
            "read/write_path/schedule_slot_runs", slots=sorted(slots), limit=ATTEMPTS_MAX
        )
        if slots
        else []
    )
    by_slot: dict[str, list[Row]] = {}
    for row in rows:
        by_slot.setdefault(row["slot"], []).append(row)
    written = [attempt for runs in by_slot.values() for attempt in _attempts(runs)]
    left = sorted(
        urn
        for urn, (old, new) in views.items()
        if old and old.node["slot"] and not new.node["slot"]
    )
    written += [{"run": urn, "attempt": None, "retried": None, "previous": None} for urn in left]
    run_rows(transaction, "write/runs/attempts", written)


def _attempts(runs: list[Row]) -> list[Row]:
    """What is new about the runs of one slot, which come in the order in which they began."""
    counted, number = runs[:ATTEMPTS_MAX], 0
    rows = [
        {"run": run["urn"], "attempt": None, "retried": None, "previous": None}
        for run in runs[ATTEMPTS_MAX:]
    ]
    for run, before, after in zip(counted, [None, *counted], [*counted[1:], None], strict=False):
        is_retry = before is not None and _follows(run, before)
        number = number + 1 if is_retry else 1
        row = {
            "run": run["urn"],
            "attempt": number,
            "retried": True if after and _follows(after, run) else None,
            "previous": before["urn"] if before and is_retry else None,
        }
        if any(row[key] != run[key] for key in ("attempt", "retried", "previous")):
            rows.append(row)
    return rows


def _follows(run: Row, before: Row) -> bool:
    return before["finishedAt"] is None or bool(before["finishedAt"] <= run["startedAt"])


def sweep(database: Database, *, now: datetime, heartbeat_timeout_seconds: int, holder: str) -> int:
    """Mark as abandoned the runs of which nothing was heard for so long; returns how many. Raises UnavailableError."""
    before = now - timedelta(seconds=heartbeat_timeout_seconds)
    # A transaction for nothing would be a revision, for which every writer forgets what it knows of the graph.
    if not database.read("read/write_path/runs_without_heartbeat", before=before):
        return 0
    with database.write() as transaction:
        lock(transaction, holder)
        rows = transaction.run(
            "write/runs/abandon_lost_heartbeats", before=before, limit=_SWEPT_AT_ONCE
        )
    return int(rows[0]["abandoned"])
