"""Producers and their findings: the largest first, found by prefix, hidden from restricted keys.

`tests/ingest/test_producer_stats_writer.py` checks how their counts add up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import ForbiddenError, QueryError
from headwater.ingest.producer_stats import ProducerStats, count_event
from headwater.ingest.producer_stats_writer import write_producer_stats
from headwater.lineage.questions.conformance import producers
from headwater.lineage.view import GraphView
from headwater.schema.conformance_rules import RULES
from headwater.schema.events import parse
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import run_event

pytestmark = pytest.mark.neo4j

RECEIVED = 1_767_225_660_000_000  # 2026-01-01T00:01:00Z, a minute after the events


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    stats = ProducerStats()
    for sequence, producer in enumerate(["https://a/one", "https://b/two", "https://b/two", ""], 1):
        body = json.dumps({**run_event("r"), "producer": producer}).encode()
        event = parse(body, received=RECEIVED)
        count_event(RECEIVED, sequence, body, event, future_seconds=60, into=stats)
    with database.write() as transaction:
        write_producer_stats(transaction, stats)
    yield view
    empty(database)


def test_the_largest_producer_comes_first(history: GraphView) -> None:
    found = producers(history)
    assert (found[0].producer, found[0].events) == ("https://b/two", 2)
    assert {producer.producer for producer in found} == {"https://a/one", "https://b/two", ""}
    assert [producer.producer for producer in producers(history, first=1)] == ["https://b/two"]
    skew = found[0].skew
    assert skew is not None
    assert (skew.min, skew.max) == (60.0, 60.0)


def test_a_finding_has_its_rule_and_an_example(history: GraphView) -> None:
    findings = {producer.producer: producer.findings for producer in producers(history)}
    nameless = {finding.rule: finding for finding in findings[""]}["missing-producer"]
    assert (nameless.field, nameless.count, nameless.sequence) == ("producer", 1, 4)
    rule = RULES["missing-producer"]
    assert (nameless.severity, nameless.hint) == (rule.severity, rule.hint)
    rules = {finding.rule for finding in findings["https://a/one"]}
    assert "missing-producer" not in rules


def test_producers_by_the_beginning_of_their_name(history: GraphView) -> None:
    found = producers(history, producer="https://a")
    assert [producer.producer for producer in found] == ["https://a/one"]


def test_a_restricted_key_gets_no_counts(history: GraphView) -> None:
    with pytest.raises(ForbiddenError, match="restricted"):
        producers(history.visible_to(Visibility(("web",))))
    with pytest.raises(QueryError, match="first"):
        producers(history, first=501)
