"""The visibility of nodes by their namespaces, and of answers by everything that they cite."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.node_visibility import find_hidden, select_visible
from headwater.lineage.view import GraphView
from headwater.schema.urns import answer_urn, column_urn, dataset_urn, job_urn
from headwater.schema.visibility import Visibility
from tests.run_builders import answer, ds, job, run, run_of, version, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

DATA, JOBS, BOTH = Visibility(("db",)), Visibility(("etl",)), Visibility(("db", "etl"))


@pytest.fixture
def graph(database: Database, view: GraphView) -> GraphView:
    """Run r1 of job load writes a from raw; an answer cites that version, another cites nothing."""
    write_events(
        database,
        run("r1", "load", ["raw"], ["a"]),
        answer("cites", {"namespace": "db", "name": "a", "runId": "r1"}, minute=5),
        answer("cites-nothing", minute=6),
    )
    return view


def test_namespaces_decide_for_datasets_columns_and_jobs(graph: GraphView) -> None:
    urns = [ds("a"), column_urn("db", "a", "id"), job("load"), version("a", "r1")]
    assert find_hidden(graph.visible_to(DATA), urns) == {job("load")}
    assert find_hidden(graph.visible_to(JOBS), urns) == set(urns) - {job("load")}
    assert select_visible(graph.visible_to(DATA), urns) == [urns[0], urns[1], urns[3]]
    assert find_hidden(graph, urns) == set()


def test_run_is_visible_with_its_job_and_answer_with_its_citations(graph: GraphView) -> None:
    urns = [run_of("r1"), answer_urn("cites"), answer_urn("cites-nothing")]
    assert select_visible(graph.visible_to(JOBS), urns) == [run_of("r1")]
    assert select_visible(graph.visible_to(DATA), urns) == [answer_urn("cites")]
    assert select_visible(graph.visible_to(BOTH), urns) == [run_of("r1"), answer_urn("cites")]
    assert select_visible(graph, urns) == urns


def test_unknown_nodes_are_hidden_unless_their_urn_names_a_visible_namespace(
    graph: GraphView,
) -> None:
    named = [dataset_urn("db", "never"), job_urn("etl", "never")]
    unknown = [run_of("never"), answer_urn("never"), "hidden:0123456789abcdef"]
    assert find_hidden(graph.visible_to(BOTH), [*named, *unknown]) == set(unknown)
