"""Traversals of the lineage graph, the run history and columns on the real Neo4j; every result
worked out by hand.
"""

from __future__ import annotations

from itertools import product

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError, QueryError
from headwater.lineage.questions.lineage import trace
from headwater.lineage.view import GraphView
from headwater.schema.urns import answer_urn, column_urn, dataset_urn, job_urn, source_urn
from tests.counted_database import CountedDatabase
from tests.lineage_requests import lineage
from tests.run_builders import (
    FACET,
    answer,
    at,
    column_lineage,
    ds,
    job,
    run,
    run_of,
    version,
    write_events,
)

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


def names(view: GraphView, urn: str, direction: str, depth: int = 10) -> set[str]:
    return {node.name for node in lineage(view, urn, direction=direction, depth=depth).nodes}


@pytest.fixture
def diamond(database: Database, view: GraphView) -> GraphView:
    """Build a -> left -> b, a -> right -> c, (b, c) -> join -> d."""
    write_events(
        database,
        run("r1", "left", ["a"], ["b"]),
        run("r2", "right", ["a"], ["c"]),
        run("r3", "join", ["b", "c"], ["d"], minute=5),
    )
    return view


def test_diamond_is_traversed_once(diamond: GraphView) -> None:
    found = lineage(diamond, ds("a"), direction="DOWNSTREAM")
    assert [node.urn for node in found.nodes] == [
        ds("a"),
        *sorted([ds("b"), ds("c"), job("left"), job("right")]),
        *sorted([ds("d"), job("join")]),
    ]
    assert {tuple(edge) for edge in found.edges} == {
        (ds("a"), job("left"), "FEEDS"),
        (ds("a"), job("right"), "FEEDS"),
        (job("left"), ds("b"), "PRODUCED"),
        (job("right"), ds("c"), "PRODUCED"),
        (ds("b"), job("join"), "FEEDS"),
        (ds("c"), job("join"), "FEEDS"),
        (job("join"), ds("d"), "PRODUCED"),
    }
    assert not found.truncated


def test_upstream_has_the_same_edges(diamond: GraphView) -> None:
    down = lineage(diamond, ds("a"), direction="DOWNSTREAM")
    up = lineage(diamond, ds("d"), direction="UPSTREAM")
    assert up.edges == down.edges
    assert {node.urn for node in up.nodes} == {node.urn for node in down.nodes}


def test_both_is_up_and_down_but_not_sideways(diamond: GraphView) -> None:
    assert names(diamond, ds("b"), "BOTH") == {"a", "left", "b", "join", "d"}


def test_a_hop_crosses_one_job(diamond: GraphView) -> None:
    assert names(diamond, ds("d"), "UPSTREAM", 1) == {"d", "join", "b", "c"}
    assert names(diamond, job("join"), "UPSTREAM", 1) == {"join", "b", "c"}
    assert names(diamond, job("join"), "DOWNSTREAM", 1) == {"join", "d"}
    assert names(diamond, job("left"), "DOWNSTREAM", 1) == {"left", "b"}


def test_a_depth_that_omits_nodes_is_reported(diamond: GraphView) -> None:
    shallow = lineage(diamond, ds("d"), direction="UPSTREAM", depth=1)
    assert (shallow.truncated, shallow.reason) == (True, "depth")
    assert not lineage(diamond, ds("d"), direction="UPSTREAM", depth=2).truncated


def test_cycle_ends(database: Database, view: GraphView) -> None:
    write_events(
        database, run("r1", "there", ["x"], ["y"]), run("r2", "back", ["y"], ["x"], minute=3)
    )
    found = lineage(view, ds("x"), direction="DOWNSTREAM")
    assert {node.name for node in found.nodes} == {"x", "y", "there", "back"}
    assert len(found.edges) == 4
    assert not found.truncated
    assert lineage(view, ds("x"), direction="UPSTREAM").edges == found.edges


def test_a_job_that_reads_its_own_output(database: Database, view: GraphView) -> None:
    write_events(database, run("r1", "append", ["t"], ["t"]))
    assert names(view, ds("t"), "BOTH") == {"t", "append"}


@pytest.fixture
def narrow(database: Database, view: GraphView) -> GraphView:
    """Build split, which reads a and b: x derives from a, y from b, z has no derivations. Another
    job makes x from b.
    """
    write_events(
        database,
        run("r1", "split", ["a", "b"], ["x", "y", "z"], derived={"x": ["a"], "y": ["b"]}),
        run("r2", "other", ["b"], ["x"], minute=3),
    )
    return view


