"""Alerts as a part of the detector's process: the outbox, and the threads that empty it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial

from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database, Transaction
from headwater.health.alerts import outbox
from headwater.health.alerts.deliverer import Deliverer
from headwater.health.alerts.facts_reader import read_facts
from headwater.health.alerts.receivers import Receiver, load_receivers
from headwater.health.alerts.visible import ReceiverViews
from headwater.lineage.view import GraphView
from headwater.settings import Settings


class AlertService:
    """Writes alerts in the transactions of the detector."""

    def __init__(self, receivers: tuple[Receiver, ...]) -> None:
        self._receivers = receivers

    def enqueue(self, transaction: Transaction, instant: datetime) -> datetime:
        """Write the deliveries that are due, in the transaction that writes findings.

        Returns the instant before which none is due if the findings stay as they are.
        """
        return outbox.enqueue(transaction, instant, self._receivers).quiet_until


@contextmanager
def alert_service(
    database: Database, settings: Settings, *, delivers: bool
) -> Iterator[AlertService]:
    """Send alerts to the receivers of the settings until the end of the block.

    With `delivers` false, deliveries are written and another process sends them. Raises
    SettingsError for a malformed receiver.
    """
    receivers = load_receivers(settings)
    access = AccessStore(settings.access_path)
    views = ReceiverViews(GraphView(database), access)
    deliverer = Deliverer(
        database,
        receivers if delivers else (),
        views,
        public_url=settings.public_url,
        read_facts=partial(read_facts, trace_url=settings.trace_url),
    )
    if receivers and delivers:
        deliverer.start()
    try:
        yield AlertService(receivers)
    finally:
        deliverer.stop()
        access.close()
