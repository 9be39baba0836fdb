"""Evidence packs over HTTP: parameters that are wrong are named."""

from __future__ import annotations

import pytest

from headwater.errors import QueryError
from headwater.evidence.http import _build
from headwater.lineage.view import GraphView

VIEW = GraphView(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({}, "`urn`"),
        ({"urn": "dataset:a:b", "at": "soon"}, "at"),
        ({"urn": "dataset:a:b", "depth": "deep"}, "`depth`"),
        ({"urn": "dataset:a:b", "depth": "-1"}, "`depth`"),
        ({"urn": "dataset:a:b", "color": "red"}, "'color'"),
    ],
)
def test_a_wrong_parameter_is_named(parameters: dict[str, str], named: str) -> None:
    with pytest.raises(QueryError, match=named):
        _build(VIEW, parameters)
