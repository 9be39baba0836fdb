"""The labels of the graph and their documentation."""

from __future__ import annotations

from headwater.schema import graph
from headwater.schema.urns import KINDS
from tests.repo.repository import text

TYPES = {
    "STRING",
    "INTEGER",
    "FLOAT",
    "BOOLEAN",
    "ZONED DATETIME",
    "LIST<FLOAT>",
    "LIST<INTEGER>",
    "LIST<ZONED DATETIME>",
    "LIST<STRING>",
    "BYTES",
}


def test_each_kind_of_urn_has_a_label_a_node_kind_and_a_description() -> None:
    assert graph.LABELS.keys() == KINDS.keys()
    assert set(graph.LABELS.values()) == graph.NODE_KINDS.keys()
    described = {label.name for label in graph.load_graph_types().labels}
    assert graph.NODE_KINDS.keys() <= described


def test_each_property_has_a_type_a_meaning_and_an_example() -> None:
    found = graph.load_graph_types()
    labels = {label.name for label in found.labels}
    every: list[graph.Label | graph.EdgeType] = [*found.labels, *found.edges]
    for described in every:
        names = [one.name for one in described.properties]
        assert len(names) == len(set(names)), described
        assert described.meaning.endswith("."), described
        for one in described.properties:
            assert one.type in TYPES, one
            assert one.meaning.endswith("."), one
            assert one.example or one.name in {"facts", "reportedUrns"}, one
    for edge in found.edges:
        assert {*edge.source, *edge.target} <= labels, edge


def test_the_page_has_each_label_property_and_edge() -> None:
    page = text("docs/reference/graph.md")
    found = graph.load_graph_types()
    for label in found.labels:
        section = page.partition(f"### {label.name}\n")[2].partition("\n### ")[0]
        for one in label.properties:
            assert f"| `{one.name}` | {one.type} |" in section, (label.name, one.name)
    for edge in found.edges:
        title = f"### ({' or '.join(edge.source)}) -[{edge.type}]-> ({' or '.join(edge.target)})\n"
        section = page.partition(title)[2].partition("\n### ")[0]
        assert edge.meaning in section, title
        for one in edge.properties:
            assert f"| `{one.name}` | {one.type} |" in section, (title, one.name)
