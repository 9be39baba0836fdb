"""Changes of findings, over a real socket."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.graphql.finding_feed import compare
from headwater.health.findings.models import Finding, Tier
from headwater.health.findings.store import Changes, write_changes
from tests.graphql.subscribers import Served, is_quiet, receive, subscribe
from tests.health.findings.builders import at, episode, finding, save
from tests.run_builders import ds, job

CHANGES = """subscription ($rule: String, $tier: Tier, $namespace: String) {
  findingChanges(rule: $rule, tier: $tier, namespace: $namespace) {
    id change finding { rule severity resolvedAt } } }"""
DRIFT = finding(episode("schema-drift", ds("t"), 1, key="artifact:db:t:r"), Tier.P2)
FAILED = finding(episode("failed-run", job("load"), 2, key="run:r"), Tier.P1)


def closed(one: Finding) -> Finding:
    return replace(one, episode=replace(one.episode, resolved_at=at(9)))


def change(message: dict[str, Any]) -> tuple[str, str, str | None]:
    found = message["payload"]["data"]["findingChanges"]
    return found["id"], found["change"], (found["finding"] or {}).get("severity")


def test_compare() -> None:
    one, other = {"urn": "a", "tier": "P2"}, {"urn": "b", "tier": "P1"}
    urgent = {"urn": "b", "tier": "P2"}
    before, after = {"a": one, "b": other}, {"b": urgent, "c": {"urn": "c", "tier": "P3"}}
    assert [(state["urn"], state["change"]) for state in compare(before, after)] == [
        ("a", "CLOSED"),
        ("b", "CHANGED"),
        ("c", "OPENED"),
    ]
    assert list(compare(before, before)) == []


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph", "quick")
def test_changes_are_delivered(open_to_all: Served, database: Database) -> None:
    save(database, [(finding(episode("mean", ds("t"), 0)), ["db"])])
    with open_to_all.begun() as client:
        subscribe(client, CHANGES)
        save(database, [(DRIFT, ["db"])])
        assert change(receive(client)) == (DRIFT.id, "OPENED", "P2")
        save(database, [(replace(DRIFT, tier=Tier.P1), ["db"])])
        assert change(receive(client)) == (DRIFT.id, "CHANGED", "P1")
        save(database, [(closed(DRIFT), ["db"])])
        assert change(receive(client)) == (DRIFT.id, "RESOLVED", "P2")
        save(database, [(DRIFT, ["db"])])
        assert change(receive(client)) == (DRIFT.id, "OPENED", "P2")
        with database.write() as transaction:
            write_changes(transaction, Changes(deleted=[DRIFT.id]))
        assert change(receive(client)) == (DRIFT.id, "WITHDRAWN", None)
        assert is_quiet(client)


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph", "quick")
def test_filters_and_visibility(keyed: Served, database: Database) -> None:
    mine, theirs = keyed.key("etl only", "etl"), keyed.key("db only", "db")
    with keyed.begun(mine) as own, keyed.begun(theirs) as other:
        subscribe(own, CHANGES, id="all")
        subscribe(own, CHANGES, id="rule", rule="missing-run")
        subscribe(own, CHANGES, id="tier", tier="P3")
        subscribe(own, CHANGES, id="namespace", namespace="db")
        subscribe(other, CHANGES)
        save(database, [(FAILED, ["etl"])])
        message = receive(own)
        assert (message["id"], change(message)) == ("all", (FAILED.id, "OPENED", "P1"))
        with database.write() as transaction:
            write_changes(transaction, Changes(deleted=[FAILED.id]))
        found = {receive(own)["id"] for _ in range(2)}
        # The severity of a withdrawn finding is unknown.
        assert found == {"all", "tier"}
        assert is_quiet(own)
        assert is_quiet(other)


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph", "quick")
def test_a_namespace_is_asked_for_as_in_the_list(open_to_all: Served, database: Database) -> None:
    """A producer has no namespace; an answer has those of what it rests on."""
    skewed = finding(episode("clock-skew", "producer:p", 1))
    stale = finding(episode("stale-answer", "answer:revenue", 2))
    with open_to_all.begun() as client:
        subscribe(client, CHANGES, namespace="db")
        save(database, [(skewed, [])])
        save(database, [(stale, ["db", "lake"])])
        assert change(receive(client)) == (stale.id, "OPENED", "P2")
        assert is_quiet(client)
