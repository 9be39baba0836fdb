"""Contracts in the fold: a function of the set of events, and no observation of the dataset."""

from __future__ import annotations

import itertools
import json
from typing import Any

from headwater.governance.contracts.compile import compile_contract, contract_event
from headwater.governance.contracts.names import NamedDataset
from headwater.ingest.fold import fold
from headwater.ingest.project import dataset_view
from headwater.schema.contracts import contract_versions
from headwater.schema.delta import join
from headwater.schema.events import parse
from headwater.schema.facts import DatasetFacts
from headwater.schema.urns import dataset_urn
from tests.event_builders import dataset_event, schema

TABLE = NamedDataset("db", "orders", "orders")
URN = dataset_urn("db", "orders")


def contract(version: str, at: str, **more: Any) -> dict[str, Any]:
    columns = [{"name": "mail", "classification": "restricted"}]
    objects = [{"name": "orders", "properties": columns}]
    document = {"id": "orders", "version": version, "schema": objects, **more}
    return contract_event(TABLE, compile_contract(document, "orders"), at)


def facts_of(*events: dict[str, Any]) -> DatasetFacts:
    return fold(parse(json.dumps(one).encode(), received=0) for one in events).datasets[URN]


def test_a_contract_in_any_order_of_events() -> None:
    events = [
        dataset_event("orders", 0, schema(mail="string")),
        contract("1", "2026-01-02T00:00:00Z"),
        contract("1", "2026-01-03T00:00:00Z", name="Orders"),
        contract("2", "2026-01-04T00:00:00Z", status="draft"),
    ]
    views = set()
    for order in itertools.permutations(events):
        facts = facts_of(*order, order[0])
        views.add(json.dumps(dataset_view(facts).node, default=repr, sort_keys=True))
        found = [(one.facet.version, one.facet.name) for one in contract_versions(facts.facets)]
        assert found == [("1", "Orders"), ("2", None)]
    assert len(views) == 1
    apart = [fold([parse(json.dumps(one).encode(), received=0)]) for one in events]
    joined = join(join(apart[3], apart[1]), join(apart[2], apart[0]))
    assert dataset_view(joined.datasets[URN]).node == dataset_view(facts_of(*events)).node


def test_a_contract_is_no_observation() -> None:
    view = dataset_view(facts_of(contract("1", "2026-01-02T00:00:00Z")))
    assert (view.node["firstSeen"], view.node["lastSeen"]) == (None, None)
    assert view.node["contracts"] == ["orders"]


def test_a_classified_column_has_a_tag() -> None:
    view = dataset_view(
        facts_of(
            dataset_event("orders", 0, schema(mail="string")),
            contract("1", "2026-01-02T00:00:00Z"),
        )
    )
    assert view.node["tags"] == ["mail:classification=restricted"]
    assert [column["tags"] for column in view.columns.values()] == [["classification=restricted"]]


def test_a_long_contract_is_kept_whole() -> None:
    columns = [{"name": f"column_{number}", "logicalType": "string"} for number in range(1_000)]
    document = {"id": "a", "version": "1", "schema": [{"name": "orders", "properties": columns}]}
    event = contract_event(TABLE, compile_contract(document, "orders"), "2026-01-02T00:00:00Z")
    [one] = contract_versions(facts_of(event).facets)
    assert len(one.facet.columns or ()) == 1_000


def test_facets_that_only_look_like_contracts() -> None:
    for content in (
        {},
        {"contractId": ["a"]},
        {"contractId": "a"},
        {"contractId": "a", "version": {}},
    ):
        view = dataset_view(facts_of(dataset_event("orders", 0, {"headwater_contract_x": content})))
        assert view.node["contracts"] is None
    huge = {"contractId": "a", "version": "1", "columns": [{"name": "x" * 300_000}]}
    [one] = contract_versions(
        facts_of(dataset_event("orders", 0, {"headwater_contract_x": huge})).facets
    )
    assert one.facet.columns is None
