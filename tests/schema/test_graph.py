"""The labels of the graph and their documentation."""

from __future__ import annotations

from headwater.schema import graph
from headwater.schema.urns import KINDS


def test_each_kind_of_urn_has_a_label_a_node_kind_and_a_description() -> None:
    assert graph.LABELS.keys() == KINDS.keys()
    assert set(graph.LABELS.values()) == graph.NODE_KINDS.keys()
    assert graph.__doc__ is not None
    for label in graph.LABELS.values():
        assert f"| {label} |" in graph.__doc__
