"""Delivers the messages of the outbox: each receiver has a thread, so none waits for another.

A delivery is leased before it is sent, and ended afterwards. If the process dies in between, the
lease runs out and the delivery is sent again with the same body and the same Idempotency-Key. So
each message arrives at least once, and a receiver that honours the key sees its effect once.

After a failure the receiver rests for a while that doubles, or as long as it asks for. Messages
about one alert arrive in their order. A message that failed for `DAY_SECONDS`, or that the receiver
refuses as malformed, becomes a dead letter with the reason. `headwater alerts retry` queues it
again.

A clock may be ahead for a while. A day is then not taken from the clock alone: the receiver must
have failed for so long too. A lease or a pause that ends later than any can counts as ended.
"""

from __future__ import annotations

import json
import logging
import os
import random
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from headwater.backoff import Backoff
from headwater.chunks import chunks
from headwater.cypher.driver.database import Database, Row
from headwater.errors import HeadwaterError
from headwater.health.alerts.alertmanager import RESEND_SECONDS
from headwater.health.alerts.bodies import body_of
from headwater.health.alerts.facts import NO_FACTS, AlertFacts
from headwater.health.alerts.models import Alert
from headwater.health.alerts.outbox import alert_of
from headwater.health.alerts.receivers import Kind, Receiver
from headwater.health.alerts.senders import (
    RETRY_AFTER_SECONDS_MAX,
    Attempt,
    idempotency_key,
    send,
)
from headwater.health.alerts.visible import ReceiverViews, visible_alert
from headwater.lineage.view import GraphView

LEASE_SECONDS = 120.0
DAY_SECONDS = 86_400.0
POLL_SECONDS = 1.0
# Messages leased at a time: they must be sent before the lease ends, however slow the receiver.
BATCH = 5
RETRY = Backoff(first_seconds=2.0, max_seconds=900.0)
# A pause is up to this share longer or shorter, so that many senders do not return at once.
JITTER = 0.2
_NEO4J_RETRY = Backoff(first_seconds=1.0, max_seconds=30.0)
# The longest pause, and the number of attempts in a day of such pauses.
_PAUSE_SECONDS_MAX = max(RETRY.max_seconds * (1 + JITTER), RETRY_AFTER_SECONDS_MAX)
ATTEMPTS_PER_DAY = int(DAY_SECONDS / _PAUSE_SECONDS_MAX)
# A pause or a lease of another process, whose clock differs, ends at most so many times later.
_DIFFERENCE_MAX = 2
_ALERTS_PER_REQUEST_MAX = 200
_BURY_SECONDS = 600.0
# Unique among the leases of all processes.
_LEASES = count(1)

ReadFacts = Callable[[GraphView, Alert], AlertFacts]

logger = logging.getLogger(__name__)


def no_facts(view: GraphView, alert: Alert) -> AlertFacts:
    """Return nothing from the graph about an alert."""
    del view, alert
    return NO_FACTS


