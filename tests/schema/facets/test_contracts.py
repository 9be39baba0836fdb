"""The facet of a contract: readable parts of broken ones."""

from __future__ import annotations

import json

from headwater.schema.facets.contracts import ContractColumn, ContractFacet
from headwater.schema.facets.kinds import salvage


def test_broken_parts_are_left_out() -> None:
    content = {
        "contractId": "orders",
        "version": 3,
        "owners": "ann",
        "columns": [{"name": "id", "required": "yes"}, {"logicalType": "string"}],
    }
    found = salvage(ContractFacet, json.dumps(content))
    assert found == ContractFacet("orders", "3", columns=[ContractColumn("id")])
