"""Reads of nodes: their properties, their names, and the canonical urn behind an alias."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError
from headwater.lineage.node_names import NodeName
from headwater.lineage.nodes import name_nodes, read_nodes, require_node, resolve_urn
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets
from headwater.schema.urns import column_urn
from headwater.schema.visibility import Visibility
from tests.run_builders import at, ds, job, run, run_of, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


@pytest.fixture
def graph(database: Database, view: GraphView) -> GraphView:
    """Job load writes a; `alias` is another name of a."""
    same = [{"namespace": "db", "name": "alias"}]
    event = headwater_facets.symlinks_event(
        {"namespace": "db", "name": "a"}, same=same, event_time=at(20)
    )
    write_events(database, run("r1", "load", ["raw"], ["a"]), [event])
    return view


def test_only_visible_nodes_that_exist_are_read(graph: GraphView) -> None:
    urns = [ds("a"), job("load"), ds("never")]
    assert set(read_nodes(graph, urns)) == {ds("a"), job("load")}
    assert set(read_nodes(graph.visible_to(Visibility(("db",))), urns)) == {ds("a")}
    assert read_nodes(graph, [ds("a")])[ds("a")]["name"] == "a"


def test_alias_resolves_to_the_canonical_urn(graph: GraphView) -> None:
    assert resolve_urn(graph, ds("alias")) == ds("a")
    assert resolve_urn(graph, column_urn("db", "alias", "id")) == column_urn("db", "a", "id")
    assert resolve_urn(graph, job("load")) == job("load")
    hidden = graph.visible_to(Visibility(("etl",)))
    assert resolve_urn(hidden, ds("alias")) == ds("alias"), "a hidden alias leads nowhere"


def test_required_node_is_found_by_any_name(graph: GraphView) -> None:
    assert require_node(graph, ds("alias"))["urn"] == ds("a")
    with pytest.raises(NotFoundError, match="there is no dataset"):
        require_node(graph, ds("never"))


def test_names_come_in_the_order_given(graph: GraphView) -> None:
    names = name_nodes(graph, [run_of("r1"), ds("never"), job("load")])
    assert names == [
        NodeName(run_of("r1"), "PIPELINE_RUN", "etl", "load"),
        NodeName(ds("never"), "DATASET", "db", "never"),
        NodeName(job("load"), "JOB", "etl", "load"),
    ]
