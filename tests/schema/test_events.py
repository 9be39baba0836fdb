"""The validation of events: every refusal names its field, every leniency is accepted."""

from __future__ import annotations

import codecs
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import EventError
from headwater.schema.events import (
    RANKS,
    Event,
    parse,
    parse_instant,
    require_event_time,
    to_datetime,
)

CAPTURE = Path(__file__).parent.parent / "captures" / "spark_flights.jsonl"
RECEIVED = 1_700_000_000_000_000
RUN = {"runId": "r"}
JOB = {"namespace": "etl", "name": "load"}
DATASET = {"namespace": "db", "name": "t"}


def read(event: object) -> Event:
    return parse(json.dumps(event).encode(), received=RECEIVED)


def run_event(**fields: Any) -> dict[str, Any]:
    return {
        "eventTime": "2026-01-01T00:00:00Z",
        "eventType": "START",
        "run": RUN,
        "job": JOB,
        **fields,
    }


REFUSED: list[tuple[str, object, str]] = [
    ("no object", [], ""),
    ("null", None, ""),
    ("a text", "run", ""),
    ("nothing in it", {}, "run"),
    ("a run without a job", {"run": RUN}, "job"),
    ("a run that is null, and no job", {"run": None}, "run"),
    ("a run that is a list", run_event(run=[]), "run"),
    ("a run that is a text", run_event(run="r"), "run"),
    ("no runId", run_event(run={}), "run.runId"),
    ("runId null", run_event(run={"runId": None}), "run.runId"),
    ("runId a number", run_event(run={"runId": 7}), "run.runId"),
    ("runId empty", run_event(run={"runId": ""}), "run.runId"),
    ("runId blank", run_event(run={"runId": " \t"}), "run.runId"),
    ("run facets a list", run_event(run={"runId": "r", "facets": []}), "run.facets"),
    ("job a text", run_event(job="load"), "job"),
    ("no job name", run_event(job={"namespace": "etl"}), "job.name"),
    ("no job namespace", run_event(job={"name": "load"}), "job.namespace"),
    ("job name blank", run_event(job={"namespace": "etl", "name": " "}), "job.name"),
    ("job namespace empty", run_event(job={"namespace": "", "name": "load"}), "job.namespace"),
    ("job namespace a number", run_event(job={"namespace": 1, "name": "load"}), "job.namespace"),
    ("job facets a text", run_event(job={**JOB, "facets": "sql"}), "job.facets"),
    ("inputs an object", run_event(inputs={}), "inputs"),
    ("inputs a text", run_event(inputs="t"), "inputs"),
    ("an input that is null", run_event(inputs=[DATASET, None]), "inputs[1]"),
    ("an input without a name", run_event(inputs=[{"namespace": "db"}]), "inputs[0].name"),
    (
        "an input with an empty name",
        run_event(inputs=[DATASET, {**DATASET, "name": ""}]),
        "inputs[1].name",
    ),
    (
        "an output with a blank namespace",
        run_event(outputs=[{"namespace": " ", "name": "t"}]),
        "outputs[0].namespace",
    ),
    (
        "an output whose facets are a list",
        run_event(outputs=[{**DATASET, "facets": []}]),
        "outputs[0].facets",
    ),
    (
        "output facets a text",
        run_event(outputs=[{**DATASET, "outputFacets": ""}]),
        "outputs[0].outputFacets",
    ),
    (
        "input facets a number",
        run_event(inputs=[{**DATASET, "inputFacets": 1}]),
        "inputs[0].inputFacets",
    ),
    ("an event type nobody knows", run_event(eventType="DONE"), "eventType"),
    ("an event type that is a number", run_event(eventType=1), "eventType"),
    ("a day that is none", run_event(eventTime="2026-02-30T00:00:00Z"), "eventTime"),
    ("an hour that is none", run_event(eventTime="2026-01-01T25:00:00Z"), "eventTime"),
    ("a time in words", run_event(eventTime="yesterday"), "eventTime"),
    ("a time as a number", run_event(eventTime=1767225600), "eventTime"),
    ("a time before the year 1", run_event(eventTime="0001-01-01T00:00:00+01:00"), "eventTime"),
    ("a time after the year 9999", run_event(eventTime="9999-12-31T23:59:59-01:00"), "eventTime"),
    ("an impossible zone", run_event(eventTime="2026-01-01T00:00:00+25:00"), "eventTime"),
    ("a dataset event without a name", {"dataset": {"namespace": "db"}}, "dataset.name"),
    (
        "a dataset event with a blank name",
        {"dataset": {"namespace": "db", "name": " "}},
        "dataset.name",
    ),
    ("a dataset event with a job", {"dataset": DATASET, "job": JOB}, "dataset"),
    ("a dataset event with a run", {"dataset": DATASET, "run": RUN}, "job"),
    (
        "a run event with a dataset without a name",
        run_event(dataset={"namespace": "db"}),
        "dataset.name",
    ),
    ("a job event with a blank name", {"job": {"namespace": "etl", "name": ""}}, "job.name"),
]