class Deliverer:
    """Threads that send what the outbox holds, until stopped."""

    def __init__(
        self,
        database: Database,
        receivers: Sequence[Receiver],
        views: ReceiverViews,
        *,
        public_url: str = "",
        read_facts: ReadFacts = no_facts,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._workers = [
            ReceiverWorker(
                database,
                receiver,
                views,
                public_url=public_url,
                read_facts=read_facts,
                lease_seconds=lease_seconds,
            )
            for receiver in receivers
        ]
        self._database = database
        self._names = [receiver.name for receiver in receivers]
        self._threads: list[threading.Thread] = []
        self._stopped = threading.Event()

    def start(self) -> None:
        """Start a thread for each receiver, and one that gives up what nobody receives."""
        targets = [(worker.receiver.name, worker.run) for worker in self._workers]
        targets.append(("unknown", self._bury))
        for name, target in targets:
            thread = threading.Thread(
                target=target, args=[self._stopped], name=f"alerts-{name}", daemon=True
            )
            thread.start()
            self._threads.append(thread)

    def wake(self) -> None:
        """Let every thread look for messages now."""
        for worker in self._workers:
            worker.wake()

    def stop(self, timeout_seconds: float = 5.0) -> None:
        """Stop, and wait a while for messages that are being sent."""
        self._stopped.set()
        self.wake()
        deadline = time.monotonic() + timeout_seconds
        for thread in self._threads:
            thread.join(max(deadline - time.monotonic(), 0.0))

    def _bury(self, stopped: threading.Event) -> None:
        while not stopped.is_set():
            instant = datetime.now(UTC)
            try:
                with self._database.write() as transaction:
                    transaction.run(
                        "write/alerts/bury_deliveries",
                        receivers=self._names,
                        attempts=ATTEMPTS_PER_DAY,
                        before=instant - timedelta(seconds=DAY_SECONDS),
                        instant=instant,
                    )
            except HeadwaterError as error:
                logger.warning("alerts_unavailable error=%s", error.message)
            stopped.wait(_BURY_SECONDS)


class ReceiverWorker:
    """Sends the messages to one receiver."""

    def __init__(
        self,
        database: Database,
        receiver: Receiver,
        views: ReceiverViews,
        *,
        public_url: str = "",
        read_facts: ReadFacts = no_facts,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self.receiver = receiver
        self._database = database
        self._views = views
        self._public_url = public_url
        self._read_facts = read_facts
        self._lease_seconds = lease_seconds
        self._woken = threading.Event()
        self._failures = 0
        # The monotonic time of the first of these failures.
        self._failing_since = 0.0
        self._resend_at = 0.0

    def wake(self) -> None:
        """Look for messages now."""
        self._woken.set()

    def run(self, stopped: threading.Event) -> None:
        """Send messages until stopped. It survives every failure of Neo4j and of the receiver."""
        failures = 0
        while not stopped.is_set():
            try:
                pause = self.pass_once(stopped)
                failures = 0
            except HeadwaterError as error:
                logger.warning(
                    "alerts_unavailable receiver=%s error=%s", self.receiver.name, error.message
                )
                pause = _NEO4J_RETRY.pause_seconds(failures)
                failures += 1
            except Exception:
                logger.exception("alerts_failed receiver=%s", self.receiver.name)
                pause = _NEO4J_RETRY.pause_seconds(failures)
                failures += 1
            if pause > 0 and not stopped.is_set():
                # A receiver that rests is not woken by further messages.
                if self._failures or failures:
                    stopped.wait(pause)
                else:
                    self._woken.wait(pause)
                self._woken.clear()

    def pass_once(self, stopped: threading.Event | None = None) -> float:
        """Send what is due now, and return how many seconds to wait before the next look."""
        if self.receiver.kind is Kind.ALERTMANAGER and time.monotonic() >= self._resend_at:
            self._resend()
        while stopped is None or not stopped.is_set():
            rows, lease = self._lease()
            for row in rows:
                pause = self._deliver(row, lease)
                if pause > 0:
                    return pause
            if not rows:
                break
        return POLL_SECONDS

    def _lease(self) -> tuple[list[Row], str]:
        instant = datetime.now(UTC)
        last_lease_end = instant + timedelta(seconds=_DIFFERENCE_MAX * self._lease_seconds)
        last_pause_end = instant + timedelta(seconds=_DIFFERENCE_MAX * _PAUSE_SECONDS_MAX)
        lease = f"{socket.gethostname()}-{os.getpid()}-{next(_LEASES)}"
        with self._database.write() as transaction:
            locked = transaction.run(
                "write/alerts/lock_deliveries",
                receiver=self.receiver.name,
                instant=instant,
                lastPauseEnd=last_pause_end,
                lastLeaseEnd=last_lease_end,
                lease=lease,
                limit=BATCH,
            )
            if not locked:
                return [], lease
            rows = transaction.run(
                "write/alerts/lease_deliveries",
                urns=[row["urn"] for row in locked],
                instant=instant,
                lastLeaseEnd=last_lease_end,
                until=instant + timedelta(seconds=self._lease_seconds),
                lease=lease,
            )
        return rows, lease

    def _deliver(self, row: Row, lease: str) -> float:
        """Send one message, record how that ended, and return for how long the receiver rests."""
        body = row["body"] or self._save_body(row)
        if body is None:
            self._end(row["urn"], lease, "withheld")
            return 0.0
        attempt = send(self.receiver, body, idempotency_key(row["urn"]))
        if attempt.is_delivered:
            self._failures = 0
            self._end(row["urn"], lease, "delivered")
            return 0.0
        if not self._failures:
            self._failing_since = time.monotonic()
        is_dead = attempt.is_final or self._has_failed_for_a_day(row)
        pause = 0.0 if attempt.is_final else self._pause_seconds(attempt)
        self._failures += not attempt.is_final
        state = "dead" if is_dead else "waiting"
        logger.warning(
            "alert_not_delivered receiver=%s state=%s attempt=%d error=%s",
            self.receiver.name,
            state,
            row["attempts"],
            attempt.error,
        )
        self._end(row["urn"], lease, state, attempt.error, pause)
        return pause

    def _has_failed_for_a_day(self, row: Row) -> bool:
        """Return True if a message is a day old, and its receiver failed for a day.

        The receiver did so in this process, or for as many attempts as a day has at least.
        """
        age: timedelta = datetime.now(UTC) - row["queuedAt"]
        failed_seconds = time.monotonic() - self._failing_since
        has_failed = failed_seconds >= DAY_SECONDS or row["attempts"] >= ATTEMPTS_PER_DAY
        return has_failed and age >= timedelta(seconds=DAY_SECONDS)

    def _pause_seconds(self, attempt: Attempt) -> float:
        jitter = 1.0 + random.uniform(-JITTER, JITTER)
        pause = RETRY.pause_seconds(self._failures) * jitter
        return max(pause, attempt.retry_after_seconds)

    def _save_body(self, row: Row) -> str | None:
        """Return the body of a message, saved first; None if nothing of it is visible."""
        alert = alert_of(row["payload"])
        view = self._views.view_of(self.receiver)
        shown = visible_alert(view, alert)
        if shown is None:
            return None
        body = body_of(
            self.receiver.kind,
            shown,
            self._read_facts(view, shown),
            public_url=self._public_url,
            instant=datetime.now(UTC),
            before=self._body_before(row),
        )
        with self._database.write() as transaction:
            [saved] = transaction.run("write/alerts/save_body", urn=row["urn"], body=body)
        return str(saved["body"])

    def _body_before(self, row: Row) -> str | None:
        rows = self._database.read(
            "read/alerts/sent_body",
            receiver=self.receiver.name,
            dedupKey=row["dedupKey"],
            number=row["number"],
        )
        return rows[0]["body"] if rows else None

    def _end(
        self, urn: str, lease: str, state: str, error: str = "", pause_seconds: float = 0.0
    ) -> None:
        instant = datetime.now(UTC)
        with self._database.write() as transaction:
            transaction.run(
                "write/alerts/end_attempt",
                urn=urn,
                lease=lease,
                state=state,
                error=error,
                instant=instant,
                nextAt=instant + timedelta(seconds=pause_seconds),
            )

    def _resend(self) -> None:
        """Repeat the alerts that fire at an Alertmanager, before they end there."""
        rows = self._database.read("read/alerts/firing_bodies", receiver=self.receiver.name)
        posted: list[Any] = []
        for row in rows:
            posted += (one for one in json.loads(row["body"]) if "endsAt" not in one)
        for some in chunks(posted, _ALERTS_PER_REQUEST_MAX):
            attempt = send(self.receiver, json.dumps(some), idempotency_key(uuid.uuid4().hex))
            if not attempt.is_delivered:
                logger.warning(
                    "alerts_not_repeated receiver=%s error=%s", self.receiver.name, attempt.error
                )
                self._resend_at = time.monotonic() + RETRY.first_seconds
                return
        self._resend_at = time.monotonic() + RESEND_SECONDS
