"""Subjects as topics: columns, versions as contracts, and what the graph has already."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.governance.contracts.evaluate import violations_of
from headwater.importers.report import ImportReport
from headwater.importers.schema_registry.client import SchemaRegistry
from headwater.importers.schema_registry.importer import RegistryOptions, read_registry
from headwater.ingest.fold import fold
from headwater.ingest.project import dataset_view
from headwater.schema.contracts import contract_versions
from headwater.schema.events import parse
from headwater.schema.urns import dataset_urn
from tests.governance.contracts.contracts import observed, seen
from tests.importers.schema_registry.registries import Subjects, served

NOW = datetime(2026, 1, 2, tzinfo=UTC)
BROKER = "kafka://broker:9092"


def avro(**types: str) -> dict[str, Any]:
    fields = [{"name": name, "type": type} for name, type in types.items()]
    return {"schema": json.dumps({"type": "record", "name": "R", "fields": fields})}


SUBJECTS: Subjects = {
    "orders-value": [avro(id="long"), avro(id="long", mail="string")],
    "orders-key": [{"schema": '"string"'}],
    "shop.Order": [avro(id="long")],
    "lonely-key": [{"schema": '"string"'}],
    "broken-value": [{"schema": "{"}, {"schema": '"int"'}],
}


def read(
    subjects: Subjects,
    known: set[tuple[str, str | None]] | None = None,
    minute: int = 0,
    topics: dict[str, list[str]] | None = None,
) -> tuple[list[dict[str, Any]], ImportReport]:
    report = ImportReport()
    at = NOW + timedelta(minutes=minute)
    options = RegistryOptions(BROKER, at, lambda *_: known or set(), topics or {})
    with served(subjects) as url:
        events = list(read_registry(SchemaRegistry(url), options, report))
    return events, report


def test_topics_and_what_was_passed_over() -> None:
    events, report = read(SUBJECTS)
    names = [(event["dataset"]["name"], event["eventTime"]) for event in events]
    assert names == [
        ("broken", "2026-01-02T00:00:00.000001Z"),
        ("orders", "2026-01-02T00:00:00Z"),
        ("orders", "2026-01-02T00:00:00.000001Z"),
    ]
    assert report.counts == {"subjects": 5, "versions": 3}
    assert [problem.place for problem in report.problems] == ["broken-value version 1"]
    assert [note.partition(" names")[0].partition(" has")[0] for note in report.notes] == [
        "subject 'lonely-key'",
        "subject 'shop.Order'",
    ]


def test_the_columns_and_the_contract_of_a_topic() -> None:
    events, _ = read(SUBJECTS)
    delta = fold(parse(json.dumps(one).encode(), received=0) for one in reversed(events))
    facts = delta.datasets[dataset_urn(BROKER, "orders")]
    assert dataset_view(facts).node["columns"] == ["id", "mail", "__key"]
    old, new = contract_versions(facts.facets)
    assert (old.facet.contract_id, old.facet.version) == ("registry:orders-value", "1")
    assert new.facet.name == "AVRO schema 102 of orders-value"
    assert new.facet.allowed == ["__key", "id", "mail"]
    assert (old.end, new.end) == (new.begin, None)


def test_versions_that_the_graph_has_are_not_sent_again() -> None:
    events, _ = read(SUBJECTS)
    facets = [
        facet
        for event in events
        for name, facet in event["dataset"]["facets"].items()
        if name.startswith("headwater_contract_")
    ]
    known = {(facet["version"], facet["digest"]) for facet in facets}
    again, report = read(SUBJECTS, known, minute=5)
    assert again == []
    assert report.counts["unchanged"] == 3
    more = {**SUBJECTS, "orders-value": [*SUBJECTS["orders-value"], avro(id="long", city="string")]}
    [new] = read(more, known, minute=5)[0]
    assert new["eventTime"] == "2026-01-02T00:05:00.000002Z"


def test_a_producer_that_writes_what_is_not_registered() -> None:
    events, _ = read(SUBJECTS)
    delta = fold(parse(json.dumps(one).encode(), received=0) for one in events)
    versions = contract_versions(delta.datasets[dataset_urn(BROKER, "orders")].facets)
    now = NOW + timedelta(days=60)
    older = observed(seen(0, fields={"id": "bigint"}))
    assert violations_of(versions, older, now) == []
    wrong = observed(seen(0, fields={"id": "bigint", "phone": "string"}))
    [one] = violations_of(versions, wrong, now)
    assert (one.clause.kind, one.actual, one.run) == ("registered", "unregistered: phone", "run:0")
    narrower = observed(seen(0, fields={"id": "string"}))
    assert [one.clause.kind for one in violations_of(versions, narrower, now)] == ["type"]


def record(name: str, **types: str) -> dict[str, Any]:
    fields = [{"name": field, "type": type} for field, type in types.items()]
    schema = {"type": "record", "name": name, "namespace": "shop", "fields": fields}
    return {"schema": json.dumps(schema)}


RECORDS: Subjects = {
    "my-events-shop.Order": [record("Order", id="long"), record("Order", id="long", sum="double")],
    "my-events-shop.Refund": [record("Refund", id="string", reason="string")],
    "my-events-key": [{"schema": '"string"'}],
}


def contracts_in(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        facet
        for event in events
        for name, facet in event["dataset"]["facets"].items()
        if name.startswith("headwater_contract_")
    ]


def test_a_topic_of_several_records() -> None:
    events, report = read(RECORDS)
    assert {event["dataset"]["name"] for event in events} == {"my-events"}
    assert events[-1]["dataset"]["facets"]["schema"]["fields"] == [
        {"name": "id", "type": "union"},
        {"name": "sum", "type": "double"},
        {"name": "reason", "type": "string"},
        {"name": "__key", "type": "string"},
    ]
    found = contracts_in(events)
    assert [(one["contractId"], one["version"]) for one in found] == [
        ("registry:my-events-shop.Order", "1"),
        ("registry:my-events-shop.Order", "2"),
        ("registry:my-events-shop.Refund", "1"),
    ]
    # `id` has another type in each record, so neither contract promises one.
    assert [[column["name"] for column in one["columns"]] for one in found] == [
        ["__key"],
        ["sum", "__key"],
        ["reason", "__key"],
    ]
    assert found[0]["allowed"] == ["__key", "id", "reason"]
    assert found[1]["allowed"] == found[2]["allowed"] == ["__key", "id", "reason", "sum"]
    assert report.problems == [] == [one for one in report.notes if "record" in one]
    delta = fold(parse(json.dumps(one).encode(), received=0) for one in events)
    versions = contract_versions(delta.datasets[dataset_urn(BROKER, "my-events")].facets)
    refund = observed(seen(0, fields={"id": "string", "reason": "string"}))
    now = NOW + timedelta(days=60)
    assert violations_of(versions, refund, now) == []
    wrong = observed(seen(0, fields={"id": "string", "phone": "string"}))
    assert {one.contract_id for one in violations_of(versions, wrong, now)} == {
        "registry:my-events-shop.Order",
        "registry:my-events-shop.Refund",
    }


def test_only_the_newest_version_of_a_record_is_sent_again() -> None:
    known = {
        (one["version"], one["digest"])
        for one in contracts_in(read(RECORDS)[0])
        if one["contractId"].endswith("Order")
    }
    more = {**RECORDS, "my-events-shop.Refund": [record("Refund", id="string", note="string")]}
    events, _ = read(more, known, minute=5)
    # Known are the versions of one record, and 1 of them is a version of the other, too.
    assert [(one["contractId"][-5:], one["version"]) for one in contracts_in(events)] == [
        ("Order", "2"),
        ("efund", "1"),
    ]


def test_a_record_in_the_topics_that_the_caller_names() -> None:
    subjects: Subjects = {"shop.Order": [record("Order", id="long")]}
    events, report = read(subjects, topics={"shop.Order": ["orders", "returns"]})
    assert [event["dataset"]["name"] for event in events] == ["orders", "returns"]
    assert report.notes == []
    events, report = read(subjects)
    assert events == []
    [note] = report.notes
    assert note.startswith("subject 'shop.Order' names a record and no topic; give its topic with")
    assert note.endswith("--topic shop.Order=TOPIC")
    both: Subjects = {**RECORDS, "my-events-value": [avro(id="long")]}
    events, report = read(both)
    assert [one["contractId"] for one in contracts_in(events)] == ["registry:my-events-value"]
    assert "is passed over: its topic has a value" in report.notes[0]