@pytest.mark.parametrize(
    ("event", "field"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_a_refusal_names_its_field(event: object, field: str) -> None:
    with pytest.raises(EventError) as refusal:
        read(event)
    assert (refusal.value.field, refusal.value.status) == (field, 422)
    assert refusal.value.message


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"{",
        b'{"run":',
        b"not json",
        b'{"a": NaN}',
        b"{'run': 1}",
        b'{"job":{"namespace":"a","name":"b"}} {}',
        b'{"job":{"namespace":"\xff","name":"b"}}',
        '{"job":{"namespace":"a","name":"b"}}'.encode("utf-16"),
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    ],
)
def test_malformed_json_is_refused_with_400(body: bytes) -> None:
    with pytest.raises(EventError) as refusal:
        parse(body, received=RECEIVED)
    assert refusal.value.status == 400


LENIENT: list[tuple[str, dict[str, Any]]] = [
    (
        "lists and facets null",
        run_event(inputs=None, outputs=None, run={"runId": "r", "facets": None}),
    ),
    (
        "facets of datasets null",
        run_event(inputs=[{**DATASET, "facets": None, "inputFacets": None}]),
    ),
    ("no facets at all", run_event(inputs=[DATASET], outputs=[DATASET])),
    ("type in lower case", run_event(eventType="start")),
    ("type with spaces", run_event(eventType=" Start ")),
    ("no type", {"run": RUN, "job": JOB}),
    ("a run id that is no UUID", run_event(run={"runId": "scheduled__2026-01-01"})),
    ("unknown fields", run_event(flavour="sour", run={"runId": "r", "more": [1]})),
    (
        "unknown facets",
        run_event(run={"runId": "r", "facets": {"spark.logicalPlan": {"plan": []}, "x": 1}}),
    ),
    (
        "a facet that breaks its schema",
        run_event(inputs=[{**DATASET, "facets": {"dataSource": {"uri": "file"}}}]),
    ),
    ("a facet that is null", run_event(inputs=[{**DATASET, "facets": {"schema": None}}])),
    ("no producer, no schemaURL", run_event()),
    ("a producer that is no text", run_event(producer={"name": "x"})),
    ("a NUL in a name", run_event(job={"namespace": "a\x00", "name": "b"})),
    ("a job event", {"job": JOB, "eventTime": "2026-01-01T00:00:00Z"}),
    ("a dataset event", {"dataset": DATASET, "eventTime": "2026-01-01T00:00:00Z"}),
    ("a dataset in a run event", run_event(dataset=DATASET)),
]


@pytest.mark.parametrize("event", [case[1] for case in LENIENT], ids=[case[0] for case in LENIENT])
def test_insignificant_differences_are_accepted(event: dict[str, Any]) -> None:
    read(event)


@pytest.mark.parametrize(
    "text",
    [
        "2025-12-31T24:00:01Z",
        "2025-12-31T24:01:00Z",
        "2025-12-31T12:59:60Z",
        "2025-12-31T23:59:61Z",
        "2025-12-31T23:59:60+05:30",
        "9999-12-31T24:00:00Z",
        "9999-12-31T23:59:60Z",
        "2025-366T00:00:00Z",
        "0000-12-31T00:00:00Z",
        "10000-01-01T00:00:00Z",
    ],
)
def test_a_text_that_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(EventError, match="is not a time"):
        parse_instant(text)


@pytest.mark.parametrize(
    "sent",
    ["2026-01-01", " 2026-01-01 ", "20260101", "2026-W01", "2026-W01-4", "2026-01-01x00:00Z"],
)
def test_a_date_is_no_event_time(sent: str) -> None:
    """A stored event keeps its date, read as midnight; a further one is refused."""
    event = read(run_event(eventTime=sent))
    with pytest.raises(EventError, match="not a date with a time of day") as refusal:
        require_event_time(event, allow_missing=True)
    assert (refusal.value.field, refusal.value.status) == ("eventTime", 422)
    assert "2026-01-31T12:00:00Z" in refusal.value.hint


def test_a_missing_event_time_is_refused_unless_it_is_allowed() -> None:
    for missing in (None, ""):
        event = read(run_event(eventTime=missing))
        with pytest.raises(EventError, match="eventTime is missing") as refusal:
            require_event_time(event)
        assert refusal.value.field == "eventTime"
        assert "HEADWATER_ALLOW_MISSING_EVENT_TIME" in refusal.value.hint
        require_event_time(event, allow_missing=True)


def test_a_time_of_day_is_enough() -> None:
    for sent in ("2026-01-01T00", "2026-01-01 00:00", "2026-01-01t00:00:00z", "20260101T000000Z"):
        require_event_time(read(run_event(eventTime=sent)))


def test_a_missing_time_is_when_it_was_received() -> None:
    event = run_event()
    for missing in (None, ""):
        assert read({**event, "eventTime": missing}).instant == RECEIVED
    del event["eventTime"]
    assert read(event).instant == RECEIVED


