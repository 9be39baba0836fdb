"""The graph that the page is measured with has the form of the API's answers."""

from __future__ import annotations

from graphql import FieldNode, FragmentDefinitionNode, parse

from bench.ui import NAMESPACES, graph_answer
from headwater.ui.routes import documents


def test_a_node_has_the_fields_that_the_explorer_asks() -> None:
    definitions = parse(documents()["page.Explore"]).definitions
    fragments = {
        one.name.value: one for one in definitions if isinstance(one, FragmentDefinitionNode)
    }
    asked = fragments["Drawn"].selection_set.selections
    fields = {one.name.value: one for one in asked if isinstance(one, FieldNode)}
    overview = fields["overview"].selection_set
    assert overview is not None
    node = graph_answer(60)["data"]["lineage"]["nodes"][7]
    assert set(node) == {*fields, "distance"}
    asked_of_overview = {
        one.name.value for one in overview.selections if isinstance(one, FieldNode)
    }
    assert set(node["overview"]) == asked_of_overview


def test_a_graph_has_its_size_no_cycle_and_links_between_known_nodes() -> None:
    part = graph_answer(5_000)["data"]["lineage"]
    order = {node["urn"]: index for index, node in enumerate(part["nodes"])}
    assert len(order) == 5_000
    assert len({node["namespace"] for node in part["nodes"]}) == NAMESPACES
    assert all(order[edge["source"]] < order[edge["target"]] for edge in part["edges"])
    assert part["starts"][0] in order
    assert graph_answer(5_000) == graph_answer(5_000)
