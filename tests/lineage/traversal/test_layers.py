"""The layers: their directions, and the queries of the lineage graph at an instant."""

from __future__ import annotations

from dataclasses import fields

import pytest

from headwater.cypher.query_catalog import find_query
from headwater.lineage.traversal.layers import (
    CITATIONS_DOWN,
    COLUMNS_DOWN,
    COLUMNS_UP,
    DATASETS_DOWN,
    DATASETS_UP,
    RUNS_DOWN,
    RUNS_UP,
    Layer,
    at_instant,
)

LAYERS = [DATASETS_DOWN, DATASETS_UP, RUNS_DOWN, RUNS_UP, COLUMNS_DOWN, COLUMNS_UP, CITATIONS_DOWN]


@pytest.mark.parametrize("layer", [*LAYERS, at_instant(DATASETS_DOWN), at_instant(DATASETS_UP)])
def test_every_query_of_a_layer_is_in_the_catalog(layer: Layer) -> None:
    for field in fields(layer):
        value = getattr(layer, field.name)
        if isinstance(value, str) and value:
            assert find_query(value).access == "read"


def test_layer_at_an_instant_asks_for_the_instant() -> None:
    layer = at_instant(DATASETS_UP)
    assert layer.upstream
    for name in (layer.producers_or_consumers, layer.inputs_or_outputs, layer.direct_neighbours):
        assert "at" in {parameter.name for parameter in find_query(name).parameters}


def test_only_citations_have_no_hops() -> None:
    assert [layer for layer in LAYERS if not layer.has_hops] == [CITATIONS_DOWN]
