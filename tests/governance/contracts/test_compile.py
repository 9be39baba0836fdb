"""Contracts of the standard as facets, and as events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headwater.governance.contracts.compile import compile_contract, contract_event
from headwater.governance.contracts.names import NamedDataset, named_datasets
from headwater.governance.contracts.standard import ContractError, read_file
from headwater.schema.contracts import FACET_BYTES_MAX
from headwater.schema.facets.contracts import ContractColumn, ContractRule, ServiceLevel

DOCUMENT = read_file(Path("examples/contracts/orders.odcs.yaml"))
TABLE = NamedDataset("db", "orders", "orders")
AT = "2026-01-02T00:00:00Z"


def document(**more: Any) -> dict[str, Any]:
    return {"id": "a", "version": "1", "schema": [{"name": "orders"}], **more}


def test_the_example() -> None:
    found = compile_contract(DOCUMENT, "orders")
    assert (found.contract_id, found.version, found.status) == ("shop-orders", "1.2.0", "active")
    assert found.effective_from == "2026-01-01T00:00:00Z"
    assert [owner.name for owner in found.owners or ()] == ["team:sales", "ann"]
    assert found.columns == [
        ContractColumn("id", "integer", "bigint", required=True, primary_key=True),
        ContractColumn("amount", "number", "decimal(10,2)", required=True),
        ContractColumn("mail", "string", classification="restricted"),
        ContractColumn("address", "object"),
        ContractColumn("address.city", "string"),
    ]
    assert found.rules == [
        ContractRule("rowCount", operator="mustBeBetween", values=[1000, 1000000]),
        ContractRule(None, "paid_before_shipped", operator="mustBe", values=[0]),
        ContractRule("nullValues", None, "amount", "mustBeLessThan", [1], "percent"),
    ]
    assert found.service_levels == [
        ServiceLevel("freshness", 24, "h", "operational"),
        ServiceLevel("retention", 3, "y"),
    ]
    # The freshness is that of orders.
    refunds = compile_contract(DOCUMENT, "refunds")
    assert [one.property for one in refunds.service_levels or ()] == ["retention"]


def test_the_event_has_a_facet_for_each_version() -> None:
    [first, *_] = named_datasets(DOCUMENT)
    event = contract_event(first, compile_contract(DOCUMENT, "orders"), AT)
    assert event["dataset"]["namespace"] == "postgres://DB.example.com:5432"
    [(name, facet)] = event["dataset"]["facets"].items()
    assert name.startswith("headwater_contract_")
    assert (facet["contractId"], facet["columns"][0]["name"]) == ("shop-orders", "id")
    newer = compile_contract({**DOCUMENT, "version": "1.3.0"}, "orders")
    assert set(contract_event(first, newer, AT)["dataset"]["facets"]).isdisjoint({name})


def test_the_digest_is_that_of_the_content() -> None:
    one = compile_contract(document(), "orders")
    assert one.digest == compile_contract(document(price={"priceAmount": 1}), "orders").digest
    assert one.digest != compile_contract(document(name="b"), "orders").digest


def test_older_forms_of_the_standard() -> None:
    team = [{"username": "eve", "dateOut": "2020-01-01"}, {"username": "ann"}]
    rules = [{"rule": "duplicateCount", "mustBe": 0}, {"metric": "rowCount", "mustBe": "many"}]
    found = compile_contract(
        document(team=team, schema=[{"name": "orders", "quality": rules}]), "orders"
    )
    assert [owner.name for owner in found.owners or ()] == ["ann"]
    assert found.rules == [
        ContractRule("duplicateValues", operator="mustBe", values=[0]),
        ContractRule("rowCount"),
    ]


def test_lists_of_structures() -> None:
    items = {"logicalType": "object", "properties": [{"name": "sku"}]}
    lines = {"name": "lines", "logicalType": "array", "items": items}
    found = compile_contract(document(schema=[{"name": "orders", "properties": [lines]}]), "orders")
    assert [column.name for column in found.columns or ()] == ["lines", "lines.sku"]


def test_a_contract_has_a_size() -> None:
    columns = [{"name": f"column {number} {'x' * 200}"} for number in range(1_000)]
    found = compile_contract(
        document(schema=[{"name": "orders", "properties": columns[:900]}]), "orders"
    )
    assert len(json.dumps(contract_event(TABLE, found, AT))) < FACET_BYTES_MAX
    large = compile_contract(
        document(schema=[{"name": "orders", "properties": columns * 2}]), "orders"
    )
    with pytest.raises(ContractError, match="limit"):
        contract_event(TABLE, large, AT)
    with pytest.raises(ContractError, match="no object 'others'"):
        compile_contract(document(), "others")
