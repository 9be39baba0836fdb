"""The size of a page of Marquez' list of run events."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from headwater.rest.marquez import events
from headwater.rest.operations import ArgumentError, OperationRequest
from tests.rest.conftest import Log
from tests.run_builders import at


def run_event(number: int) -> dict[str, Any]:
    return {
        "eventTime": at(number),
        "run": {"runId": str(number)},
        "job": {"namespace": "etl", "name": "x" * 1_000},
    }


def test_a_page_of_large_events_is_refused_with_the_number_that_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "_PAGE_BYTES_MAX", 2_500)
    log = Log()
    log.events = [run_event(number) for number in range(5)]
    # Nothing listens on port 1: the list needs no Neo4j.
    database = Database("bolt://127.0.0.1:1", "neo4j", "password")
    view = GraphView(database)

    def page(**params: Any) -> list[dict[str, Any]]:
        asked = events.EventsParams(**params)
        request = OperationRequest(view, asked, None, lambda _: None, "anonymous")
        return events.events_of(log)(request).events

    assert len(page(limit=2)) == 2
    assert len(page(limit=2, offset=3)) == 2
    with pytest.raises(ArgumentError, match="3 events of this page") as refused:
        page(limit=3)
    assert refused.value.hint == "Ask for 2 at most."
    monkeypatch.setattr(events, "_PAGE_BYTES_MAX", 10)
    assert len(page(limit=1)) == 1
    database.close()
