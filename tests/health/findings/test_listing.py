"""Lists of findings: filters, pages, and what a restricted caller sees of hidden nodes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.affected import read_affected
from headwater.health.findings.disclosure import subject_of
from headwater.health.findings.listing import (
    FindingFilter,
    count_findings,
    findings,
    findings_by_urn,
    findings_of,
)
from headwater.health.findings.models import Consumer, Finding, Tier
from headwater.lineage.pagination import PageRequest
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.health.findings.builders import at, episode, finding, save
from tests.run_builders import Event, ds, run, write_events

pytestmark = pytest.mark.neo4j

STALE = finding(episode("stale-source", "dataset:secret:raw", 0, 1, key="due"), Tier.P2)
FAILED = finding(
    episode(
        "failed-run",
        "job:open:load",
        2,
        6,
        key="run:r1",
        reads="dataset:secret:raw",
        users=[
            {"urn": "job:secret:mail", "column": "salary"},
            {"urn": "job:open:report", "column": "amount"},
        ],
    ),
    Tier.P1,
    root=STALE.id,
    owners=["ann"],
    consumers=[
        Consumer("dataset:open:mart", "DATASET", ("bob",), True),
        Consumer("dataset:secret:pay", "DATASET", ("eve",), True),
    ],
    datasets=2,
    critical=2,
)
ENDED = finding(episode("duration", "job:open:load", 3, 4, end=5, key="run:r0"), Tier.P3)
PRODUCER = finding(episode("clock-skew", "producer:https%3A//spark", 1, 5), Tier.P3)
ALL = [FAILED, PRODUCER, ENDED, STALE]
_SET_DETAILS = "MATCH (f:Finding {urn: $urn}) SET f.consumerDetails = $details"


@pytest.fixture(scope="module")
def view(database: Database) -> Iterator[GraphView]:
    empty(database)
    save(
        database,
        [(STALE, ["secret"]), (FAILED, ["open"]), (ENDED, ["open"]), (PRODUCER, [])],
    )
    yield GraphView(database)
    empty(database)


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        (FindingFilter(), ALL),
        (FindingFilter(open=True), [FAILED, PRODUCER, STALE]),
        (FindingFilter(open=False), [ENDED]),
        (FindingFilter(rule="failed-run"), [FAILED]),
        (FindingFilter(tier="P3"), [PRODUCER, ENDED]),
        (FindingFilter(subject="job:open:load"), [FAILED, ENDED]),
        (FindingFilter(owner="ann"), [FAILED]),
        (FindingFilter(namespace="secret"), [STALE]),
        (FindingFilter(root=STALE.id), [FAILED, STALE]),
        (FindingFilter(until=at(2)), [PRODUCER, STALE]),
        (FindingFilter(since=at(6)), [FAILED, PRODUCER, STALE]),
        (FindingFilter(since=at(5), until=at(4)), [FAILED, PRODUCER, ENDED, STALE]),
        (FindingFilter(rule="none"), []),
    ],
)
def test_each_condition_selects(
    view: GraphView, filter: FindingFilter, expected: list[Finding]
) -> None:
    assert findings(view, filter).entries == expected
    assert count_findings(view, filter) == len(expected)


def test_pages_go_forward_and_backward(view: GraphView) -> None:
    first = findings(view, page=PageRequest(3))
    assert (first.entries, first.has_next) == (ALL[:3], True)
    second = findings(view, page=PageRequest(3, first.cursors[-1]))
    assert (second.entries, second.has_next) == (ALL[3:], False)
    back = findings(view, page=PageRequest(2, second.cursors[0], is_backward=True))
    assert back.entries == ALL[1:3]


def test_findings_of_nodes_come_open_first(view: GraphView) -> None:
    found = findings_of(view, ["job:open:load", "job:open:none"])
    assert found == {"job:open:load": [FAILED, ENDED], "job:open:none": []}
    assert findings_by_urn(view, [PRODUCER.id, "finding:none"]) == {PRODUCER.id: PRODUCER}


def test_a_finding_that_is_just_being_written_is_read_again(
    view: GraphView, database: Database
) -> None:
    """Neo4j shows a commit piece by piece: a reader may find a node without all properties."""

    def set_details(details: str | None) -> None:
        with database._transaction("WRITE", 60.0) as transaction:
            transaction.run(_SET_DETAILS, urn=ENDED.id, details=details).consume()

    set_details(None)
    try:
        without = [FAILED, PRODUCER, STALE]
        assert findings(view).entries == without
        assert findings_by_urn(view, [ENDED.id]) == {}
        rest = threading.Timer(0.1, set_details, ["[]"])
        rest.start()
        assert findings_by_urn(view, [ENDED.id]) == {ENDED.id: ENDED}
        rest.join()
    finally:
        set_details("[]")
    assert findings(view).entries == ALL


def test_a_restricted_caller_sees_no_name_of_a_hidden_node(view: GraphView) -> None:
    restricted = view.visible_to(Visibility(("open",)))
    page = findings(restricted)
    assert [one.id for one in page.entries] == [FAILED.id, ENDED.id]
    assert count_findings(restricted) == 2
    assert findings_by_urn(restricted, [STALE.id, PRODUCER.id]) == {}
    assert findings_of(restricted, ["dataset:secret:raw"]) == {"dataset:secret:raw": []}
    [failed, _] = page.entries
    assert "secret" not in str(failed)
    assert "salary" not in str(failed)
    assert [one.urn for one in failed.affected.consumers] == ["dataset:open:mart"]
    assert (failed.affected.datasets, failed.affected.critical) == (1, 1)
    assert failed.root.startswith("hidden:")
    # A guess of the root confirms nothing.
    assert findings(restricted, FindingFilter(root=STALE.id)).entries == []
    assert count_findings(restricted, FindingFilter(root=STALE.id)) == 0
    evidence = failed.episode.evidence
    assert evidence["reads"].startswith("hidden:")
    assert evidence["users"] == [
        {"urn": "job:open:report", "column": "amount"},
        {"urn": evidence["reads"]},
    ]


def test_the_subject_of_a_finding_is_in_its_id() -> None:
    for one in ALL:
        assert subject_of(one.id) == one.episode.subject


def reader(name: str, namespace: str) -> list[Event]:
    """Return the run of a job that reads raw and writes a dataset of a namespace."""
    events = run(name, name, ["raw"], [name], minute=5)
    for event in events:
        for output in event.get("outputs", ()):
            output["namespace"] = namespace
    return events


@pytest.mark.parametrize("hidden_readers", [0, 25])
def test_hidden_consumers_are_not_counted(database: Database, hidden_readers: int) -> None:
    empty(database)
    readers = [(f"open-{number:02d}", "open") for number in range(22)]
    readers += [(f"hidden-{number:02d}", "hidden") for number in range(hidden_readers)]
    write_events(
        database,
        run("l1", "load", [], ["raw"], minute=0),
        *(reader(name, namespace) for name, namespace in readers),
    )
    view = GraphView(database)
    late = episode("row-count", ds("raw"), 1)
    save(
        database, [(replace(finding(late), affected=read_affected(view, [late])[late.id]), ["db"])]
    )
    whole = findings_by_urn(view, [late.id])[late.id]
    assert whole.affected.datasets == 22 + hidden_readers
    restricted = view.visible_to(Visibility(("db", "open")))
    # The jobs are hidden from a caller of the two namespaces, in either graph.
    shown = findings_by_urn(restricted, [late.id])[late.id]
    affected = shown.affected
    assert (affected.datasets, affected.jobs, affected.answers) == (22, 0, 0)
    assert [one.urn for one in affected.consumers] == [
        f"dataset:open:open-{number:02d}" for number in range(20)
    ]
    empty(database)
