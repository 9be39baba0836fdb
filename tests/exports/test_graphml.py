"""GraphML that networkx reads back: nodes, edges, typed properties, and only what is visible."""

from __future__ import annotations

import io

import networkx
import pytest

from headwater.exports.graphml import graphml
from headwater.exports.part import Part, find_part
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.exports.story import EVIL, LOAD
from tests.run_builders import ds, job, run_of, version

pytestmark = pytest.mark.neo4j


def read(view: GraphView, part: Part) -> networkx.DiGraph:
    text = "".join(graphml(view, part))
    return networkx.read_graphml(io.BytesIO(text.encode()))


def test_networkx_reads_the_whole_graph(story: GraphView) -> None:
    graph = read(story, find_part(story))
    assert graph.nodes[ds("clean")]["label"] == "Dataset"
    assert graph.nodes[ds("clean")]["owners"] == '["team:sales"]'
    assert graph.nodes[ds("clean")]["description"] == EVIL.replace("\x01", "\ufffd")
    assert graph.nodes["column:db:clean:id"]["current"] is True
    assert graph.nodes[run_of(LOAD)]["finishedAt"].endswith("Z")
    assert graph.edges[ds("raw"), job("load")]["label"] == "FEEDS"
    assert graph.edges[ds("raw"), job("load")]["current"] is True
    assert graph.edges[run_of(LOAD), version("clean", LOAD)]["label"] == "PRODUCED"
    assert graph.has_edge("column:db:raw:id", "column:db:clean:id")
    assert "facts" not in graph.nodes[ds("clean")]


def test_hidden_nodes_and_their_edges_are_left_out(story: GraphView) -> None:
    graph = read(story, Part(Visibility(("db",))))
    assert set(graph.nodes) == {
        *(ds("raw"), ds("clean")),
        *("column:db:raw:id", "column:db:raw:mail"),
        *("column:db:clean:id", "column:db:clean:mail", "column:db:clean:day"),
    }
    assert ("column:db:raw:id", "column:db:clean:id") in graph.edges


def test_the_lineage_of_a_node(story: GraphView) -> None:
    graph = read(story, find_part(story, urns=[ds("raw")], depth=1, direction="downstream"))
    lineage = {urn for urn in graph.nodes if not urn.startswith("column:")}
    assert lineage == {ds("raw"), job("load"), ds("clean")}
