"""Producer statistics add up in any order, keep their examples, and count each receipt once."""

from __future__ import annotations

import json
from contextlib import closing
from functools import reduce
from statistics import median as true_median
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.cypher.driver.database import Database
from headwater.errors import EventError, QueryError
from headwater.ingest.producer_stats import (
    EXAMPLE_CHARACTERS_MAX,
    ClockSkews,
    ProducerStats,
    absorb,
    count_event,
    join,
    median,
    snippet,
)
from headwater.lineage.questions import conformance
from headwater.lineage.view import GraphView
from headwater.schema.events import Event, parse, parse_instant
from headwater.schema.urns import finding_urn, producer_urn

UUID = "0198c2f4-7a3b-7c11-9d5e-6f1a2b3c4d5e"
TIME = "2026-01-31T12:00:00Z"
RECEIVED = parse_instant(TIME)
SECOND = 1_000_000
SENDER = "https://example.com/etl"
# A busy machine must not fail these examples.
PATIENT = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)


def event(**fields: Any) -> dict[str, Any]:
    job = {"namespace": "etl", "name": "load"}
    run = {"runId": UUID}
    content = {
        "eventTime": TIME,
        "eventType": "START",
        "producer": SENDER,
        "schemaURL": "https://a",
        "run": run,
    }
    return {**content, "job": job, **fields}


def tallied(
    content: dict[str, Any], received: int = RECEIVED + SECOND, seq: int = 1
) -> ProducerStats:
    body = json.dumps(content).encode()
    parsed: Event | None
    reason = ""
    try:
        parsed = parse(body, received=received)
    except EventError as error:
        parsed, reason = None, error.message
    return count_event(received, seq, body, parsed, future_seconds=60, reason=reason)


EVENTS = st.sampled_from(
    [
        event(),
        event(producer=""),
        event(eventType="start"),
        event(producer="b:x", run={"runId": "no-uuid"}),
        event(eventTime=None),
        {"producer": SENDER},
        {},
    ]
)
RECEIPTS = st.builds(
    tallied,
    EVENTS,
    st.integers(RECEIVED - 3600 * SECOND, RECEIVED + 3600 * SECOND),
    st.integers(1, 9),
)
TALLIES = st.lists(RECEIPTS, max_size=4).map(lambda several: reduce(join, several, ProducerStats()))


@PATIENT
@given(TALLIES, TALLIES, TALLIES)
def test_joining_is_associative_and_commutative_with_an_identity(
    a: ProducerStats, b: ProducerStats, c: ProducerStats
) -> None:
    assert join(a, join(b, c)) == join(join(a, b), c)
    assert join(a, b) == join(b, a)
    assert join(a, ProducerStats()) == a


@PATIENT
@given(st.lists(RECEIPTS, max_size=6))
def test_absorbing_is_joining_and_every_event_is_counted_once(
    receipts: list[ProducerStats],
) -> None:
    into = ProducerStats()
    for one in receipts:
        absorb(into, one)
    assert into == reduce(join, receipts, ProducerStats())
    assert sum(found.events for found in into.producers.values()) == len(receipts)


def test_joining_changes_neither_side() -> None:
    a, b = tallied(event()), tallied(event(), seq=2)
    join(a, b)
    assert (a, b) == (tallied(event()), tallied(event(), seq=2))


def test_a_producer_is_counted_with_its_clock() -> None:
    both = join(tallied(event(), RECEIVED + SECOND), tallied(event(), RECEIVED - 120 * SECOND))
    found = both.producers[producer_urn(SENDER)]
    assert (found.events, found.first, found.last, found.future) == (
        2,
        RECEIVED - 120 * SECOND,
        RECEIVED + SECOND,
        1,
    )
    assert found.skews is not None
    assert (found.skews.least, found.skews.greatest) == (-120 * SECOND, SECOND)


def test_an_event_without_a_time_has_no_skew() -> None:
    assert tallied(event(eventTime=None)).producers[producer_urn(SENDER)].skews is None


def test_a_refused_event_is_counted_for_its_producer() -> None:
    found = tallied({"producer": SENDER, "run": {}}).findings[finding_urn(SENDER, "refused", "")]
    assert found.count == 1
    assert "runId" in found.example.detail
    garbage = count_event(RECEIVED, 1, b"\xff{", None, future_seconds=60, reason="not JSON")
    assert list(garbage.producers) == [producer_urn("")]


def test_the_example_is_the_first_receipt_that_shows_it() -> None:
    content = event(eventType="start")
    both = join(tallied(content, seq=7), tallied(content, seq=3))
    found = both.findings[finding_urn(SENDER, "lower-case-event-type", "eventType")]
    assert (found.count, found.example.sequence) == (2, 3)
    assert '"eventType": "start"' in found.example.snippet


@PATIENT
@given(
    st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=9).filter(
        lambda skews: len(skews) % 2 == 1
    )
)
def test_a_median_has_an_error_of_a_fifth_at_most(skews: list[int]) -> None:
    produced = (
        reduce(join, (tallied(event(), RECEIVED + skew) for skew in skews))
        .producers[producer_urn(SENDER)]
        .skews
    )
    assert produced is not None
    expected = true_median(skews)
    assert abs(median(produced) - expected) <= 0.2 * abs(expected) + 1_000


def test_no_observations_have_no_median() -> None:
    with pytest.raises(ValueError, match="at least one skew"):
        median(ClockSkews(0, 0, {}))


@pytest.mark.parametrize(
    ("field", "shows"),
    [
        ("outputs[].facets.dataSource.uri", '"uri": "file"'),
        ("run.runId", '{"run": {"runId"'),
        ("", '{"run"'),
        ("not.there", '{"run"'),
    ],
)
def test_a_snippet_is_the_text_around_the_field(field: str, shows: str) -> None:
    content = {
        "run": {"runId": UUID},
        "filler": "ä" * 5_000,
        "outputs": [{"facets": {"dataSource": {"uri": "file"}}}],
    }
    found = snippet(json.dumps(content, ensure_ascii=False).encode(), field)
    assert shows in found
    assert len(found) <= EXAMPLE_CHARACTERS_MAX


@PATIENT
@given(st.binary(max_size=2_000), st.text(max_size=20))
def test_a_snippet_of_any_bytes_is_text(body: bytes, field: str) -> None:
    assert len(snippet(body, field)) <= EXAMPLE_CHARACTERS_MAX


def test_the_number_of_listed_producers_is_bounded() -> None:
    # Nothing listens at this address; the refusal precedes any query.
    with (
        closing(Database("bolt://127.0.0.1:1", "", "")) as nowhere,
        pytest.raises(QueryError, match="first"),
    ):
        conformance.producers(GraphView(nowhere), first=10_000)
