"""The detector: a process beside the worker that keeps the findings in step with the graph.

Each second it asks which nodes changed, and derives the findings of these again (`sweep`), and of
the nodes that the clock alone changes. At its start and then each hour it goes through all nodes,
page by page, between the other passes. Ingest never waits for it: it takes no write lock, and while
events wait to be folded it works a tenth of the time.

- While the graph is erased, it waits. After an erasure it waits until the worker has folded every
  event that was there; until then the findings stay as they were.
- Neo4j is away: wait (one second, doubling to 30 s, with jitter), and try again.
- Two detectors run: one of them finds that the other wrote meanwhile, and repeats its pass.
- The detector is killed: the cursor was saved with the findings or not at all.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from headwater.backoff import Backoff
from headwater.cypher.driver.database import Database, Transaction
from headwater.cypher.migrate import pending
from headwater.errors import HeadwaterError
from headwater.governance.policies.store import PolicyStore
from headwater.health.findings.changed_nodes import (
    Changed,
    ChangeReader,
    Cursor,
    GraphState,
    read_graph_state,
)
from headwater.health.findings.derive import Terms
from headwater.health.findings.jobs.history import LAG_LIMIT
from headwater.health.findings.sweep import OvertakenError, Swept, subject_pages, sweep
from headwater.ingest.spool.spool import Spool
from headwater.ingest.write.transaction import read_checkpoint
from headwater.lineage.view import GraphView

POLL_SECONDS = 1.0
# The findings are confirmed, and due alerts written, at least this often.
TICK_SECONDS = 5.0
FULL_PASS_EVERY = timedelta(hours=1)
# Nodes with open findings that the clock opened are read again this often, if the graph changed.
RECHECK_SECONDS = 60.0
# While events wait to be folded, one part of work is followed by nine parts of rest.
_REST_WHILE_BUSY = 9.0
_REST_SECONDS_MAX = 120.0
# Without waiting events, a step that was slow does not delay the next one for long.
_IDLE_REST_SECONDS_MAX = 5.0
_BACKOFF = Backoff(first_seconds=1.0, max_seconds=30.0)
_DUE_RULES = ("missing-run", "stale-source", "stale-dataset", "stale-answer", "unused-dataset")

log = logging.getLogger("headwater.findings")

# Writes alerts in the transaction that writes findings, at an instant. Returns the instant before
# which none is due if the findings stay as they are.
Enqueue = Callable[[Transaction, datetime], datetime]


def _no_alerts(transaction: Transaction, instant: datetime) -> datetime:
    """Write no alerts."""
    del transaction
    return instant


@dataclass(frozen=True)
class DetectorState:
    """What the graph says about the last pass; without one, the cursor is at the beginning."""

    cursor: Cursor
    version: str = ""
    full_pass_at: datetime | None = None
    passed_at: datetime | None = None


@dataclass(frozen=True)
class Quiet:
    """A time in which no alert is due while the graph has these findings.

    passes: the number of passes that changed findings.
    """

    graph: str
    passes: int
    since: datetime
    until: datetime

    def includes(self, graph: str, passes: int, instant: datetime) -> bool:
        """Return True if nothing is due at an instant."""
        is_same = (self.graph, self.passes) == (graph, passes)
        return is_same and self.since <= instant < self.until


class Detector:
    """Keeps the findings of one graph in step with it. `run` returns once `stop` is set."""

    def __init__(
        self,
        database: Database,
        *,
        spool: Spool | None = None,
        enqueue: Enqueue = _no_alerts,
        policies: PolicyStore | None = None,
        lag_limit: int = LAG_LIMIT,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Create a detector.

        Args:
            database: The graph.
            spool: The spool whose events the worker folds, if it is on this machine.
            enqueue: Writes the alerts that are due, in the transaction that writes findings.
            policies: The policies in force; a changed policy gives a full pass.
            lag_limit: How many records of a topic a job may be behind.
            clock: The now of the detectors.
        """
        self._view = GraphView(database)
        self._spool = spool
        self._enqueue = enqueue
        self._policies = policies
        self._terms = Terms(policies, lag_limit)
        self._clock = clock
        self._changes = ChangeReader(self._view)
        self._state: DetectorState | None = None
        self._due: dict[str, datetime] = {}
        # Of the last transaction, and of the last one that was committed.
        self._quiet_next: Quiet | None = None
        self._quiet: Quiet | None = None
        self._pages: Iterator[list[str]] | None = None
        self._full_pass_due = True
        self._ticked_at = self._rechecked_at = self._enqueued_at = float("-inf")
        self._worked_since = time.monotonic()
        self._rebuilt_at: int | None = None
        self._is_migrated = False
        self.stop = threading.Event()

    def run(self) -> None:
        """Keep the findings in step until `stop` is set."""
        failures = 0
        while not self.stop.is_set():
            self._worked_since = time.monotonic()
            try:
                self.step()
                failures = 0
            except OvertakenError:
                log.info("detector_overtaken")
                self._reset()
            except HeadwaterError as error:
                failures += 1
                log.warning("detector_waits reason=%r", error.message)
                self._reset()
            pause = _BACKOFF.pause_seconds(failures) if failures else POLL_SECONDS
            self.stop.wait(max(pause, self._rest_seconds()))

    def step(self) -> Swept | None:
        """Make the pass that is due, and return what it did; None if nothing was to be done.

        Raises:
            OvertakenError: Another detector wrote meanwhile.
            UnavailableError: Neo4j is away.
        """
        # The worker applies the migrations; two processes that do so at once hinder each other.
        self._is_migrated = self._is_migrated or not pending(self._view.database)
        if not self._is_migrated:
            return None
        present = read_graph_state(self._view)
        if present.is_erasing or not self._is_complete(present):
            return None
        changed, state = self._read_changes(present)
        swept = self._pass(changed, state) if changed else None
        if swept is None:
            self._state = state
        page = self._page(self._state or state)
        if swept is None and page is None and self._is_tick_due():
            self._tick(state)
        return swept or page

    def full_pass(self) -> Swept:
        """Derive all findings in one pass.

        Raises:
            OvertakenError: Another detector wrote meanwhile.
            UnavailableError: Neo4j is away.
        """
        present, instant = read_graph_state(self._view), self._clock()
        state = DetectorState(self._changes.skip(present), self._version(), instant)
        swept = sweep(
            self._view,
            None,
            instant,
            terms=self._terms,
            on_write=self._saving(state, instant),
        )
        self._note(swept, state)
        self._full_pass_due, self._pages = False, None
        return swept

    def _read_changes(self, present: GraphState) -> tuple[Changed | None, DetectorState]:
        """Return what changed since the last pass; None if a full pass has begun instead."""
        state = self._state or read_state(self._view)
        version = self._version()
        is_known = state.cursor.graph == present.graph and state.version == version
        changed = self._changes.read(state.cursor, present) if is_known else None
        if changed is not None:
            return changed, replace(state, cursor=changed.cursor)
        self._full_pass_due, self._pages = True, None
        return None, DetectorState(self._changes.skip(present), version)

    def _version(self) -> str:
        """Return the version of the rules: of the program, the policies in force and limits."""
        digest = self._policies.read().policies.digest if self._policies else ""
        limit = self._terms.lag_limit
        parts = (VERSION, digest, "" if limit == LAG_LIMIT else f"lag={limit}")
        return " ".join(filter(None, parts))

    def _pass(self, changed: Changed, state: DetectorState) -> Swept | None:
        """Make a pass over the nodes that changed or are due, if there are any."""
        instant = self._clock()
        due = {urn for urn, at in self._due.items() if at <= instant}
        urns = changed.urns | due
        if changed.urns and time.monotonic() - self._rechecked_at >= RECHECK_SECONDS:
            urns |= self._open_by_clock()
            self._rechecked_at = time.monotonic()
        if not urns:
            return None
        swept = sweep(
            self._view,
            urns,
            instant,
            relinked=changed.relinked,
            terms=self._terms,
            on_write=self._saving(state, instant),
            on_chunk=self._rest,
        )
        for urn in urns:
            self._due.pop(urn, None)
        self._note(swept, state)
        return swept

    def _page(self, state: DetectorState) -> Swept | None:
        """Continue the full pass by a page, if one is due."""
        instant = self._clock()
        if self._pages is None:
            last = state.full_pass_at
            # A clock that was ahead may have written a last pass that is still to come.
            is_late = last is None or abs(instant - last) >= FULL_PASS_EVERY
            if not (self._full_pass_due or is_late):
                return None
            self._pages = subject_pages(self._view)
        page = next(self._pages, None)
        if page is None:
            state = replace(state, full_pass_at=instant)
        swept = sweep(
            self._view,
            page or (),
            instant,
            evaluates_all=page is None,
            terms=self._terms,
            on_write=self._saving(state, instant, is_page=page is not None),
        )
        if page is None:
            self._full_pass_due, self._pages = False, None
            log.info("full_pass_done")
        self._note(swept, state)
        return swept

    def _tick(self, state: DetectorState) -> None:
        """Confirm that the findings are in step, and write the alerts that are due by now."""
        instant = self._clock()
        with self._view.database.write() as transaction:
            transaction.run("write/findings/lock_detector", changes=0)
            self._saving(state, instant)(transaction)
        self._note(None, state)

    def _note(self, swept: Swept | None, state: DetectorState) -> None:
        self._state, self._ticked_at = state, time.monotonic()
        self._quiet = self._quiet_next
        if swept is not None:
            self._due.update(swept.due)
        if swept is not None and swept.changes.count:
            log.info(
                "findings_changed subjects=%d written=%d deleted=%d",
                swept.subjects,
                len(swept.changes.rows),
                len(swept.changes.deleted),
            )

    def _saving(
        self, state: DetectorState, instant: datetime, *, is_page: bool = False
    ) -> Callable[[Transaction], None]:
        """Return what saves the cursor and enqueues alerts in the transaction of a pass.

        Pages of a full pass follow one another quickly, so they enqueue alerts every
        `TICK_SECONDS`: enqueuing reads all open findings.
        """

        def save(transaction: Transaction) -> None:
            [saved] = transaction.run(
                "write/findings/save_detector",
                graph=state.cursor.graph,
                version=state.version,
                revision=state.cursor.revision,
                changedAt=state.cursor.changed_at,
                fullPassAt=state.full_pass_at,
            )
            graph, passes = state.cursor.graph, saved["passes"]
            if self._quiet and self._quiet.includes(graph, passes, instant):
                self._quiet_next = self._quiet
                return
            if is_page and time.monotonic() - self._enqueued_at < TICK_SECONDS:
                self._quiet_next = None
                return
            until = self._enqueue(transaction, instant)
            self._enqueued_at = time.monotonic()
            self._quiet_next = Quiet(graph, passes, instant, until)

        return save

    def _open_by_clock(self) -> set[str]:
        """Return the nodes with an open finding that the clock opened: an event may end it."""
        rows = self._view.read("read/findings/open_subjects", rules=list(_DUE_RULES))
        return {row["subject"] for row in rows}

    def _is_complete(self, present: GraphState) -> bool:
        """Return True if the worker has folded what was in the spool when the graph was new."""
        state = self._state or read_state(self._view)
        if state.cursor.graph == present.graph or self._spool is None:
            self._rebuilt_at = None
            return True
        if self._rebuilt_at is None:
            self._rebuilt_at = self._spool.last()
            log.info("detector_waits_for_fold position=%d", self._rebuilt_at)
        checkpoint = read_checkpoint(self._view.database, self._spool.id)
        return checkpoint.position >= self._rebuilt_at

    def _rest(self) -> None:
        """Pause within a pass, if events wait to be folded."""
        if self._events_wait():
            self.stop.wait(self._rest_seconds())
            self._worked_since = time.monotonic()

    def _rest_seconds(self) -> float:
        """Return how long to rest after the work since the last rest."""
        worked = time.monotonic() - self._worked_since
        if not self._events_wait():
            return min(worked, _IDLE_REST_SECONDS_MAX)
        return min(worked * _REST_WHILE_BUSY, _REST_SECONDS_MAX)

    def _events_wait(self) -> bool:
        if self._spool is None:
            return False
        try:
            checkpoint = read_checkpoint(self._view.database, self._spool.id)
        except HeadwaterError:
            return False
        return self._spool.last() > checkpoint.position

    def _is_tick_due(self) -> bool:
        return time.monotonic() - self._ticked_at >= TICK_SECONDS

    def _reset(self) -> None:
        """Forget what was read but not saved: the next step begins at the saved cursor."""
        self._changes, self._state = ChangeReader(self._view), None
        self._quiet = self._quiet_next = None
        self._full_pass_due |= self._pages is not None
        self._pages = None


def read_state(view: GraphView) -> DetectorState:
    """Return what the graph says about the last pass."""
    rows = view.read("read/findings/detector")
    row: dict[str, Any] = rows[0]["properties"] if rows else {}
    cursor = Cursor("")
    if "graph" in row:
        cursor = Cursor(row["graph"], row["revision"], row["changedAt"])
    return DetectorState(cursor, row.get("version", ""), row.get("fullPassAt"), row.get("passedAt"))


def _version() -> str:
    """Return what a full pass depends on: the release and the catalogue of rules."""
    rules = files("headwater.health.findings").joinpath("rules.toml").read_bytes()
    return hashlib.sha256(version("headwater").encode() + rules).hexdigest()[:8]


VERSION = _version()
