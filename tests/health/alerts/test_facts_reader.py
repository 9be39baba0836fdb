"""What the graph adds to an alert: a failed run with its inputs, last success and replay plan."""

from __future__ import annotations

from dataclasses import replace

import pytest
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.health.alerts.facts import AlertFacts, LastSuccess, TraceOfRun
from headwater.health.alerts.facts_reader import read_facts
from headwater.health.alerts.grouping import alerts_of
from headwater.health.alerts.models import Alert
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.event_builders import run_event
from tests.health.alerts.alert_stores import store
from tests.health.alerts.finding_builders import consumer, finding, minutes
from tests.run_builders import FACET, at, write_events

pytestmark = pytest.mark.neo4j
ORDERS, MART = "job:etl:orders", "job:etl:mart"


@pytest.fixture(autouse=True)
def _history(clean_graph: Driver, database: Database) -> None:
    """Write a good run of each job, and then a bad one of the first, whose data was read."""
    del clean_graph
    write_events(
        database,
        [run_event("r0", "COMPLETE", 0, job="load", outputs=["raw"])],
        [run_event("r1", "COMPLETE", 1, job="orders", inputs=["raw"], outputs=["orders"])],
        [run_event("r2", "FAIL", 10, job="orders", inputs=["raw"], outputs=["orders"])],
        [run_event("r3", "COMPLETE", 12, job="mart", inputs=["orders"], outputs=["mart"])],
    )


def failed() -> Alert:
    one = finding("failed-run", ORDERS, key="run:r2")
    reader = consumer(MART)
    one = replace(one, affected=replace(one.affected, jobs=1, consumers=(reader,)))
    [alert] = alerts_of([one], minutes(30))
    return alert


def test_a_failed_run_has_facts(database: Database) -> None:
    check = finding("failed-check", "dataset:db:raw", began=-60)
    old = finding(
        "failed-check", "dataset:db:raw", key="old", began=-8 * 24 * 60, ended=-8 * 24 * 60
    )
    store(database, check, old)
    facts = read_facts(GraphView(database), failed())
    assert [one.dataset for one in facts.freshness] == ["dataset:db:raw"]
    assert facts.freshness[0].newest_at is not None
    assert facts.freshness[0].newest_at.isoformat() == at(0).replace("Z", "+00:00")
    assert [(one.node, one.text) for one in facts.violations] == [
        ("dataset:db:raw", "raw failed a check of its data")
    ]
    assert [(one.node, one.run) for one in facts.last_successes] == [
        (ORDERS, "run:r1"),
        (MART, "run:r3"),
    ]
    assert facts.replay is not None
    assert (facts.replay.run, facts.replay.steps) == ("run:r2", ((ORDERS,), (MART,)))


def test_a_receiver_gets_no_facts_of_hidden_nodes(database: Database) -> None:
    view = GraphView(database).visible_to(Visibility(("etl",)))
    facts = read_facts(view, failed())
    assert (facts.freshness, facts.violations) == ((), ())
    assert "dataset:db" not in repr(facts)


def test_a_resolved_alert_and_an_unknown_node_need_no_facts(database: Database) -> None:
    view = GraphView(database)
    [over] = alerts_of([finding(ended=20)], minutes(30))
    assert read_facts(view, over) == AlertFacts()
    [unknown] = alerts_of([finding("clock-skew", "producer:x")], minutes(30))
    assert read_facts(view, unknown) == AlertFacts()


def test_a_dataset_has_the_run_that_wrote_its_newest_version(database: Database) -> None:
    [alert] = alerts_of([finding("row-count", "dataset:db:mart")], minutes(30))
    [success] = read_facts(GraphView(database), alert).last_successes
    assert replace(success, at=None) == LastSuccess("dataset:db:mart", "run:r3", None)


def test_the_traces_of_the_runs_as_far_as_the_receiver_sees_them(database: Database) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    event = run_event("r2", "FAIL", 10, job="orders", inputs=["raw"], outputs=["orders"])
    event["run"]["facets"] = {"span": {**FACET, "traceId": trace}}
    write_events(database, [event])
    template = "https://jaeger.example.com/trace/{traceId}"
    view = GraphView(database)
    [found] = read_facts(view, failed(), template).traces
    assert found == TraceOfRun(trace, "run:r2", f"https://jaeger.example.com/trace/{trace}")
    [bare] = read_facts(view, failed()).traces
    assert bare.url is None
    assert read_facts(view.visible_to(Visibility(("db",))), failed(), template).traces == ()
