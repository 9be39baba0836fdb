"""The size of a page of Marquez' list of run events, and events with values of any size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from headwater.rest.marquez import events
from headwater.rest.operations import ArgumentError, OperationRequest
from headwater.schema.events import parse
from headwater.schema.visibility import Visibility
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


@pytest.mark.parametrize("text", ["2026-01-01T01:00:00 01:00", "2026-01-01T01:00:00+01:00"])
def test_a_plus_sign_may_arrive_as_a_space(text: str) -> None:
    assert events.parse_time(text, "after") == events.parse_time("2026-01-01", "after")


def test_a_long_text_is_no_time() -> None:
    """Each T was the end of another attempt."""
    with pytest.raises(ArgumentError):
        events.parse_time("T" * 100_000, "after")


class Bodies:
    """A log of bodies."""

    def __init__(self, bodies: list[bytes]) -> None:
        self.stored = bodies

    def count(self) -> int:
        return len(self.stored)

    def bodies(self, *, newest_first: bool) -> Iterator[tuple[int, bytes]]:
        numbers = range(len(self.stored))
        yield from ((one, self.stored[one]) for one in numbers[:: -1 if newest_first else 1])

    def body(self, number: int) -> bytes:
        return self.stored[number]


@pytest.mark.parametrize("visibility", [Visibility(), Visibility(("etl",))])
def test_an_event_with_a_value_that_python_cannot_hold_is_listed(visibility: Visibility) -> None:
    values = [b"1e999", b"9" * 5_000, b"-" + b"9" * 400 + b".5", b'"\\ud800"', b'"\xff"']
    written = [*values[:3], '"\ufffd"'.encode(), '"\ufffd"'.encode()]
    template = msgspec.json.encode(
        run_event(1) | {"run": {"runId": "1", "facets": {"x": {"v": "VALUE"}}}}
    )
    bodies = [template.replace(b'"VALUE"', value) for value in values]
    for number, body in enumerate(bodies):
        assert parse(body, received=number).run is not None
    database = Database("bolt://127.0.0.1:1", "neo4j", "password")
    view = GraphView(database, visibility=visibility)
    for run_id in ("", "1"):
        params = events.EventsParams(sort_direction="asc", run_id=run_id)
        request = OperationRequest(view, params, None, lambda _: None, "anonymous")
        listed = events.events_of(Bodies(bodies))(request)
        assert listed.total_count == len(values)
        for event, value in zip(listed.events, written, strict=True):
            assert b'"v":' + value + b"}" in msgspec.json.encode(event)
    database.close()
