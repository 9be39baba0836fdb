"""The query `conformance` on the real Neo4j."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.producer_stats import count_event, join
from headwater.ingest.producer_stats_writer import write_producer_stats
from headwater.schema.conformance_rules import RULES
from headwater.schema.events import parse, parse_instant
from tests.graphql.conftest import Ask

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

TIME = "2026-01-31T12:00:00Z"
RECEIVED = parse_instant(TIME) + 2_000_000
EVENT_BODY: dict[str, Any] = {
    "eventTime": TIME,
    "eventType": "complete",
    "producer": "https://example.com/etl",
    "schemaURL": "https://example.com/RunEvent",
    "run": {"runId": "0198c2f4-7a3b-7c11-9d5e-6f1a2b3c4d5e"},
    "job": {"namespace": "etl", "name": "load"},
}
QUERY = """query ($producer: String! = "") { conformance(producer: $producer) { producers {
  producer events firstReceivedAt lastReceivedAt skewSeconds { min median max } futureEvents
  findings { rule field severity count firstReceivedAt lastReceivedAt sequence example detail
  meaning hint }
} } }"""


def test_producers_and_the_findings_in_their_events(database: Database, data: Ask) -> None:
    body = json.dumps(EVENT_BODY).encode()
    once = count_event(RECEIVED, 7, body, parse(body, received=RECEIVED), future_seconds=60)
    with database.write() as transaction:
        write_producer_stats(transaction, join(once, once))
    received = "2026-01-31T12:00:02Z"
    rule = RULES["lower-case-event-type"]
    assert data(QUERY)["conformance"]["producers"] == [
        {
            "producer": "https://example.com/etl",
            "events": 2,
            "firstReceivedAt": received,
            "lastReceivedAt": received,
            "skewSeconds": {"min": 2.0, "median": 2.0, "max": 2.0},
            "futureEvents": 0,
            "findings": [
                {
                    "rule": "lower-case-event-type",
                    "field": "eventType",
                    "severity": "error",
                    "count": 2,
                    "firstReceivedAt": received,
                    "lastReceivedAt": received,
                    "sequence": 7,
                    "example": body.decode()[:300],
                    "detail": "complete",
                    "meaning": rule.meaning,
                    "hint": rule.hint,
                }
            ],
        }
    ]
    assert data(QUERY, producer="https://example.org")["conformance"] == {"producers": []}


def test_the_requested_number_has_a_bound(ask: Ask) -> None:
    [error] = ask("{ conformance(first: -1) { producers { events } } }")["errors"]
    assert "first" in error["message"]