@pytest.mark.parametrize(
    ("start", "direction", "reached"),
    [
        ("a", "DOWNSTREAM", {"a", "split", "x", "z"}),
        ("b", "DOWNSTREAM", {"b", "split", "y", "z", "other", "x"}),
        ("x", "UPSTREAM", {"x", "split", "a", "other", "b"}),
        ("y", "UPSTREAM", {"y", "split", "b"}),
        ("z", "UPSTREAM", {"z", "split", "a", "b"}),
    ],
)
def test_an_output_derives_only_from_its_reported_inputs(
    narrow: GraphView, start: str, direction: str, reached: set[str]
) -> None:
    assert names(narrow, ds(start), direction) == reached


def test_narrowing_is_per_job(narrow: GraphView) -> None:
    edges = {tuple(edge) for edge in lineage(narrow, ds("b"), direction="DOWNSTREAM").edges}
    assert (job("other"), ds("x"), "PRODUCED") in edges
    assert (job("split"), ds("x"), "PRODUCED") not in edges


def test_narrowing_in_history(narrow: GraphView) -> None:
    found = lineage(narrow, version("y", "r1"), direction="UPSTREAM")
    assert {node.urn for node in found.nodes} == {
        version("y", "r1"),
        run_of("r1"),
        source_urn("db", "b"),
    }
    down = lineage(narrow, source_urn("db", "a"), direction="DOWNSTREAM")
    assert {node.urn for node in down.nodes} == {
        source_urn("db", "a"),
        run_of("r1"),
        version("x", "r1"),
        version("z", "r1"),
        # Another job wrote it next, in an unknown mode: the content of the first may be there.
        version("x", "r2"),
    }


def test_both_directions_agree_on_every_pair(narrow: GraphView) -> None:
    write_events(
        narrow.database,
        run("r3", "mix", ["x", "y", "z"], ["m", "n"], minute=6, derived={"m": ["y"]}),
    )
    everything = ["a", "b", "x", "y", "z", "m", "n"]
    pairs = list(product(everything, repeat=2))
    down = {(s, t) for s, t in pairs if t in names(narrow, ds(s), "DOWNSTREAM")}
    up = {(s, t) for s, t in pairs if s in names(narrow, ds(t), "UPSTREAM")}
    assert down == up
    assert ("a", "n") in down
    assert ("a", "m") not in down


def test_reached_bounds_are_reported_and_edges_join_returned_nodes(
    database: Database, view: GraphView
) -> None:
    write_events(database, *(run(f"r{n}", f"job{n}", ["hub"], [f"out{n}"]) for n in range(30)))
    for bound, options in {
        "nodes": {"nodes_max": 10},
        "edges": {"edges_max": 10},
        "time": {"timeout_seconds": 0.0},
    }.items():
        found = lineage(view, ds("hub"), direction="DOWNSTREAM", **options)  # type: ignore[arg-type]
        assert found.reason == bound
        urns = {node.urn for node in found.nodes}
        assert all(edge.source in urns and edge.target in urns for edge in found.edges)
        assert len(urns) <= 11
    assert not lineage(view, ds("hub"), direction="DOWNSTREAM").truncated


def test_names_of_any_kind(database: Database, view: GraphView) -> None:
    odd = "s3://söme bucket/päth:with:colons/日本語?a=1&b=%20#x"
    write_events(database, run("r:1/ü", "jöb:with:colons", [odd], ["plain", "x" * 3_000]))
    found = lineage(view, ds(odd), direction="DOWNSTREAM")
    assert {(node.kind, node.namespace, node.name) for node in found.nodes} == {
        ("DATASET", "db", odd),
        ("JOB", "etl", "jöb:with:colons"),
        ("DATASET", "db", "plain"),
        ("DATASET", "db", "x" * 3_000),
    }


def test_refused_questions(database: Database, view: GraphView) -> None:
    write_events(database, run("r1", "j", ["a"], ["b"]))
    for depth in (0, -1, 51, 1_000):
        with pytest.raises(QueryError, match="depth"):
            lineage(view, ds("a"), depth=depth)
    with pytest.raises(QueryError, match="urn"):
        lineage(view, "nothing:of:the:kind")
    with pytest.raises(NotFoundError):
        lineage(view, dataset_urn("db", "unknown"))
    with pytest.raises(NotFoundError):
        lineage(view, job_urn("etl", "unknown"))
    with pytest.raises(NotFoundError):
        trace(view, "unknown")


@pytest.fixture
def answered(database: Database, view: GraphView) -> GraphView:
    write_events(
        database,
        run("r1", "clean", ["raw1", "raw2"], ["clean"], minute=0),
        run(
            "r2",
            "mart",
            ["clean", "raw3"],
            ["mart", "other"],
            minute=10,
            derived={"mart": ["clean"], "other": ["raw3"]},
        ),
        run("r3", "mart", ["clean", "raw3"], ["mart"], minute=20),
        answer("first", "mart", minute=15, content="eleven"),
        answer(
            "second",
            {"answerId": "first"},
            {"namespace": "db", "name": "raw1", "field": "id"},
            minute=16,
        ),
    )
    return view


