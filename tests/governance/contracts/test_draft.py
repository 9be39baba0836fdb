"""Drafts of contracts: valid by the standard, and about the dataset that they came from."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from open_data_contract_standard.model import OpenDataContractStandard

from headwater.governance.contracts.compile import compile_contract
from headwater.governance.contracts.draft import draft_contract
from headwater.governance.contracts.names import named_datasets
from headwater.governance.contracts.standard import read_document
from headwater.schema.facets.contracts import ServiceLevel

ORDERS: dict[str, Any] = {
    "namespace": "postgres://db:5432",
    "name": "shop.public.orders",
    "description": "Every order",
    "owners": ["team:sales", "ann"],
    "tags": ["certified", "freshness=36h", "mail:classification=restricted"],
    "fields": [
        {"name": "id", "type": "bigint"},
        {"name": "mail", "type": "varchar(80)"},
        {"name": "address", "type": "struct"},
        {"name": "address.city", "type": "string"},
        {"name": "lines", "type": "array<struct<sku:string>>"},
        {"name": "lines.sku", "type": "string"},
        {"name": "blob", "type": None},
    ],
}


def test_a_draft_round_trips() -> None:
    text = yaml.safe_dump(draft_contract(ORDERS))
    document = read_document(text)
    assert OpenDataContractStandard.from_string(text).id == document["id"]
    assert (document["id"], document["status"]) == ("postgres-db-5432-shop-public-orders", "draft")
    [one] = named_datasets(document)
    assert (one.namespace, one.name) == (ORDERS["namespace"], ORDERS["name"])
    facet = compile_contract(document, one.object)
    assert [owner.name for owner in facet.owners or ()] == ["team:sales", "ann"]
    assert [
        (each.name, each.logical_type, each.classification) for each in facet.columns or ()
    ] == [
        ("id", "integer", None),
        ("mail", "string", "restricted"),
        ("address", "object", None),
        ("address.city", "string", None),
        ("lines", "array", None),
        ("lines.sku", "string", None),
        ("blob", None, None),
    ]
    assert facet.service_levels == [ServiceLevel("freshness", 36, "h")]


@pytest.mark.parametrize(
    "dataset",
    [
        {"namespace": "file", "name": "/lake/orders"},
        {"namespace": "a", "name": "b", "owners": [], "tags": ["freshness=soon"], "fields": []},
        {"namespace": "é", "name": "🙂", "description": "", "fields": [{"name": "x.y"}]},
    ],
)
def test_little_is_known(dataset: dict[str, Any]) -> None:
    document = read_document(yaml.safe_dump(draft_contract(dataset), allow_unicode=True))
    [one] = named_datasets(document)
    assert (one.namespace, one.name) == (dataset["namespace"], dataset["name"])
