"""ProducerStats: they add up in any order and any pieces, examples stay, and the graph counts each receipt once."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
from headwater.ingest.producer_stats_writer import write_producer_stats
from headwater.lineage.questions import conformance
from headwater.lineage.view import GraphView
from headwater.schema.events import Event, parse, parse_instant, to_datetime
from headwater.schema.urns import finding_urn, producer_urn

UUID = "0198c2f4-7a3b-7c11-9d5e-6f1a2b3c4d5e"
TIME = "2026-01-31T12:00:00Z"
AT = parse_instant(TIME)
SECOND = 1_000_000
SENDER = "https://example.com/etl"
# A busy machine is no fault of what is tried.
PATIENT = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)


def event(**fields: Any) -> dict[str, Any]:
    job = {"namespace": "etl", "name": "load"}
    run = {"runId": UUID}
    sent = {
        "eventTime": TIME,
        "eventType": "START",
        "producer": SENDER,
        "schemaURL": "https://a",
        "run": run,
    }
    return {**sent, "job": job, **fields}


def tallied(sent: dict[str, Any], received: int = AT + SECOND, seq: int = 1) -> ProducerStats:
    body = json.dumps(sent).encode()
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
    tallied, EVENTS, st.integers(AT - 3600 * SECOND, AT + 3600 * SECOND), st.integers(1, 9)
)
TALLIES = st.lists(RECEIPTS, max_size=4).map(lambda several: reduce(join, several, ProducerStats()))


@PATIENT
@given(TALLIES, TALLIES, TALLIES)
def test_joining_is_associative_and_commutative_and_nothing_changes_nothing(
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
    both = join(tallied(event(), AT + SECOND), tallied(event(), AT - 120 * SECOND))
    found = both.producers[producer_urn(SENDER)]
    assert (found.events, found.first, found.last, found.future) == (
        2,
        AT - 120 * SECOND,
        AT + SECOND,
        1,
    )
    assert found.skews is not None
    assert (found.skews.least, found.skews.greatest) == (-120 * SECOND, SECOND)


def test_an_event_without_a_time_has_no_skew() -> None:
    assert tallied(event(eventTime=None)).producers[producer_urn(SENDER)].skews is None


def test_what_was_refused_is_counted_for_whoever_sent_it() -> None:
    found = tallied({"producer": SENDER, "run": {}}).findings[finding_urn(SENDER, "refused", "")]
    assert found.count == 1
    assert "runId" in found.example.detail
    garbage = count_event(AT, 1, b"\xff{", None, future_seconds=60, reason="not JSON")
    assert list(garbage.producers) == [producer_urn("")]


def test_the_example_is_the_first_receipt_that_shows_it() -> None:
    sent = event(eventType="start")
    both = join(tallied(sent, seq=7), tallied(sent, seq=3))
    found = both.findings[finding_urn(SENDER, "lower-case-event-type", "eventType")]
    assert (found.count, found.example.receipt) == (2, 3)
    assert '"eventType": "start"' in found.example.snippet


@PATIENT
@given(
    st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=9).filter(
        lambda skews: len(skews) % 2 == 1
    )
)
def test_a_median_is_off_by_a_fifth_at_most(skews: list[int]) -> None:
    produced = (
        reduce(join, (tallied(event(), AT + skew) for skew in skews))
        .producers[producer_urn(SENDER)]
        .skews
    )
    assert produced is not None
    wanted = true_median(skews)
    assert abs(median(produced) - wanted) <= 0.2 * abs(wanted) + 1_000


def test_there_is_no_median_of_nothing() -> None:
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
    sent = {
        "run": {"runId": UUID},
        "filler": "ä" * 5_000,
        "outputs": [{"facets": {"dataSource": {"uri": "file"}}}],
    }
    found = snippet(json.dumps(sent, ensure_ascii=False).encode(), field)
    assert shows in found
    assert len(found) <= EXAMPLE_CHARACTERS_MAX


@PATIENT
@given(st.binary(max_size=2_000), st.text(max_size=20))
def test_a_snippet_of_anything_is_a_text(body: bytes, field: str) -> None:
    assert len(snippet(body, field)) <= EXAMPLE_CHARACTERS_MAX


def _write(database: Database, producer_stats: Sequence[ProducerStats]) -> None:
    with database.write() as transaction:
        for one in producer_stats:
            write_producer_stats(transaction, one)


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph")
def test_the_graph_adds_up_what_comes_in_pieces(database: Database, view: GraphView) -> None:
    source = {"_producer": "https://a", "_schemaURL": "https://b", "name": "file", "uri": "file"}
    local = event(outputs=[{"namespace": "db", "name": "t", "facets": {"dataSource": source}}])
    _write(database, [tallied(local, AT + 2 * SECOND, seq=5), ProducerStats()])
    _write(
        database,
        [tallied(local, AT + SECOND, seq=9), tallied(event(producer="b:x"), AT - 90 * SECOND)],
    )
    first, second = conformance.producers(view)
    assert (first.producer, first.events, first.future_events) == (SENDER, 2, 0)
    assert (first.first_received_at, first.last_received_at) == (
        to_datetime(AT + SECOND),
        to_datetime(AT + 2 * SECOND),
    )
    assert first.skew is not None
    assert (first.skew.min, first.skew.max) == (1.0, 2.0)
    [found] = first.findings
    assert (found.rule, found.field) == (
        "facet-breaks-its-schema",
        "outputs[].facets.dataSource.uri",
    )
    assert (found.count, found.sequence, found.severity) == (2, 5, "error")
    assert '"uri": "file"' in found.example
    assert found.hint
    assert (second.future_events, [one.rule for one in second.findings]) == (
        1,
        ["event-from-the-future"],
    )
    assert [one.producer for one in conformance.producers(view, producer="b:")] == ["b:x"]
    assert conformance.producers(view, producer="nobody") == []


def _write_and_fail(database: Database) -> None:
    with database.write() as transaction:
        write_producer_stats(transaction, tallied(event()))
        raise QueryError("refused")


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph")
def test_a_transaction_that_fails_counts_nothing(database: Database, view: GraphView) -> None:
    with pytest.raises(QueryError):
        _write_and_fail(database)
    assert conformance.producers(view) == []


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph")
def test_events_without_a_time_or_a_sender_are_counted_too(
    database: Database, view: GraphView
) -> None:
    _write(database, [tallied(event(producer=None, eventTime=None))])
    [found] = conformance.producers(view)
    assert (found.producer, found.skew) == ("", None)
    assert {one.rule for one in found.findings} == {"missing-producer", "missing-event-time"}


def test_how_many_producers_are_shown_has_a_bound() -> None:
    # Nobody listens there: it is refused before anything is asked.
    with (
        closing(Database("bolt://127.0.0.1:1", "", "")) as nowhere,
        pytest.raises(QueryError, match="first"),
    ):
        conformance.producers(GraphView(nowhere), first=10_000)
