"""Violations of policies depend only on the set of events, the policies and the time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.governance.policies.check import check_graph
from headwater.governance.policies.files import PolicyFile, parse_policies
from headwater.governance.policies.models import PolicySet, Violation
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, run_event, schema
from tests.run_builders import FACET, Event, ds, write_events

pytestmark = pytest.mark.neo4j
NOW = datetime(2026, 2, 1, tzinfo=UTC)
POLICIES = """
policies:
- {name: owned, rule: required-owners}
- {name: described, rule: required-description}
- {name: inputs, rule: certified-inputs}
- {name: sources, rule: no-deprecated-sources}
- {name: prefer, rule: prefer-certified}
- {name: flows, rule: allowed-flows, with: {from: [db], to: [db]}}
- {name: far, on: dataset, condition: downstream.nodes > 3}
"""
NAMES = [f"t{number}" for number in range(8)]


@pytest.fixture(autouse=True)
def graph(database: Database) -> Iterator[None]:
    empty(database)
    yield
    empty(database)


def tagged(chance: random.Random) -> dict[str, Any]:
    facets: dict[str, Any] = {}
    if chance.random() < 0.5:
        facets["ownership"] = {**FACET, "owners": [{"name": chance.choice(["ann", "bob"])}]}
    if chance.random() < 0.5:
        key = chance.choice(["certified", "deprecated"])
        facets["tags"] = {**FACET, "tags": [{"key": key, "value": "true"}]}
    if chance.random() < 0.5:
        facets["documentation"] = {**FACET, "description": "Orders"}
    return facets


def story(chance: random.Random) -> list[Event]:
    """Return jobs over eight datasets, what producers report about these, and approvals."""
    events: list[Event] = []
    for number in range(12):
        place = chance.randrange(1, len(NAMES))
        inputs = chance.sample(NAMES[:place], k=min(place, chance.randint(1, 2)))
        columns = schema(day="int", total=chance.choice(["int", "long"]))
        events.append(
            run_event(
                f"r{number}",
                chance.choices(["COMPLETE", "FAIL"], [8, 2])[0],
                number,
                job=f"j{chance.randrange(6)}",
                inputs=inputs,
                outputs=[dataset(NAMES[place], columns)],
            )
        )
    for number in range(10):
        name = chance.choice(NAMES)
        events.append(dataset_event(name, 20 + number, tagged(chance)))
    for number in range(4):
        reason = chance.choice(["Agreed.", None])
        events.append(
            native.approval_event(
                "db",
                chance.choice(NAMES),
                policy=chance.choice(["owned", "described"]),
                reason=reason,
                by="ann",
                event_time=f"2026-01-01T01:{number:02d}:00Z",
            )
        )
    return events


def policies() -> PolicySet:
    return parse_policies([PolicyFile("all.yaml", POLICIES)])


def violations(database: Database) -> list[Violation]:
    return list(check_graph(GraphView(database), policies(), NOW).violations)


@pytest.mark.parametrize("seed", range(4))
def test_order_duplicates_and_batches_change_nothing(database: Database, seed: int) -> None:
    chance = random.Random(seed)
    events = story(chance)
    write_events(database, events)
    expected = violations(database)
    assert expected
    for _ in range(2):
        shuffled = events + chance.choices(events, k=len(events) // 3)
        chance.shuffle(shuffled)
        cuts = sorted(chance.sample(range(len(shuffled)), k=4))
        empty(database)
        for begin, end in zip([0, *cuts], [*cuts, len(shuffled)], strict=True):
            write_events(database, shuffled[begin:end])
        assert violations(database) == expected


def approved(reason: str | None) -> Event:
    return native.approval_event("db", "t0", policy="described", reason=reason, by="ann")


def named(database: Database) -> set[str]:
    return {one.policy for one in violations(database) if one.urn == ds("t0")}


def test_a_violation_ends_when_its_cause_does(database: Database) -> None:
    write_events(database, [dataset_event("t0", 1)])
    assert named(database) == {"owned", "described"}
    owned = {"ownership": {**FACET, "owners": [{"name": "ann"}]}}
    write_events(database, [dataset_event("t0", 2, owned)])
    assert named(database) == {"described"}
    write_events(database, [approved("Agreed.")])
    assert named(database) == set()
    # A withdrawn approval counts no longer, and an earlier event that comes late changes nothing.
    write_events(database, [approved(None)])
    write_events(database, [dataset_event("t0", 0)])
    assert named(database) == {"described"}
