"""Properties of runs that depend on other runs: parents, abandonment, attempts of a schedule slot.

Each is a projection of the facts of several runs, computed again when one of them changes:

- A run is part of its parent or, if no event named a parent, of its root.
- A run without an end is ABANDONED if a run that contains it ended at or after its last event.
  `abandon_lost_heartbeats` finds the others by the clock. A job on RDDs that wrote nothing is
  COMPLETE if its parent is: Spark's listener sends its end only if it failed.
- Runs of one job for one schedule slot are attempts of one logical run, in the order of their
  starts: Airflow sends a new run id for each try. Runs that overlap are not attempts of each other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from headwater.cypher.driver.database import Database, Row, Transaction
from headwater.cypher.driver.write_lock import acquire_write_lock
from headwater.ingest.project import RunView, RunViews
from headwater.ingest.write.rows import write_rows
from headwater.schema.facts import RunFacts

# Further runs of a slot are no attempts: a producer may send one nominal time forever.
ATTEMPTS_MAX = 100
_ABANDONED_AT_ONCE = 5_000


def write_parents(
    transaction: Transaction,
    changes: Mapping[str, tuple[RunFacts | None, RunFacts]],
    views: RunViews,
    new: Collection[str],
) -> None:
    """Write the parents of changed runs, and recompute which runs are abandoned.

    `new` are the runs that the graph did not have.
    """
    parents = {
        urn: (_parents(old) if old else [], _parents(run)) for urn, (old, run) in changes.items()
    }
    moved = {urn for urn, (before, now) in parents.items() if before != now}
    rows = [{"run": urn, "parents": parents[urn][1]} for urn in sorted(moved)]
    write_rows(transaction, "write/runs/part_of", rows)
    ended = {
        urn
        for urn, (old, view) in views.items()
        if _outcome(view) != (_outcome(old) if old else None)
    }
    # A new run contains only runs of this delta.
    containing: set[str] = set()
    for _, urns in parents.values():
        containing.update(urns)
    ended = {urn for urn in ended if urn not in new or urn in containing}
    running = {urn for urn, (_, view) in views.items() if view.is_running and parents[urn][1]}
    if moved or ended or running:
        transaction.run(
            "write/runs/update_abandoned", urns=sorted(running), above=sorted(moved | ended)
        )


def _outcome(run: RunView) -> object:
    """Return what the runs within a run depend on; None while it has not ended."""
    node = run.node
    ended = node["lastEnd"] or node["finishedAt"]
    return (ended, node["status"], node["startedAt"]) if ended else None


def _parents(run: RunFacts) -> list[str]:
    return sorted(run.parents or run.roots)


def recompute_attempts(transaction: Transaction, views: RunViews) -> None:
    """Number the attempts of every schedule slot that one of these runs is or was in."""
    slots: set[str] = set()
    unslotted = []
    for urn, (old, view) in views.items():
        before, now = old.node["slot"] if old else None, view.node["slot"]
        slots.update(slot for slot in (before, now) if slot)
        if before and not now:
            unslotted.append(urn)
    by_slot: dict[str, list[Row]] = {}
    for row in _read_slots(transaction, slots):
        by_slot.setdefault(row["slot"], []).append(row)
    written = []
    for runs in by_slot.values():
        written += _attempt_rows(runs)
    written += [_attempt_row(urn, None) for urn in sorted(unslotted)]
    write_rows(transaction, "write/runs/attempts", written)


def _read_slots(transaction: Transaction, slots: set[str]) -> list[Row]:
    if not slots:
        return []
    return transaction.run(
        "read/write_path/schedule_slot_runs", slots=sorted(slots), limit=ATTEMPTS_MAX
    )


def _attempt_rows(runs: list[Row]) -> list[Row]:
    """Return the changes of the runs of one slot, which are in the order of their starts."""
    rows = [_attempt_row(run["urn"], None) for run in runs[ATTEMPTS_MAX:]]
    counted, number = runs[:ATTEMPTS_MAX], 0
    for run, before, after in zip(counted, [None, *counted], [*counted[1:], None], strict=False):
        is_retry = before is not None and _follows(run, before)
        number = number + 1 if is_retry else 1
        row = _attempt_row(run["urn"], number)
        row["retried"] = True if after and _follows(after, run) else None
        row["previous"] = before["urn"] if before and is_retry else None
        if any(row[key] != run[key] for key in ("attempt", "retried", "previous")):
            rows.append(row)
    return rows


def _attempt_row(run: str, attempt: int | None) -> Row:
    return {"run": run, "attempt": attempt, "retried": None, "previous": None}


def _follows(run: Row, before: Row) -> bool:
    return before["finishedAt"] is None or bool(before["finishedAt"] <= run["startedAt"])


def abandon_lost_heartbeats(
    database: Database, *, now: datetime, heartbeat_timeout_seconds: int, holder: str
) -> int:
    """Mark running runs without a recent event as abandoned. Return how many.

    Raises UnavailableError.
    """
    before = now - timedelta(seconds=heartbeat_timeout_seconds)
    # An empty write transaction would still be a revision, for which every writer clears its cache.
    if not database.read("read/write_path/runs_without_heartbeat", before=before):
        return 0
    with database.write() as transaction:
        acquire_write_lock(transaction, holder)
        rows = transaction.run(
            "write/runs/abandon_lost_heartbeats", before=before, limit=_ABANDONED_AT_ONCE
        )
    return int(rows[0]["abandoned"])
