"""Edits by hand in any order: the newest edit of each thing counts, over what producers send."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.schema import headwater_facets as native
from tests.event_builders import dataset, run_event, schema, write_in_any_order
from tests.run_builders import Event, at, ds, job

pytestmark = pytest.mark.neo4j
PRODUCER_TAGS = {"tags": {"tags": [{"key": "gold"}, {"key": "raw", "field": "id"}]}}


def run_at(minute: int) -> Event:
    outputs = [dataset("orders", {**schema(id="int"), **PRODUCER_TAGS})]
    return run_event(f"run-{minute}", "COMPLETE", minute, job="load", outputs=outputs)


def node(database: Database, urn: str) -> Any:
    (row,) = database.read("read/nodes/properties", urns=[urn])
    return row["properties"]


def test_the_newest_edit_of_a_tag_overrides_the_facet(database: Database) -> None:
    events = [
        run_at(1),
        run_at(9),
        native.tag_edits_event("db", "orders", added=[{"key": "PII"}], event_time=at(2)),
        native.tag_edits_event("db", "orders", removed=[{"key": "gold"}], event_time=at(3)),
        native.tag_edits_event(
            "db", "orders", added=[{"key": "x", "field": "id"}], event_time=at(4)
        ),
        native.tag_edits_event("db", "orders", added=[{"key": "gold"}], event_time=at(1)),
        native.tag_event("PII", description="Old.", event_time=at(1)),
        native.tag_event("PII", description="Personal data.", event_time=at(2)),
    ]
    write_in_any_order(database, *events)
    assert node(database, ds("orders"))["tags"] == ["PII", "id:raw", "id:x"]
    rows = database.read("read/catalog/tag", urn="tag:PII")
    assert rows == [{"name": "PII", "description": "Personal data."}]


def test_an_edit_alone_is_no_observation(database: Database) -> None:
    edit = native.tag_edits_event("db", "orders", added=[{"key": "PII"}], event_time=at(20))
    deletion = native.deletion_event("db", "orders", event_time=at(0))
    write_in_any_order(database, run_at(1), edit, deletion)
    assert node(database, ds("orders"))["lastSeen"] == datetime(2026, 1, 1, 0, 1, tzinfo=UTC)


@pytest.mark.parametrize(("minute", "is_deleted"), [(3, True), (5, True), (6, False)])
def test_a_deletion_lasts_until_a_later_event(
    database: Database, minute: int, *, is_deleted: bool
) -> None:
    events = [
        run_at(1),
        run_at(minute),
        native.deletion_event("db", "orders", event_time=at(5)),
        native.deletion_event("etl", "load", is_job=True, event_time=at(5)),
        native.deletion_event("db", "orders", event_time=at(4)),
    ]
    write_in_any_order(database, *events)
    for urn in (ds("orders"), job("load")):
        assert (node(database, urn).get("deletedAt") is not None) is is_deleted


DESCRIBED = {
    "documentation": {"description": "By the producer."},
    "ownership": {"owners": [{"name": "team:load"}, {"name": "team:old"}]},
}


def described_run(minute: int) -> Event:
    event = run_event(
        f"run-{minute}", "COMPLETE", minute, job="load", outputs=[dataset("orders", DESCRIBED)]
    )
    event["job"]["facets"] = DESCRIBED
    return event


@pytest.mark.parametrize("is_job", [False, True])
def test_a_person_overrides_producers_until_that_is_withdrawn(
    database: Database, *, is_job: bool
) -> None:
    name = ("etl", "load") if is_job else ("db", "orders")
    urn = job("load") if is_job else ds("orders")

    def describe(text: str | None, minute: int) -> Event:
        return native.description_edit_event(*name, text, is_job=is_job, event_time=at(minute))

    first, second = describe("First.", 3), describe("Second.", 4)
    owners = native.owner_edits_event(
        *name, added=["ann"], removed=["team:old"], is_job=is_job, event_time=at(3)
    )
    write_in_any_order(database, described_run(1), described_run(9), first, second, owners)
    found = node(database, urn)
    assert (found["description"], found["owners"]) == ("Second.", ["team:load", "ann"])
    back = native.owner_edits_event(*name, added=["team:old"], is_job=is_job, event_time=at(5))
    write_in_any_order(
        database, described_run(1), described_run(9), first, second, owners, describe(None, 5), back
    )
    found = node(database, urn)
    assert found["description"] == "By the producer."
    assert found["owners"] == ["team:load", "team:old", "ann"]


def test_of_two_edits_at_one_instant_the_greater_text_counts(database: Database) -> None:
    edits = [
        native.description_edit_event("db", "orders", text, event_time=at(3))
        for text in ("Alpha.", "Beta.")
    ]
    write_in_any_order(database, run_at(1), *edits)
    assert node(database, ds("orders"))["description"] == "Beta."


def test_a_deprecation_is_a_tag_with_a_reason(database: Database) -> None:
    deprecation = native.deprecation_event(
        "db",
        "orders",
        reason="Use orders2.",
        replacement=ds("orders2"),
        until="2026-12-31",
        event_time=at(3),
    )
    write_in_any_order(database, run_at(1), deprecation, run_at(9))
    found = node(database, ds("orders"))
    assert "deprecated" in found["tags"]
    assert found["deprecatedAt"] == datetime(2026, 1, 1, 0, 3, tzinfo=UTC)
    assert json.loads(found["deprecation"]) == {
        "reason": "Use orders2.",
        "replacementUrn": ds("orders2"),
        "until": "2026-12-31",
    }
    withdrawn = native.deprecation_event("db", "orders", reason=None, event_time=at(4))
    write_in_any_order(database, run_at(1), deprecation, run_at(9), withdrawn)
    found = node(database, ds("orders"))
    assert "deprecated" not in found["tags"]
    assert "deprecation" not in found


def test_the_newest_approval_of_each_policy_counts(database: Database) -> None:
    def approval(minute: int, policy: str, reason: str | None, by: str = "ann") -> Event:
        return native.approval_event(
            "db", "orders", policy=policy, reason=reason, by=by, event_time=at(minute)
        )

    events = [
        run_at(1),
        approval(2, "retention", "Audit."),
        approval(3, "retention", "Case 7.", by="bob"),
        approval(4, "gate", "Agreed."),
        approval(5, "gate", None),
    ]
    write_in_any_order(database, *events)
    assert json.loads(node(database, ds("orders"))["approvals"]) == [
        {"policy": "retention", "reason": "Case 7.", "at": "2026-01-01T00:03:00Z", "by": "bob"}
    ]
    write_in_any_order(database, run_at(1), approval(2, "gate", "x"), approval(3, "gate", None))
    assert "approvals" not in node(database, ds("orders"))
