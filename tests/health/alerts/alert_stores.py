"""Findings and deliveries in a real graph, for tests of the outbox and of deliveries."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from headwater.cypher.driver.database import Database
from headwater.health.alerts.outbox import enqueue
from headwater.health.alerts.receivers import Receiver
from headwater.health.findings.models import Finding
from headwater.health.findings.store import finding_row


def store(database: Database, *findings: Finding) -> None:
    """Make these the findings of the graph."""
    with database._transaction("WRITE", 60.0) as transaction:
        transaction.run("MATCH (f:Finding) DELETE f").consume()
    with database.write() as transaction:
        transaction.run(
            "write/findings/findings", rows=[finding_row(one, ["etl"]) for one in findings]
        )


def enqueue_at(database: Database, instant: datetime, *receivers: Receiver) -> int:
    with database.write() as transaction:
        return enqueue(transaction, instant, receivers).count


def enqueue_now(database: Database, *receivers: Receiver) -> int:
    return enqueue_at(database, datetime.now(UTC), *receivers)


def deliveries(database: Database) -> list[dict[str, Any]]:
    """Return the properties of all deliveries, by time and urn."""
    return [
        dict(row["d"])
        for row in database.ask(
            "MATCH (d:Delivery) RETURN properties(d) AS d ORDER BY d.createdAt, d.urn", {}
        )
    ]


def change(database: Database, **properties: Any) -> None:
    """Set properties of all deliveries."""
    with database._transaction("WRITE", 60.0) as transaction:
        transaction.run("MATCH (d:Delivery) SET d += $properties", properties=properties).consume()
