"""A traversal of the run history in one statement equals the traversal hop by hop, with any
derivations, bounds and hidden nodes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.traversal.bfs import traverse
from headwater.lineage.traversal.filters import EVERY_NODE, Filter
from headwater.lineage.traversal.layers import RUNS_UP
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView
from headwater.schema.urns import answer_urn
from headwater.schema.visibility import Visibility
from tests.event_builders import dataset, run_event, source, write_batch
from tests.run_builders import Event, answer, at, run_of, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

RUNS, TABLES = 40, 10


def history(chance: random.Random) -> Iterator[Event]:
    """Draw runs over a few tables of two namespaces.

    Some outputs derive from some of the inputs, by columns or by a lineage facet. Some runs fail.
    All read earlier versions, sometimes of their own table.
    """
    for number in range(RUNS):
        inputs = chance.sample(range(TABLES), chance.randint(1, 3))
        reported = [
            source(f"t{one}", namespace=space(one))
            for one in chance.sample(inputs, chance.randint(0, len(inputs)))
        ]
        facets: Event | None = {"lineage": {"inputs": reported}} if chance.random() < 0.3 else None
        if reported and facets is None and chance.random() < 0.4:
            fields = [
                {"namespace": one["namespace"], "name": one["name"], "field": "id"}
                for one in reported
            ]
            by_column = {"fields": {"id": {"inputFields": fields}}}
            facets = {"columnLineage": by_column}
        output = chance.randrange(TABLES)
        yield run_event(
            f"r{number:02}",
            chance.choice(["COMPLETE", "COMPLETE", "COMPLETE", "FAIL"]),
            number + 1,
            job=f"j{number % 7}",
            inputs=[dataset(f"t{one}", namespace=space(one)) for one in inputs],
            outputs=[dataset(f"t{output}", facets, namespace=space(output))],
        )


def space(table: int) -> str:
    return "db" if table % 3 else "secret"


def shown(traversal: Traversal) -> tuple[object, ...]:
    return (
        sorted(traversal.nodes.items()),
        sorted(traversal.edges),
        traversal.truncated,
        sorted(traversal.resume_points.items()),
    )


@pytest.mark.parametrize(
    "visibility", [Visibility(), Visibility(("db", "etl"))], ids=["everything", "part"]
)
def test_one_statement_equals_hop_by_hop(
    database: Database, view: GraphView, visibility: Visibility
) -> None:
    write_batch(database, list(history(random.Random(1))))
    first = answer("first", "t1", "t2", minute=RUNS + 2)
    cites_it = answer("second", "t4", {"answerId": "first"}, minute=RUNS + 3)
    write_events(database, first, cites_it)
    restricted = view.visible_to(visibility)
    starts = [answer_urn("second"), *(run_of(f"r{number:02}") for number in (39, 30))]
    longest = 0
    for start in starts:
        for nodes_max, edges_max in ((9, 100), (1_000, 12), (1_000, 1_000)):
            for node_filter in (EVERY_NODE, Filter(namespaces=("db",))):
                traversals = [
                    traverse(
                        restricted,
                        TraversalRequest(
                            RUNS_UP,
                            Bounds.within(20, depth=50, nodes_max=nodes_max, edges_max=edges_max),
                            shared_rows_max=100_000,
                            filter=node_filter,
                            prefetch=prefetch,
                            find_resume_points=ends,
                        ),
                        {0: [start]},
                    )[0]
                    for prefetch, ends in ((False, True), (True, True), (True, False))
                ]
                assert shown(traversals[0]) == shown(traversals[1]), (
                    start,
                    nodes_max,
                    edges_max,
                    node_filter,
                )
                # A traversal without resume points shows the same.
                assert shown(traversals[0])[:3] == shown(traversals[2])[:3], (
                    start,
                    nodes_max,
                    edges_max,
                    node_filter,
                )
                longest = max(longest, *traversals[1].nodes.values())
    # The histories have paths of several hops.
    assert longest > 5


def test_node_properties_of_the_traversal_are_those_of_the_nodes(
    database: Database, view: GraphView
) -> None:
    write_events(database, [run_event("make", minute=1, job="j", inputs=["raw"], outputs=["made"])])
    write_events(database, [run_event("read", minute=5, job="k", inputs=["made"], outputs=["out"])])
    bounds = Bounds.within(20, depth=50, nodes_max=100, edges_max=100)
    [traversal] = traverse(
        view, TraversalRequest(RUNS_UP, bounds, prefetch=True), {0: [run_of("read")]}
    ).values()
    assert set(traversal.adjacency.properties) == set(traversal.nodes)
    assert {
        key: str(value) for key, value in traversal.adjacency.properties[run_of("make")].items()
    } == {
        "urn": run_of("make"),
        "startedAt": at(1).replace("T", " ").replace("Z", "+00:00"),
    }
    [output] = [
        row for urn, row in traversal.adjacency.properties.items() if urn.startswith("artifact:")
    ]
    assert (output["dataset"], output["complete"]) == ("dataset:db:made", True)
    assert str(output["createdAt"]) == "2026-01-01 00:01:00+00:00"
