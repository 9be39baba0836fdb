"""The forms of lineage in the `meta` of a dbt project."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.importers.dbt.artifacts import Column, Node
from headwater.importers.dbt.declared_lineage import (
    DeclaredLineageError,
    Flow,
    Place,
    flows_of,
)


def model(lineage: Any = None, **columns: Any) -> Node:
    described = {
        name: Column(name, meta={} if of_column is None else {"lineage": of_column})
        for name, of_column in columns.items()
    }
    meta = {} if lineage is None else {"lineage": lineage}
    return Node("model.shop.m", "m", columns=described, meta=meta)


def test_upstream_and_downstream_of_a_model() -> None:
    declared = {"upstream": ["a.x"], "downstream": "b.y"}
    assert list(flows_of(model(declared, p=None, q=None))) == [
        Flow(Place("a.x"), None),
        Flow(None, Place("b.y")),
    ]
    assert [flow.column for flow in flows_of(model(declared, p=None))] == ["p", "p"]


def test_a_chain_of_a_column() -> None:
    assert list(flows_of(model(q="a.x -> b.y"))) == [
        Flow(Place("a.x"), Place("b.y"), "q"),
        Flow(Place("b.y"), None, "q"),
    ]


def test_a_place_in_another_namespace() -> None:
    place = {"namespace": "kafka://broker:9092", "name": "clicks", "field": "user"}
    assert list(flows_of(model({"upstream": [place]}))) == [
        Flow(Place("clicks", "kafka://broker:9092", "user"), None)
    ]


@pytest.mark.parametrize("declared", [3, [3], {"upstream": [3]}, {"downstream": [{"name": "x"}]}])
def test_another_form_is_refused(declared: Any) -> None:
    with pytest.raises(DeclaredLineageError, match=r"meta\.lineage must"):
        list(flows_of(model(declared)))
