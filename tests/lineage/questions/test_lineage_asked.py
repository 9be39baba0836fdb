"""Lineage requests: several starts, levels, filters, differences, bounds and continuations, on one
history on the real Neo4j, every result worked out by hand.

    raw -> load -> a -> build -> b -> publish -> c         all in etl, on db; a is tagged gold,
    other ------------> build       b -> report -> page    b is owned by ann
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError, QueryError
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.node_names import node_names_of
from headwater.lineage.questions.column_lineage import ColumnDerivation, column_lineage
from headwater.lineage.questions.lineage import Lineage, trace
from headwater.lineage.questions.trace_tree import trace_tree
from headwater.lineage.traversal.filters import Filter
from headwater.lineage.traversal.starts import STARTS_MAX
from headwater.lineage.view import GraphView
from headwater.schema.urns import column_urn, source_urn
from headwater.schema.visibility import Visibility
from tests.counted_database import CountedDatabase
from tests.event_builders import dataset, dataset_event, facet, job_event, run_event, write_batch
from tests.lineage_requests import lineage
from tests.run_builders import answer, ds, job, run, run_of, version, write_events

pytestmark = [pytest.mark.neo4j]


def at(minute: int) -> datetime:
    return datetime(2026, 1, 1, minute // 60, minute % 60, tzinfo=UTC)


def masked(field: str, name: str) -> dict[str, Any]:
    transformations = [{"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}]
    inputs = [{"namespace": "db", "name": name, "field": field, "transformations": transformations}]
    return {"columnLineage": facet(fields={field: {"inputFields": inputs}})}


@pytest.fixture(scope="module")
def shop(database: Database, view: GraphView, graph_driver: Any) -> Iterator[GraphView]:
    from tests.conftest import erase

    with graph_driver.session() as session:
        session.run(erase).consume()
    write_events(
        database,
        run("load-1", "load", ["raw"], ["a"], minute=0, rows=10, version="v1"),
        run("load-2", "load", ["raw"], ["a"], minute=60, rows=12, version="v2"),
        run("build-1", "build", ["a", "other"], ["b"], minute=70, derived={"b": ["a", "other"]}),
        run("publish-1", "publish", ["b"], ["c"], minute=80),
        run("report-1", "report", ["b"], ["page"], minute=90),
        answer("page-1", "page", minute=95),
    )
    tags = {
        "tags": {
            "tags": [
                {"key": "tier", "value": "gold"},
                {"key": "pii", "value": "true", "field": "id"},
            ]
        }
    }
    write_batch(
        database,
        [
            dataset_event("a", 100, tags),
            dataset_event("b", 100, {"ownership": {"owners": [{"name": "Ann"}]}}),
            job_event(
                "publish",
                100,
                facets={"jobType": facet(jobType="TASK", integration="X", processingType="B")},
            ),
            run_event(
                "mask-1",
                minute=110,
                job="mask",
                inputs=["b"],
                outputs=[dataset("safe", masked("id", "b"))],
            ),
        ],
    )
    yield view
    with graph_driver.session() as session:
        session.run(erase).consume()


def names(found: Lineage) -> set[str]:
    return {node.name for node in found.nodes}


DOWN_OF_A = {"a", "build", "b", "publish", "c", "report", "page", "mask", "safe"}


def test_every_node_has_its_distance(shop: GraphView) -> None:
    found = lineage(shop, ds("b"))
    assert {node.name: found.distances[node.urn] for node in found.nodes} == {
        "b": 0,
        **dict.fromkeys(
            ["build", "a", "other", "publish", "c", "report", "page", "mask", "safe"], 1
        ),
        **dict.fromkeys(["load", "raw"], 2),
    }
    assert (found.omitted_count, found.continuations, found.start, found.starts) == (
        0,
        [],
        ds("b"),
        [ds("b")],
    )


def test_several_starts_share_one_traversal(shop: GraphView) -> None:
    found = lineage(shop, [ds("other"), ds("c"), ds("c")], direction="UPSTREAM", depth=1)
    assert found.starts == [ds("other"), ds("c")]
    assert {node.name: found.distances[node.urn] for node in found.nodes} == {
        "other": 0,
        "c": 0,
        "publish": 1,
        "b": 1,
    }
    assert names(
        lineage(shop, [ds("raw"), job("publish")], direction="DOWNSTREAM")
    ) == DOWN_OF_A | {"raw", "load"}


def test_starts_that_cannot_be_combined(shop: GraphView) -> None:
    with pytest.raises(QueryError, match="layers"):
        lineage(shop, [ds("a"), run_of("load-1")])
    assert names(lineage(shop, [ds("a"), run_of("load-1")], level="dataset_and_job", depth=1)) >= {
        "a",
        "load",
        "raw",
    }
    for urns in ([], [ds("a")] * (STARTS_MAX + 1)):
        with pytest.raises(QueryError, match="starts from"):
            lineage(shop, urns)
    with pytest.raises(NotFoundError):
        lineage(shop, [ds("a"), ds("unknown")])


def test_levels_lead_to_other_layers(shop: GraphView) -> None:
    runs = lineage(shop, job("load"), level="RUN", direction="DOWNSTREAM", depth=1)
    assert runs.starts == [run_of("load-2"), run_of("load-1")]
    assert {version("a", "load-1"), version("a", "load-2")} <= runs.distances.keys()
    early = Filter(until=at(30))
    assert lineage(shop, job("load"), level="RUN", filter=early).starts == [run_of("load-1")]
    assert lineage(shop, ds("a"), level="RUN", filter=early).starts == [version("a", "load-1")]
    assert lineage(shop, ds("raw"), level="RUN").starts == [source_urn("db", "raw")]
    columns = lineage(shop, ds("b"), level="COLUMN")
    assert columns.starts == [column_urn("db", "b", "id")]
    assert names(columns) == {"b.id", "a.id", "other.id", "safe.id"}
    assert lineage(shop, job("build"), level="COLUMN").starts == columns.starts
    for urn in (run_of("load-1"), version("a", "load-1"), source_urn("db", "raw")):
        assert set(lineage(shop, urn, level="DATASET_AND_JOB").starts) <= {
            job("load"),
            ds("a"),
            ds("raw"),
        }
    assert lineage(shop, "answer:page-1", level="DATASET_AND_JOB").starts == [ds("page")]


def test_a_level_without_nodes(shop: GraphView) -> None:
    with pytest.raises(NotFoundError, match="no columns"):
        lineage(shop, ds("page"), level="COLUMN")
    with pytest.raises(NotFoundError, match="no versions or runs"):
        lineage(shop, ds("a"), level="RUN", filter=Filter(since=at(500)))
    with pytest.raises(QueryError, match="asOf"):
        lineage(shop, ds("a"), level="RUN", as_of=at(5))


@pytest.mark.parametrize(
    ("node_filter", "reached"),
    [
        (Filter(tags=("tier",)), {"b", "build", "a", "load"}),
        (Filter(tags=("tier=gold",)), {"b", "build", "a", "load"}),
        (Filter(tags=("tier=silver",)), {"b", "build"}),
        (Filter(owners=("ann",)), {"b", "build"}),
        (Filter(namespaces=("d*",)), {"b", "build", "a", "load", "raw", "other"}),
        (Filter(namespaces=("s3*",)), {"b", "build"}),
        (Filter(job_namespaces=("etl",)), {"b", "build", "a", "load", "raw", "other"}),
        (Filter(job_namespaces=("x",)), {"b"}),
        (Filter(job_types=("TASK",)), {"b"}),
        (Filter(since=at(65)), {"b", "build", "a", "other"}),
        (Filter(until=at(65)), {"b"}),
    ],
)
def test_filtered_nodes_end_the_traversal(
    shop: GraphView, node_filter: Filter, reached: set[str]
) -> None:
    assert names(lineage(shop, ds("b"), direction="UPSTREAM", filter=node_filter)) == reached


def test_filters_downstream_and_in_history(shop: GraphView) -> None:
    assert names(
        lineage(shop, ds("b"), direction="DOWNSTREAM", filter=Filter(job_types=("task",)))
    ) == {
        "b",
        "publish",
        "c",
    }
    late = lineage(
        shop, version("b", "build-1"), direction="DOWNSTREAM", filter=Filter(since=at(85))
    )
    assert set(late.distances) == {
        version("b", "build-1"),
        run_of("report-1"),
        version("page", "report-1"),
        run_of("mask-1"),
        version("safe", "mask-1"),
        "answer:page-1",
    }
    up = lineage(
        shop, column_urn("db", "b", "id"), direction="UPSTREAM", filter=Filter(tags=("pii",))
    )
    assert names(up) == {"b.id", "a.id"}, "a column has the tags of its field"


def test_a_filter_costs_a_statement_per_layer(shop: GraphView) -> None:
    counted = CountedDatabase(shop.database)
    lineage(
        GraphView(counted), ds("raw"), direction="DOWNSTREAM", filter=Filter(namespaces=("db",))
    )
    # Five layers of jobs and datasets, independent of their contents.
    assert counted.queries.count("read/nodes/filter_properties") <= 8


def test_filters_that_are_refused() -> None:
    with pytest.raises(QueryError, match="since"):
        Filter(since=at(9), until=at(8))
    with pytest.raises(QueryError, match="values"):
        Filter(tags=("",))


def test_a_difference_between_two_instants(shop: GraphView) -> None:
    early, late = at(65), at(75)
    found = lineage(shop, ds("a"), between=(early, late))
    assert found.difference is not None
    assert {node.name for node in found.difference.added_nodes} == {"build", "b"}
    assert found.difference.removed_nodes == []
    assert set(found.difference.added_edges) == {
        Edge(ds("a"), job("build"), "FEEDS"),
        Edge(job("build"), ds("b"), "PRODUCED"),
    }
    back = lineage(shop, ds("a"), between=(late, early)).difference
    assert back is not None
    assert (back.removed_nodes, back.removed_edges) == (
        found.difference.added_nodes,
        found.difference.added_edges,
    )
    assert (back.added_nodes, back.added_edges) == ([], [])
    with pytest.raises(QueryError, match="between"):
        lineage(shop, ds("a"), between=(early, late), as_of=early)


def test_earlier_plus_added_minus_removed_is_later(shop: GraphView) -> None:
    instants = [at(minute) for minute in (0, 1, 61, 71, 81, 91, 111)]
    for start in (ds("b"), job("load")):
        lineages = {instant: lineage(shop, start, as_of=instant) for instant in instants}
        for before in instants:
            for later in instants:
                found = lineage(shop, start, between=(before, later)).difference
                assert found is not None
                appeared = {node.urn for node in found.added_nodes}
                vanished = {node.urn for node in found.removed_nodes}
                assert (
                    lineages[later].distances.keys()
                    == (lineages[before].distances.keys() | appeared) - vanished
                )
                edges = set(lineages[before].edges) | set(found.added_edges)
                assert set(lineages[later].edges) == edges - set(found.removed_edges)


def test_omitted_nodes_are_counted_and_shown_on_request(shop: GraphView) -> None:
    options: dict[str, Any] = {"direction": "DOWNSTREAM", "depth": 1}
    found = lineage(shop, ds("a"), **options)
    assert (names(found), found.reason, found.omitted_count) == ({"a", "build", "b"}, "depth", 3)
    (continuations,) = found.continuations
    assert (continuations.urn, continuations.omitted_count) == (ds("b"), 3)
    more = lineage(shop, ds("a"), after=continuations.cursor, **options)
    assert {node.name: more.distances[node.urn] for node in more.nodes} == {
        "b": 1,
        **dict.fromkeys(["publish", "c", "report", "page", "mask", "safe"], 2),
    }
    assert (more.reason, more.continuations) == ("", [])


def test_a_continuation_shows_only_new_nodes(shop: GraphView) -> None:
    options: dict[str, Any] = {"direction": "DOWNSTREAM", "nodes_max": 3}
    shown: list[set[str]] = []
    after = None
    while True:
        found = lineage(shop, ds("b"), after=after, **options)
        shown.append(names(found) - {"b"})
        ends = [one for one in found.continuations if one.urn == ds("b")]
        if not ends:
            break
        assert found.reason == "nodes"
        after = ends[0].cursor
    assert shown == [{"mask", "safe"}, {"publish", "c"}, {"report", "page"}]


def test_a_cursor_belongs_to_its_question(shop: GraphView) -> None:
    (continuations,) = lineage(shop, ds("a"), direction="DOWNSTREAM", depth=1).continuations
    for direction, depth in (("UPSTREAM", 1), ("DOWNSTREAM", 2)):
        with pytest.raises(QueryError, match="another question"):
            lineage(shop, ds("a"), direction=direction, depth=depth, after=continuations.cursor)
    for bad in ("nonsense", "e30=", continuations.cursor[:-8], "WzEsMl0="):
        with pytest.raises(QueryError, match="cursor"):
            lineage(shop, ds("a"), direction="DOWNSTREAM", depth=1, after=bad)


def test_a_reader_of_jobs_only_sees_their_connection(shop: GraphView) -> None:
    jobs = shop.visible_to(Visibility(("etl",)))
    found = lineage(jobs, job("load"), direction="DOWNSTREAM")
    assert {node.name for node in found.nodes if node.kind != "HIDDEN"} == {
        "load",
        "build",
        "publish",
        "report",
        "mask",
    }
    stubs = [node for node in found.nodes if node.kind == "HIDDEN"]
    assert {(node.namespace, node.name) for node in stubs} == {(None, "hidden")}
    text = repr(found)
    assert not any(
        ds(name) in text or f"'{name}'" in text
        for name in ("a", "b", "c", "raw", "page", "other", "safe")
    )
    shallow = lineage(jobs, job("load"), direction="DOWNSTREAM", depth=1)
    assert (shallow.reason, shallow.omitted_count) == ("depth", 0), "what is hidden is not counted"
    # The answer does not show which hidden path continues.
    on = {continuations.urn: continuations.cursor for continuations in shallow.continuations}
    assert on.keys() == {job("load"), job("build")}
    more = lineage(jobs, job("load"), direction="DOWNSTREAM", depth=1, after=on[job("build")])
    assert {node.name for node in more.nodes if node.kind != "HIDDEN"} == {
        "build",
        "publish",
        "report",
        "mask",
    }
    assert more.distances[job("publish")] == 2


def test_a_hidden_start_is_not_found(shop: GraphView) -> None:
    jobs = shop.visible_to(Visibility(("etl",)))
    with pytest.raises(NotFoundError) as hidden:
        lineage(jobs, ds("a"))
    with pytest.raises(NotFoundError) as missing:
        lineage(jobs, ds("z"))
    assert str(hidden.value).replace(":a", ":z") == str(missing.value)
    with pytest.raises(NotFoundError, match="no columns"):
        lineage(jobs, job("build"), level="COLUMN")


def test_a_filter_does_not_apply_to_hidden_nodes(shop: GraphView) -> None:
    jobs = shop.visible_to(Visibility(("etl",)))
    plain = lineage(jobs, job("load"), direction="DOWNSTREAM")
    for node_filter in (
        Filter(tags=("tier",)),
        Filter(namespaces=("x",)),
        Filter(owners=("nobody",)),
    ):
        assert lineage(jobs, job("load"), direction="DOWNSTREAM", filter=node_filter) == plain


def test_transformations_of_columns(shop: GraphView) -> None:
    found = column_lineage(shop, "db", "b", "id")
    assert found.derivations[
        Edge(column_urn("db", "a", "id"), column_urn("db", "b", "id"), "FEEDS")
    ] == [ColumnDerivation(job("build"), ["DIRECT"], dataset_level=False)]
    (derivation,) = found.derivations[
        Edge(column_urn("db", "b", "id"), column_urn("db", "safe", "id"), "FEEDS")
    ]
    assert (derivation.job, derivation.transformations, derivation.masked) == (
        job("mask"),
        ["DIRECT:TRANSFORMATION:masked"],
        True,
    )
    assert found.lineage.distances[column_urn("db", "a", "id")] == 1
    data = column_lineage(shop.visible_to(Visibility(("db",))), "db", "b", "id")
    derivations = chain(*data.derivations.values())
    assert {derivation.job for derivation in derivations} == {None}, "hidden jobs are not named"
    assert data.lineage.distances == found.lineage.distances
    with pytest.raises(NotFoundError):
        column_lineage(shop, "db", "b", "unknown")


def test_a_trace_shows_hidden_versions_as_stubs(shop: GraphView) -> None:
    complete = trace(shop, "page-1")
    assert {row["version"] for row in complete.runs if row["pipelineName"] == "load"} == {"v2"}
    assert len(complete.rows) == len(set(chain.from_iterable(edge[:2] for edge in complete.edges)))
    part = trace(shop.visible_to(Visibility(("db",))), "page-1")
    assert part.runs == []
    assert {row["urn"] for row in part.artifacts} == {row["urn"] for row in complete.artifacts}
    assert "run:" not in repr(part.edges)
    branches = trace_tree(part.answer["urn"], part.edges)
    urns = [branch.urn for branch in branches]
    kinds = [node.kind for node in node_names_of(urns, part.rows)]
    assert (kinds[0], kinds[1], kinds[2]) == ("ANSWER", "ARTIFACT", "HIDDEN")
    assert {branch.urn for branch in branches} == set(
        chain.from_iterable(edge[:2] for edge in part.edges)
    )
