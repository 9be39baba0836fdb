"""The histories of producers, as the real worker's writer counts their events."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.listing import findings_of
from headwater.health.findings.producers.detect import detect_producer
from headwater.health.findings.producers.history import Growth, NewNames, ParentRuns
from headwater.health.findings.producers.reader import read_producer_histories
from headwater.health.findings.sweep import sweep
from headwater.ingest.fold import fold
from headwater.ingest.producer_days import DayCounts
from headwater.ingest.producer_stats import ProducerStats, count_event
from headwater.ingest.write.transaction import Checkpoint, WriteRequest, read_checkpoint, write
from headwater.lineage.view import GraphView
from headwater.schema.events import parse, parse_instant
from headwater.schema.urns import producer_urn
from tests.canonical import empty
from tests.event_builders import parent, run_event
from tests.run_builders import FACET, SPOOL, Event, run_of

pytestmark = pytest.mark.neo4j

SECOND = 1_000_000
DAY = 24 * 60


def receive(database: Database, events: list[Event], *, delay_seconds: int = 1) -> None:
    """Fold events and count them, as received so long after their times."""
    before = read_checkpoint(database, SPOOL)
    stats, parsed = ProducerStats(), []
    for number, content in enumerate(events):
        body = json.dumps(content).encode()
        received = parse_instant(content["eventTime"]) + delay_seconds * SECOND
        parsed.append(parse(body, received=received))
        count_event(
            received, before.position + number, body, parsed[-1], future_seconds=300, into=stats
        )
    after = Checkpoint(before.position + len(events), before.folded + len(events), 0)
    request = WriteRequest(
        fold(parsed),
        spool=SPOOL,
        before=before,
        after=after,
        holder="tests",
        producer_stats=stats,
    )
    write(database, request)


def test_the_history_of_a_producer(database: Database, view: GraphView) -> None:
    empty(database)
    receive(database, [run_event("a", "START", 0, job="load", outputs=["x", "y"])])
    late = [
        run_event("b", "COMPLETE", DAY, job="load", outputs=["z"], facets=parent("b0", "dag")),
        run_event("b0", "COMPLETE", DAY, job="dag"),
        run_event("c", "COMPLETE", DAY, job="load", outputs=["z"], facets=parent("c0", "dag")),
    ]
    receive(database, late, delay_seconds=400)
    [found] = read_producer_histories(view)
    assert (found.urn, found.producer) == (producer_urn(FACET["_producer"]), FACET["_producer"])
    first, second = date(2026, 1, 1), date(2026, 1, 2)
    assert found.days == ((first, DayCounts(1)), (second, DayCounts(3, behind=3, late=3)))
    start, next_day = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    assert found.growths == (
        Growth(
            "dataset",
            "db",
            start,
            (
                NewNames(first, 2, start, start, ("x", "y")),
                NewNames(second, 1, next_day, next_day, ("z",)),
            ),
        ),
        Growth(
            "job",
            "etl",
            start,
            (
                NewNames(first, 1, start, start, ("load",)),
                NewNames(second, 1, next_day, next_day, ("dag",)),
            ),
        ),
    )
    assert found.parents == (ParentRuns(second, 2, 1, (run_of("c0"),)),)
    assert not found.has_earlier_parents
    assert read_producer_histories(view, [found.urn]) == [found]
    assert read_producer_histories(view, ["producer:other"]) == []
    assert detect_producer(found, datetime(2026, 1, 3, tzinfo=UTC)) == []


def test_an_import_of_a_history_is_no_skew(database: Database, view: GraphView) -> None:
    empty(database)
    events = [run_event(f"r{number}", "COMPLETE", number, job="load") for number in range(30)]
    receive(database, events, delay_seconds=90 * 86_400)
    [found] = read_producer_histories(view)
    assert found.days == ()
    receive(database, events, delay_seconds=600)
    [found] = read_producer_histories(view)
    [episode] = detect_producer(found, datetime(2026, 1, 1, 12, tzinfo=UTC))
    assert (episode.rule, episode.evidence["behindShare"]) == ("clock-skew", 1.0)


def test_a_pass_writes_the_findings_of_producers(database: Database, view: GraphView) -> None:
    empty(database)
    events = [run_event(f"r{number}", "COMPLETE", number, job="load") for number in range(30)]
    receive(database, events, delay_seconds=600)
    instant = datetime(2026, 1, 1, 12, tzinfo=UTC)
    sweep(view, None, instant)
    producer = producer_urn(FACET["_producer"])
    [found] = findings_of(view, [producer])[producer]
    assert (found.id, found.tier) == (f"finding:clock-skew:{producer}@2026-01-01", "P3")
    assert (found.root, found.is_open) == (found.id, True)


def test_a_graph_without_producers(database: Database, view: GraphView) -> None:
    empty(database)
    assert read_producer_histories(view) == []
