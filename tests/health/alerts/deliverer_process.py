"""A process that delivers until it is killed: URI USER PASSWORD RECEIVER-URL."""

from __future__ import annotations

import sys
import threading

from headwater.cypher.driver.database import Database
from headwater.health.alerts.deliverer import Deliverer
from headwater.health.alerts.receivers import Kind, Receiver
from headwater.health.alerts.visible import ReceiverViews
from headwater.lineage.view import GraphView

if __name__ == "__main__":
    uri, user, password, url = sys.argv[1:]
    database = Database(uri, user, password)
    hook = Receiver("hook", Kind.WEBHOOK, url)
    Deliverer(database, [hook], ReceiverViews(GraphView(database)), lease_seconds=0.2).start()
    threading.Event().wait()
