"""Headwater's own facets: built facets are read back, and built events are accepted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.errors import EventError
from headwater.schema import headwater_facets as native
from headwater.schema.events import Event, parse, parse_instant, require_event_time
from headwater.schema.facets.headwater import AnswerFacet, Citation, read_answer, read_citations

NOON = "2026-01-01T12:00:00Z"
ONE = "2026-01-01T13:00:00Z"


def through_the_door(event: dict[str, Any]) -> Event:
    return parse(json.dumps(event).encode(), received=0)


@pytest.mark.parametrize(
    ("status", "types"),
    [
        ("success", ["START", "COMPLETE"]),
        ("failed", ["START", "FAIL"]),
        ("Failed", ["START", "FAIL"]),
        ("aborted", ["START", "ABORT"]),
        ("running", ["START"]),
        ("started", ["START"]),
        ("COMPLETE", ["START", "COMPLETE"]),
        ("fail", ["START", "FAIL"]),
    ],
)
def test_the_words_of_the_seed_are_taken(status: str, types: list[str]) -> None:
    events = native.run_events(
        "r", pipeline_name="p", status=status, started_at=NOON, finished_at=ONE
    )
    assert [event["eventType"] for event in events] == types
    assert [through_the_door(event).instant for event in events] == [
        parse_instant(NOON),
        parse_instant(ONE),
    ][: len(types)]


def test_an_unknown_status_is_refused() -> None:
    with pytest.raises(KeyError, match="paused"):
        native.run_events("r", pipeline_name="p", status="paused")


def test_facets_of_a_run() -> None:
    start, end = native.run_events(
        "r",
        pipeline_name="p",
        status="failed",
        started_at=NOON,
        version="v1",
        triggered_by="cron",
        error="boom",
        inputs=[{"namespace": "db", "name": "a"}],
        outputs=[{"namespace": "db", "name": "b"}],
    )
    assert start["run"]["facets"]["headwater_run"]["version"] == "v1"
    assert "errorMessage" not in start["run"]["facets"]
    assert end["run"]["facets"]["errorMessage"]["message"] == "boom"
    assert end["run"]["facets"]["headwater_run"]["triggeredBy"] == "cron"
    assert [dataset.name for dataset in through_the_door(end).inputs] == ["a"]
    assert [dataset.name for dataset in through_the_door(start).outputs] == ["b"]
    assert end["eventTime"] == NOON, "an end without a time is put at the start"


def test_an_answer_reads_back() -> None:
    cites = [
        {"namespace": "db", "name": "t"},
        {"namespace": "db", "name": "t", "runId": "r"},
        {"answerId": "other"},
    ]
    event = native.answer_event(
        "a", cites=cites, type="report", content="42", generated_at=NOON, generated_by="me"
    )
    text = json.dumps(event["dataset"]["facets"]["headwater_answer"])
    answer_facet = read_answer(text)
    assert (
        answer_facet.type,
        answer_facet.content,
        answer_facet.generated_at,
        answer_facet.generated_by,
    ) == (
        "report",
        "42",
        NOON,
        "me",
    )
    assert read_citations(text) == [
        Citation("db", "t"),
        Citation("db", "t", run_id="r"),
        Citation(answer_id="other"),
    ]
    parsed = through_the_door(event)
    assert parsed.dataset is not None
    assert (parsed.dataset.namespace, parsed.dataset.name, parsed.instant) == (
        "answers",
        "a",
        parse_instant(NOON),
    )


@pytest.mark.parametrize(
    "cite",
    [
        7,
        None,
        [],
        {},
        {"namespace": "db"},
        {"name": "t"},
        {"namespace": " ", "name": "t"},
        {"namespace": "db", "name": 5},
        {"answerId": " "},
        {"answerId": 5},
    ],
)
def test_malformed_citations_are_skipped_and_the_others_remain(cite: object) -> None:
    text = json.dumps(
        {"cites": [cite, {"namespace": "db", "name": "t"}, cite, {"namespace": "db", "name": "t"}]}
    )
    assert read_citations(text) == [Citation("db", "t")]


def test_a_blank_answer_id_beside_a_dataset_is_as_good_as_none() -> None:
    text = json.dumps(
        {"cites": [{"answerId": " ", "namespace": "db", "name": "t", "runId": "", "field": " "}]}
    )
    assert read_citations(text) == [Citation("db", "t")]


@pytest.mark.parametrize("text", ["[]", "5", '{"cites": 5}', '{"content": 5, "cites": null}'])
def test_an_answer_of_wrong_types_is_empty(text: str) -> None:
    assert read_answer(text) == AnswerFacet()
    assert read_citations(text) == []


def test_the_readable_part_of_an_answer_remains() -> None:
    assert read_answer('{"content": 5, "type": "report"}') == AnswerFacet(type="report")


def test_sources_and_artifacts() -> None:
    source = native.source_event("orders.csv", origin="CRM", row_count=3, captured_at=NOON)
    assert source["dataset"]["facets"]["headwater_source"]["rowCount"] == 3
    assert "checksum" not in source["dataset"]["facets"]["headwater_source"]
    artifact = native.artifact_event("clean", run_id="r", created_at=ONE)
    assert artifact["dataset"]["facets"]["headwater_artifact"]["runId"] == "r"
    assert [through_the_door(event).instant for event in (source, artifact)] == [
        parse_instant(NOON),
        parse_instant(ONE),
    ]


def test_a_source_captured_on_a_day_has_an_event_time() -> None:
    event = native.source_event("t", captured_at="2026-01-01")
    assert event["eventTime"] == "2026-01-01T00:00:00Z"
    assert event["dataset"]["facets"]["headwater_source"]["capturedAt"] == "2026-01-01"
    require_event_time(through_the_door(event))


def test_a_run_that_ends_on_a_day_is_refused_at_the_door() -> None:
    _, ended = native.run_events(
        "r", pipeline_name="p", status="failed", started_at=NOON, finished_at="2026-01-02"
    )
    with pytest.raises(EventError, match="time of day"):
        require_event_time(through_the_door(ended))
