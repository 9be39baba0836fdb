"""The refresher of the lineage cache beside a real Neo4j: cached answers, and the questions that
still go to Neo4j.

The recorded queries show whether an answer came from the cache.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.cypher.maintenance.erase import erase
from headwater.errors import NotFoundError, QueryError
from headwater.lineage.cache import cache_refresher as map_follower
from headwater.lineage.cache.cache_refresher import POLL_SECONDS, CacheRefresher
from headwater.lineage.questions import lineage as module
from headwater.lineage.questions.column_lineage import column_lineage
from headwater.lineage.traversal.filters import Filter
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from headwater.schema.urns import column_urn, run_urn
from headwater.schema.visibility import Visibility
from tests.conftest import Neo4jServer
from tests.lineage_requests import answer_from_cache, lineage
from tests.run_builders import at, ds, job, run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


class QueryRecorder(list[str]):
    """A recorder of the queries that Neo4j receives."""

    def __call__(self, name: str, _: float) -> None:
        self.append(name.removeprefix("read/"))


@pytest.fixture
def queries() -> QueryRecorder:
    return QueryRecorder()


@pytest.fixture
def cached_view(
    database: Database,
    neo4j_server: Neo4jServer,
    queries: QueryRecorder,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[GraphView]:
    """Load the cache of a -> first -> b -> second -> c, without its time limits."""
    monkeypatch.setattr(map_follower, "STALE_SECONDS_MAX", 60.0)
    write_events(
        database,
        run("r1", "first", ["a"], ["b"], derived={"b": ["a"]}),
        run("r2", "second", ["b"], ["c"], minute=5),
    )
    own = Database(neo4j_server.uri, neo4j_server.user, neo4j_server.password, on_query=queries)
    cache = CacheRefresher(own)
    cache.load()
    queries.clear()
    yield GraphView(own, cache=cache)
    own.close()


def names(view: GraphView, urn: str, **question: Any) -> list[str]:
    return [node.name for node in lineage(view, urn, direction="DOWNSTREAM", **question).nodes]


def test_lineage_is_answered_from_the_cache(cached_view: GraphView, queries: QueryRecorder) -> None:
    assert names(cached_view, ds("a")) == ["a", "b", "first", "c", "second"]
    assert names(cached_view, ds("a"), depth=1) == ["a", "b", "first"]
    assert [
        node.name for node in lineage(cached_view, job("second"), direction="UPSTREAM").nodes
    ] == [
        "second",
        "b",
        "a",
        "first",
    ]
    assert queries == []


def test_immediate_answers_need_no_statement(
    cached_view: GraphView, queries: QueryRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for depth in (1, 2):
        found = answer_from_cache(cached_view, [ds("a")], direction="DOWNSTREAM", depth=depth)
        assert found == lineage(cached_view, ds("a"), direction="DOWNSTREAM", depth=depth)
    with pytest.raises(QueryError, match="depth 0"):
        answer_from_cache(cached_view, [ds("a")], direction="DOWNSTREAM", depth=0)
    # Neo4j answers for nodes outside the cache, for other layers and for filters.
    for urn in (ds("nothing"), column_urn("db", "a", "id"), run_urn("r1")):
        assert answer_from_cache(cached_view, [urn], direction="DOWNSTREAM", depth=1) is None
    assert (
        answer_from_cache(
            cached_view.visible_to(Visibility(("db",))), [ds("a")], direction="DOWNSTREAM", depth=1
        )
        is None
    )
    assert queries == []
    monkeypatch.setattr(module, "ON_LOOP_NODES_MAX", 3)
    assert answer_from_cache(cached_view, [ds("a")], direction="DOWNSTREAM", depth=1) is not None
    assert answer_from_cache(cached_view, [ds("a")], direction="DOWNSTREAM", depth=2) is None
    monkeypatch.setattr(map_follower, "STALE_SECONDS_MAX", -1.0)
    assert answer_from_cache(cached_view, [ds("a")], direction="DOWNSTREAM", depth=1) is None


def test_a_column_costs_two_statements(cached_view: GraphView, queries: QueryRecorder) -> None:
    column = column_urn("db", "a", "id")
    found = column_lineage(cached_view, "db", "a", "id", direction="DOWNSTREAM", depth=20)
    assert [(edge.source, edge.target) for edge in found.lineage.edges] == [
        (column, column_urn("db", "b", "id"))
    ]
    assert queries == ["traversal/citing_answers", "nodes/column_transformations"]


def test_uncached_questions_go_to_neo4j(cached_view: GraphView, queries: QueryRecorder) -> None:
    assert names(cached_view, ds("a"), filter=Filter(namespaces=("other",))) == ["a", "first"]
    assert queries == ["nodes/filter_properties"]
    queries.clear()
    names(cached_view, ds("a"), filter=Filter(since=None, until=map_time()))
    assert "traversal/dataset_consumers" in queries
    queries.clear()
    assert names(cached_view, ds("a"), as_of=map_time()) == ["a", "b", "first", "c", "second"]
    assert "traversal/dataset_consumers_at" in queries
    with pytest.raises(NotFoundError):
        lineage(cached_view, ds("nowhere"))


def map_time() -> datetime:
    return datetime.fromisoformat(at(59))


def test_hidden_nodes_stay_hidden_in_the_cache(cached_view: GraphView, view: GraphView) -> None:
    for pattern, urn in (("db", ds("a")), ("etl", job("first"))):
        visibility = Visibility((pattern,))
        found = lineage(cached_view.visible_to(visibility), urn)
        assert found == lineage(view.visible_to(visibility), urn)
        assert "HIDDEN" in {node.kind for node in found.nodes}
    for queries in (view, cached_view):
        with pytest.raises(NotFoundError):
            lineage(queries.visible_to(Visibility(("etl",))), ds("a"))


def test_it_follows_and_a_fresh_answer_waits_for_it(
    cached_view: GraphView, database: Database, queries: QueryRecorder
) -> None:
    write_events(database, run("r3", "third", ["c"], ["d"], minute=10))
    assert "d" not in names(cached_view, ds("a"))
    assert queries == []
    assert names(cached_view, ds("a"), fresh=True)[-2:] == ["d", "third"]
    # The refresher reads the revision, the changed nodes and their entries, not the whole graph.
    assert queries[:2] == ["cache/revision", "cache/changed_nodes"]
    assert "cache/urns" not in queries


def test_alias_leaves_the_cache_with_its_old_dataset(
    cached_view: GraphView, database: Database, view: GraphView
) -> None:
    event = native.symlinks_event(
        {"namespace": "db", "name": "b"},
        same=[{"namespace": "db", "name": "bee"}],
        event_time=at(20),
    )
    write_events(database, [event])
    found = lineage(cached_view, ds("bee"), direction="UPSTREAM", fresh=True)
    assert found == lineage(view, ds("bee"), direction="UPSTREAM")
    assert len(found.nodes) == 3


def test_outdated_cache_is_not_used(
    cached_view: GraphView,
    database: Database,
    queries: QueryRecorder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_events(database, run("r3", "third", ["c"], ["d"], minute=10))
    monkeypatch.setattr(map_follower, "STALE_SECONDS_MAX", 0.0)
    assert cached_view.cache is not None
    assert cached_view.cache.current() is None
    assert cached_view.cache.staleness_seconds > 0
    assert names(cached_view, ds("a"))[-1] == "third"
    assert "traversal/dataset_consumers" in queries


def test_request_waits_for_a_late_refresher(
    cached_view: GraphView, queries: QueryRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(map_follower, "_LATE_SECONDS_MAX", 60.0)
    follower, ended = cached_view.cache, threading.Event()
    assert follower is not None
    following = threading.Thread(target=follower.run, args=(ended,))
    following.start()
    try:
        while not follower._is_running:
            time.sleep(0.01)
        with follower._refresh_lock:
            monkeypatch.setattr(follower, "_up_to_date_at", float("-inf"))
            found: list[list[str]] = []
            asking = threading.Thread(target=lambda: found.append(names(cached_view, ds("a"))))
            asking.start()
            asking.join(0.3)
            assert found == []
        asking.join(30.0)
        assert found == [["a", "b", "first", "c", "second"]]
        assert "traversal/dataset_consumers" not in queries
    finally:
        ended.set()
        following.join()


def test_columns_load_last_and_a_few_datasets_at_a_time(
    cached_view: GraphView, queries: QueryRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(map_follower, "_DATASETS_WITH_COLUMNS_PER_QUERY", 2)
    follower = CacheRefresher(cached_view.database)
    cached_view = replace(cached_view, cache=follower)
    left = []
    for _ in range(3):
        follower._refresh()
        left.append(follower.pending_datasets)
        queries.clear()
        assert names(cached_view, ds("a"), depth=1) == ["a", "b", "first"]
        assert queries == []
        column_lineage(cached_view, "db", "a", "id", direction="DOWNSTREAM", depth=20)
        assert ("traversal/column_targets" in queries) is (follower.pending_datasets > 0)
    # Of a, b and c.
    assert left == [1, 0, 0]


def test_neo4j_answers_before_the_cache_is_loaded(
    cached_view: GraphView, queries: QueryRecorder
) -> None:
    cache = CacheRefresher(cached_view.database)
    cached_view = replace(cached_view, cache=cache)
    assert cache.staleness_seconds == float("inf")
    assert names(cached_view, ds("a"), fresh=True)[-1] == "second"
    assert "traversal/dataset_consumers" in queries
    assert "cache/urns" not in queries


def test_an_erased_graph_is_read_afresh(cached_view: GraphView, database: Database) -> None:
    follower = cached_view.cache
    assert follower is not None
    erase(database, holder="test")
    write_events(database, run("r9", "other", ["a"], ["z"]))
    assert follower.catch_up()
    assert names(cached_view, ds("a")) == ["a", "z", "other"]


def test_cache_is_not_used_during_an_erasure(cached_view: GraphView, clean_graph: Driver) -> None:
    follower = cached_view.cache
    assert follower is not None
    with clean_graph.session() as session:
        session.run("MATCH (l:WriteLock) SET l.erasing = 'tests'").consume()
    assert not follower.catch_up()
    assert follower.current() is None
    with clean_graph.session() as session:
        session.run("MATCH (l:WriteLock) REMOVE l.erasing").consume()
    follower.load()
    assert follower.current() is not None


def test_another_graph_of_the_same_revision_is_another(
    cached_view: GraphView, clean_graph: Driver
) -> None:
    follower = cached_view.cache
    assert follower is not None
    with clean_graph.session() as session:
        session.run("MATCH (n) WHERE NOT n:Migration DETACH DELETE n").consume()
        session.run(
            "CREATE (:WriteLock {name: 'graph', graph: 'other', revision: $r})", r=follower.revision
        ).consume()
    assert follower.catch_up()
    memory = follower.current()
    assert memory is not None
    assert memory.entries == {}


def test_refresher_runs_until_it_is_stopped(cached_view: GraphView, database: Database) -> None:
    follower = CacheRefresher(cached_view.database)
    cached_view = replace(cached_view, cache=follower)
    ended = threading.Event()
    thread = threading.Thread(target=follower.run, args=(ended,), daemon=True)
    thread.start()
    try:
        _wait(lambda: follower.current() is not None)
        write_events(database, run("r3", "third", ["c"], ["d"], minute=10))
        _wait(lambda: "d" in names(cached_view, ds("a")))
    finally:
        ended.set()
        thread.join(10)
    assert not thread.is_alive()


def test_refresher_goes_on_after_a_node_was_deleted_while_it_was_read(
    cached_view: GraphView, database: Database, graph_driver: Driver
) -> None:
    """Neo4j shows such a node without properties, as this one."""
    cache = cached_view.cache
    assert cache is not None
    stop = threading.Event()
    thread = threading.Thread(target=cache.run, args=(stop,))
    thread.start()
    try:
        graph_driver.execute_query("CREATE (:Dataset {lineageRevision: 1000000})")
        write_events(database, run("r3", "third", ["c"], ["d"], minute=9))
        time.sleep(3 * POLL_SECONDS)
        assert not cache.catch_up()
        assert thread.is_alive()
        graph_driver.execute_query("MATCH (n:Dataset {lineageRevision: 1000000}) DELETE n")
        _wait(lambda: cache.current() is not None and "d" in names(cached_view, ds("c")))
        assert thread.is_alive()
    finally:
        stop.set()
        thread.join()


def _wait(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)
