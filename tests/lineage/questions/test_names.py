"""Nodes by name: whole names before qualified names before endings; hidden nodes have none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.lineage.questions.names import KINDS, nodes_by_name
from headwater.lineage.view import GraphView
from headwater.schema.headwater_facets import symlinks_event
from headwater.schema.urns import dataset_urn, job_urn
from headwater.schema.visibility import UNRESTRICTED, Visibility
from tests.canonical import empty
from tests.event_builders import dataset_event
from tests.run_builders import answer, at, ds, job, run, run_of, write_events

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def graph(database: Database) -> Iterator[Database]:
    """Write runs whose names overlap: `delays` as a dataset, a job, and the end of a path."""
    empty(database)
    write_events(
        database,
        run("run-1", "delays", ["raw.delays"], ["delays", "/data/marts/punctuality"], minute=0),
        run("run-2", "nightly.load", ["a:b"], ["/data/other/punctuality", "s.t.orders"], minute=1),
        answer("q1/kpi", "delays", minute=2),
        answer("delays", "delays", minute=3),
        [dataset_event("twin", 4, namespace="etl")],
        run("run-3", "twin", [], ["twin"], minute=5),
    )
    yield database
    empty(database)


def named(
    graph: Database,
    name: str,
    *kinds: str,
    first: int = 20,
    visibility: Visibility = UNRESTRICTED,
) -> set[str]:
    view = GraphView(graph, visibility)
    found = nodes_by_name(view, name, first=first, kinds=kinds or KINDS)
    urns = [node.urn for node in found]
    assert urns == sorted(urns)
    return set(urns)


def test_a_whole_name_or_id_comes_first(graph: Database) -> None:
    assert named(graph, "delays") == {ds("delays"), job("delays"), "answer:delays"}
    assert named(graph, "delays", "DATASET") == {ds("delays")}
    assert named(graph, "run-1") == {run_of("run-1")}
    assert named(graph, "raw.delays") == {ds("raw.delays")}


def test_a_namespace_and_a_name(graph: Database) -> None:
    assert named(graph, "db:delays") == {ds("delays")}
    assert named(graph, "etl/delays") == {job("delays")}
    assert named(graph, "db:a:b") == {ds("a:b")}
    assert named(graph, "db:/data/marts/punctuality") == {ds("/data/marts/punctuality")}


def test_an_alias_with_its_namespace(graph: Database) -> None:
    names = {"namespace": "db", "name": "delays"}, [{"namespace": "hive", "name": "d.delays"}]
    write_events(graph, [symlinks_event(names[0], same=names[1], event_time=at(9))])
    assert named(graph, "hive:d.delays") == {ds("delays")}
    assert named(graph, "hive:d.delays", visibility=Visibility(("db",))) == set()


def test_a_bare_alias_is_a_name(graph: Database) -> None:
    def join(name: str, namespace: str, alias: str, minute: int) -> None:
        one, other = {"namespace": "db", "name": name}, {"namespace": namespace, "name": alias}
        write_events(graph, [symlinks_event(one, same=[other], event_time=at(minute))])

    write_events(graph, run("run-9", "maker", [], ["own.one", "own.two", "x/own.three"], minute=9))
    join("own.one", "hive", "sales.first", 10)
    join("own.one", "glue", "first_v2", 11)
    assert named(graph, "sales.first") == {ds("own.one")}
    assert named(graph, "sales.first", "DATASET") == {ds("own.one")}
    assert named(graph, "sales.first", "JOB") == set()
    # The end of an alias, and an alias in a hidden namespace.
    assert named(graph, "first") == {ds("own.one")}
    assert named(graph, "sales.first", visibility=Visibility(("db",))) == set()
    assert named(graph, "first", visibility=Visibility(("db",))) == set()
    assert named(graph, "first", visibility=Visibility(("hive",))) == set()
    assert named(graph, "first_v2", visibility=Visibility(("db", "glue"))) == {ds("own.one")}
    # A whole alias decides before the end of a name; beside an equal whole name both are found.
    assert named(graph, "own.three") == {ds("x/own.three")}
    join("own.one", "hive", "own.three", 12)
    assert named(graph, "own.three") == {ds("own.one")}
    join("own.one", "glue", "own.two", 13)
    assert named(graph, "own.two") == {ds("own.one"), ds("own.two")}


def test_the_end_of_a_name(graph: Database) -> None:
    assert named(graph, "marts/punctuality") == {ds("/data/marts/punctuality")}
    assert named(graph, "punctuality") == {
        ds("/data/marts/punctuality"),
        ds("/data/other/punctuality"),
    }
    assert named(graph, "load") == {job("nightly.load")}
    assert named(graph, "t.orders") == {ds("s.t.orders")}
    assert named(graph, "kpi") == {"answer:q1/kpi"}
    # Only whole parts count.
    assert named(graph, "unctuality") == set()
    assert named(graph, "oad") == set()


def test_a_job_beside_a_dataset_of_its_name_is_the_same_asset(graph: Database) -> None:
    assert named(graph, "twin", "DATASET", "JOB") == {dataset_urn("etl", "twin"), ds("twin")}
    assert named(graph, "twin", "JOB") == {job_urn("etl", "twin")}


def test_hidden_nodes_have_no_name(graph: Database) -> None:
    visibility = Visibility(("etl",))
    assert named(graph, "delays", visibility=visibility) == {job("delays")}
    assert named(graph, "punctuality", visibility=visibility) == set()
    assert named(graph, "db:delays", visibility=visibility) == set()


def test_a_hostile_name_is_only_a_name(graph: Database) -> None:
    for name in ("' OR 1=1 //", "*", "(", "\x00", "\u2028", "a" * 2_000, ":", "/", "::::"):
        assert named(graph, name) == set()


@pytest.mark.parametrize("name", ["", "a" * 2_001])
def test_a_name_has_a_length(graph: Database, name: str) -> None:
    with pytest.raises(QueryError, match="`name`"):
        named(graph, name)


def test_bounds_and_kinds(graph: Database) -> None:
    assert len(named(graph, "punctuality", first=1)) == 1
    with pytest.raises(QueryError, match="first"):
        named(graph, "delays", first=0)
    with pytest.raises(QueryError, match="COLUMN has no names"):
        named(graph, "delays", "COLUMN")