def test_trace_goes_back_to_the_sources(answered: GraphView) -> None:
    found = trace(answered, "first")
    assert found.answer["content"] == "eleven"
    assert [row["name"] for row in found.sources] == ["raw1", "raw2"]
    assert [row["urn"] for row in found.artifacts] == [
        version("mart", "r2"),
        version("clean", "r1"),
    ]
    assert [row["runId"] for row in found.runs] == ["r2", "r1"]
    assert {tuple(edge) for edge in found.edges} == {
        (version("mart", "r2"), answer_urn("first"), "CITED_BY"),
        (run_of("r2"), version("mart", "r2"), "PRODUCED"),
        (version("clean", "r1"), run_of("r2"), "FEEDS"),
        (run_of("r1"), version("clean", "r1"), "PRODUCED"),
        (source_urn("db", "raw1"), run_of("r1"), "FEEDS"),
        (source_urn("db", "raw2"), run_of("r1"), "FEEDS"),
    }
    assert not found.truncated
    assert all(
        "facts" not in row for row in (found.answer, *found.sources, *found.artifacts, *found.runs)
    )


def test_trace_goes_through_answers_and_columns(answered: GraphView) -> None:
    found = trace(answered, "second")
    assert [row["answerId"] for row in found.answers] == ["first"]
    assert [row["urn"] for row in found.columns] == [column_urn("db", "raw1", "id")]
    assert {row["name"] for row in found.sources} == {"raw1", "raw2"}
    assert (source_urn("db", "raw1"), answer_urn("second"), "CITED_BY") in {
        tuple(edge) for edge in found.edges
    }


def test_trace_of_a_long_chain(database: Database, view: GraphView) -> None:
    chain = [run(f"r{n}", f"job{n}", [f"t{n}"], [f"t{n + 1}"], minute=2 * n) for n in range(60)]
    write_events(database, *chain, answer("deep", "t60", minute=200))
    counted = CountedDatabase(database)
    found = trace(GraphView(counted), "deep")
    assert [row["name"] for row in found.sources] == ["t0"]
    assert len(found.runs) == 60
    assert not found.truncated
    assert len(counted.queries) < 12, "it learns what it can reach at once"
    bounded = trace(view, "deep", nodes_max=40)
    assert (bounded.reason, len(bounded.rows)) == ("nodes", 40)


def test_downstream_of_a_run_reaches_answers(answered: GraphView) -> None:
    found = lineage(answered, run_of("r1"), direction="DOWNSTREAM", depth=1)
    assert {node.urn for node in found.nodes} == {run_of("r1"), version("clean", "r1")}
    found = lineage(answered, run_of("r1"), direction="DOWNSTREAM")
    assert {answer_urn("first"), answer_urn("second")} <= {node.urn for node in found.nodes}
    kinds = {node.kind: node.name for node in found.nodes}
    assert kinds["PIPELINE_RUN"] in {"clean", "mart"}


def test_the_lineage_graph_has_no_run_history(answered: GraphView) -> None:
    found = lineage(answered, ds("raw1"))
    assert {node.kind for node in found.nodes} == {"DATASET", "JOB"}


def test_columns(database: Database, view: GraphView) -> None:
    event = run("r1", "j", ["a"], ["b"])
    event[1]["outputs"][0]["facets"] = {"columnLineage": column_lineage(["a"])}
    after = run("r2", "k", ["b"], ["c"], minute=5, derived={"c": ["b"]})
    write_events(
        database,
        event,
        after,
        answer("cites-c", {"namespace": "db", "name": "c", "field": "id"}, minute=9),
    )
    found = lineage(view, column_urn("db", "a", "id"), direction="DOWNSTREAM")
    assert {node.urn for node in found.nodes} == {
        column_urn("db", "a", "id"),
        column_urn("db", "b", "id"),
        column_urn("db", "c", "id"),
        answer_urn("cites-c"),
    }
    up = lineage(view, column_urn("db", "c", "id"), direction="UPSTREAM", depth=1)
    assert {node.name for node in up.nodes} == {"c.id", "b.id"}
    assert up.reason == "depth"


def test_a_job_event_alone_is_in_the_lineage_graph(database: Database, view: GraphView) -> None:
    declared = {
        "eventTime": at(0),
        "job": {"namespace": "etl", "name": "declared"},
        "inputs": [{"namespace": "db", "name": "in"}],
        "outputs": [
            {"namespace": "db", "name": "out", "facets": {"schema": {**FACET, "fields": []}}}
        ],
    }
    write_events(database, [declared])
    assert names(view, ds("out"), "UPSTREAM") == {"out", "declared", "in"}
