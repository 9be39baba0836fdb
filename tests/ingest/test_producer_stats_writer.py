"""Producer statistics add up in the graph, in the transaction that writes them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.ingest.producer_stats import (
    ProducerStats,
)
from headwater.ingest.producer_stats_writer import write_producer_stats
from headwater.lineage.questions import conformance
from headwater.lineage.view import GraphView
from headwater.schema.events import to_datetime
from tests.ingest.test_producer_stats import RECEIVED, SECOND, SENDER, event, tallied


def _write(database: Database, producer_stats: Sequence[ProducerStats]) -> None:
    with database.write() as transaction:
        for one in producer_stats:
            write_producer_stats(transaction, one)


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph")
def test_the_graph_sums_partial_stats(database: Database, view: GraphView) -> None:
    source = {"_producer": "https://a", "_schemaURL": "https://b", "name": "file", "uri": "file"}
    local = event(outputs=[{"namespace": "db", "name": "t", "facets": {"dataSource": source}}])
    _write(database, [tallied(local, RECEIVED + 2 * SECOND, seq=5), ProducerStats()])
    _write(
        database,
        [
            tallied(local, RECEIVED + SECOND, seq=9),
            tallied(event(producer="b:x"), RECEIVED - 90 * SECOND),
        ],
    )
    first, second = conformance.producers(view)
    assert (first.producer, first.events, first.future_events) == (SENDER, 2, 0)
    assert (first.first_received_at, first.last_received_at) == (
        to_datetime(RECEIVED + SECOND),
        to_datetime(RECEIVED + 2 * SECOND),
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
def test_a_failed_transaction_counts_nothing(database: Database, view: GraphView) -> None:
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