def test_a_byte_order_mark_is_not_part_of_the_event() -> None:
    body = json.dumps(run_event()).encode()
    assert parse(codecs.BOM_UTF8 + body, received=0) == parse(body, received=0)


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        (r"a\ud800", "a\ufffd"),
        (r"\udcffa", "\ufffda"),
        (r"\uD83D", "\ufffd"),
        (r"\ude00\ud83d", "\ufffd\ufffd"),
        (r"\ud83d\ude00\ud83d", "\U0001f600\ufffd"),
        (r"\\ud800\ud800", "\\ud800\ufffd"),
        (r"\ud83d\u0041", "\ufffdA"),
    ],
)
def test_half_a_character_does_not_refuse_the_event(written: str, read_as: str) -> None:
    body = f'{{"job":{{"namespace":"etl","name":"{written}"}}}}'.encode()
    job = parse(body, received=0).job
    assert job is not None
    assert job.name == read_as


MIDNIGHT = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("2026-01-01T00:00:00Z", 0),
        ("2026-01-01T00:00:00+00:00", 0),
        ("2026-01-01T00:00:00", 0),
        (" 2026-01-01T00:00:00Z ", 0),
        ("2026-01-01", 0),
        ("20260101T000000Z", 0),
        ("2026-W01-4T00:00:00Z", 0),
        ("2025-12-31T24:00:00Z", 0),
        ("2025-12-31T24:00", 0),
        ("2025-12-31 24:00:00.0Z", 0),
        ("2025-12-31T23:59:60Z", 0),
        ("2025-12-31T23:59:60.5Z", 500_000),
        ("2026-01-01T05:29:60+05:30", 0),
        ("2026-01-01T00:00:00,5Z", 500_000),
        ("2026-01-01T00:00Z", 0),
        ("2026-01-01T01:00:00+01:00", 0),
        ("2025-12-31T19:00:00-0500", 0),
        ("2026-01-01T00:00:36.23Z", 36_230_000),
        ("2026-01-01T00:00:36.231Z", 36_231_000),
        ("2026-01-01T00:00:00.123456789Z", 123_456),
    ],
)
def test_times_are_instants(text: str, microseconds: int) -> None:
    assert parse_instant(text) == MIDNIGHT + microseconds


def test_a_dropped_zero_does_not_change_the_order() -> None:
    """As text "36.23Z" comes after "36.231Z"; Spark drops trailing zeros."""
    assert parse_instant("2026-01-01T00:00:36.23Z") < parse_instant("2026-01-01T00:00:36.231Z")


@given(
    st.datetimes(
        min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.timezones()
    )
)
def test_an_instant_comes_back_in_utc(moment: datetime) -> None:
    instant = parse_instant(moment.isoformat())
    assert to_datetime(instant).astimezone(UTC) == datetime.fromisoformat(
        moment.isoformat()
    ).astimezone(UTC)


@given(st.text(max_size=40))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    try:
        to_datetime(parse_instant(text))
    except EventError as error:
        refusal = error
        assert refusal.field == "eventTime"


@given(st.binary(max_size=200))
def test_any_bytes_are_an_event_or_refused(body: bytes) -> None:
    with pytest.raises(EventError):
        parse(body, received=0)


def test_ranks_order_the_states_of_one_instant() -> None:
    assert RANKS["START"] < RANKS["RUNNING"] == RANKS["OTHER"] == RANKS[""] < RANKS["COMPLETE"]
    assert RANKS["COMPLETE"] == RANKS["FAIL"] == RANKS["ABORT"]


def test_every_real_event_is_let_through() -> None:
    events = [parse(line, received=0) for line in CAPTURE.read_bytes().splitlines()]
    assert len(events) == 66
    assert {event.state for event in events} == {"START", "RUNNING", "COMPLETE", "FAIL"}


@pytest.mark.parametrize(
    "event",
    [
        {"eventType": "START", "job": {"namespace": "a", "name": "b"}},
        {"eventType": "COMPLETE", "run": None, "job": {"namespace": "a", "name": "b"}},
        {
            "schemaURL": "https://x/OpenLineage.json#/$defs/RunEvent",
            "job": {"namespace": "a", "name": "b"},
        },
    ],
)
def test_a_run_event_without_its_run_is_no_job_event(event: dict[str, Any]) -> None:
    with pytest.raises(EventError) as refused:
        parse(json.dumps({"eventTime": "2026-01-01T00:00:00Z", **event}).encode(), received=0)
    assert (refused.value.status, refused.value.field) == (422, "run")


def test_times_in_every_lawful_dress() -> None:
    noon = parse_instant("2026-01-01T12:00:00Z")
    for text in (
        "2026-01-01t12:00:00z",
        "2026-01-01T12:00:00Z[UTC]",
        "2026-01-01T13:00:00+01:00[Europe/Paris]",
    ):
        assert parse_instant(text) == noon
