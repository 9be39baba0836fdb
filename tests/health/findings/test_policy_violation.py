"""Findings of policies: a function of the events, the policies and the instant."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.governance.policies.store import POLL_SECONDS, PolicyStore
from headwater.health.findings.detector import Detector
from headwater.health.findings.listing import FindingFilter, findings
from headwater.health.findings.models import Tier
from headwater.health.findings.sweep import OvertakenError
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.event_builders import dataset_event, run_event
from tests.run_builders import Event, ds, write_events

pytestmark = pytest.mark.neo4j
NOW = datetime(2026, 1, 2, tzinfo=UTC)
OWNED = "name: owned\nrule: required-owners\nseverity: P1\n"
CERTIFIED = "name: certified\nrule: certified-inputs\n"
OWNER = {"ownership": {"owners": [{"name": "mia"}]}}
TAG = {"tags": {"tags": [{"key": "certified", "value": "true"}]}}
EVENTS: list[Event] = [
    dataset_event("mart", 0, {**OWNER, **TAG}),
    run_event("r1", minute=10, job="build", inputs=["orders"], outputs=["mart"]),
    dataset_event("raw", 5, OWNER),
]


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += POLL_SECONDS
        return self.seconds


@pytest.fixture(autouse=True)
def graph(database: Database) -> Iterator[None]:
    empty(database)
    yield
    empty(database)


def detector(database: Database, directory: Path) -> Detector:
    store = PolicyStore(directory, clock=Clock())
    return Detector(database, policies=store, clock=lambda: NOW)


def found(view: GraphView) -> set[tuple[str, str, Tier]]:
    page = findings(view, FindingFilter(rule="policy-violation"))
    return {(one.episode.key, one.episode.subject, one.tier) for one in page.entries}


def test_violations_are_findings_with_the_severity_of_the_policy(
    database: Database, view: GraphView, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(f"{OWNED}---\n{CERTIFIED}")
    write_events(database, EVENTS)
    detector(database, tmp_path).full_pass()
    expected = {("owned", ds("orders"), Tier.P1), ("certified", ds("mart"), Tier.P2)}
    assert found(view) == expected
    page = findings(view, FindingFilter(rule="policy-violation", subject=ds("mart")))
    (finding,) = page.entries
    assert finding.owners == ("mia",)
    assert finding.episode.evidence["variables"] == {
        "node.certified": True,
        "node.name": "mart",
        "upstream.uncertified": [ds("orders")],
    }
    # The first event that names the node is of midnight.
    assert finding.episode.first_seen == datetime(2026, 1, 1, tzinfo=UTC)


def test_the_order_of_events_does_not_matter(
    database: Database, view: GraphView, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(f"{OWNED}---\n{CERTIFIED}")
    outcomes = []
    for events in list(permutations(EVENTS))[::2]:
        empty(database)
        for event in events:
            write_events(database, [event, event])
        detector(database, tmp_path).full_pass()
        outcomes.append(found(view))
    assert outcomes == [outcomes[0]] * len(outcomes)
    assert len(outcomes[0]) == 2


def test_a_late_event_ends_a_violation_and_a_changed_policy_is_noticed(
    database: Database, view: GraphView, tmp_path: Path
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(OWNED)
    write_events(database, EVENTS)
    running = detector(database, tmp_path)
    running.full_pass()
    assert {urn for _, urn, _ in found(view)} == {ds("orders")}
    write_events(database, [dataset_event("orders", 1, OWNER)])
    running.full_pass()
    assert found(view) == set()
    file.write_text("name: described\nrule: required-description\nmatch: {name: raw}\n")
    os.utime(file, (1, 1))
    expected = {("described", ds("raw"), Tier.P3)}
    for _ in range(60):
        try:
            running.step()
        except OvertakenError:
            running = detector(database, tmp_path)
        if found(view) == expected:
            break
    assert found(view) == expected


def test_a_removed_policy_ends_its_findings(
    database: Database, view: GraphView, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(OWNED)
    (tmp_path / "b.yaml").write_text(CERTIFIED)
    write_events(database, EVENTS)
    running = detector(database, tmp_path)
    running.full_pass()
    assert {policy for policy, _, _ in found(view)} == {"owned", "certified"}
    (tmp_path / "b.yaml").unlink()
    running.full_pass()
    assert {policy for policy, _, _ in found(view)} == {"owned"}
    # A broken file is no removed policy: its last good version stays in force.
    (tmp_path / "a.yaml").write_text("name: [")
    os.utime(tmp_path / "a.yaml", (1, 1))
    running.full_pass()
    assert {policy for policy, _, _ in found(view)} == {"owned"}


def test_without_policies_nothing_is_read(database: Database, view: GraphView) -> None:
    write_events(database, EVENTS)
    Detector(database, policies=PolicyStore(None), clock=lambda: NOW).full_pass()
    assert found(view) == set()
