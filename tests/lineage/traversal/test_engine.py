"""The choice of the engine: each reason for Neo4j or for the step-by-step traversal, one at a
time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.cache.cache_refresher import CacheRefresher
from headwater.lineage.cache.lineage_cache import (
    CachedAlias,
    CachedDataset,
    CachedJob,
    CachedOutput,
    LineageCache,
)
from headwater.lineage.node_names import node_name
from headwater.lineage.traversal.engine import EngineKind, choose_engine, is_answered_from_cache
from headwater.lineage.traversal.filters import Filter
from headwater.lineage.traversal.layers import (
    COLUMNS_UP,
    DATASETS_DOWN,
    DATASETS_UP,
    RUNS_UP,
    at_instant,
)
from headwater.lineage.traversal.request import Bounds, LineageRequest, TraversalRequest
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.run_builders import ds, job

BFS, CACHED, NEO4J = (
    EngineKind.CACHED_BFS,
    EngineKind.CACHED_TRAVERSAL,
    EngineKind.NEO4J_TRAVERSAL,
)
BOUNDS = Bounds.within(60, depth=5, nodes_max=100, edges_max=100)
REQUEST = TraversalRequest(DATASETS_DOWN, BOUNDS)
COLUMN = "column:db:a:id"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class CurrentCache(CacheRefresher):
    """A cache that is current without a server."""

    def __init__(self, database: Database, content: LineageCache | None) -> None:
        super().__init__(database)
        self.content = content

    def current(self) -> LineageCache | None:
        return self.content


@pytest.fixture
def view() -> Iterator[GraphView]:
    """a -> j -> b in a cache, with a column of a and an alias of it; nothing listens at the
    database.
    """
    database = Database("bolt://127.0.0.1:1", "", "")
    cache = LineageCache()
    cache.replace_entries(
        {
            ds("a"): CachedDataset(node_name(ds("a"), {}), (), ((COLUMN, ()),)),
            ds("b"): CachedDataset(node_name(ds("b"), {})),
            ds("old"): CachedAlias(ds("a")),
            job("j"): CachedJob(
                node_name(job("j"), {}), (ds("a"),), (CachedOutput(ds("b"), (), False),)
            ),
        }
    )
    cache.has_columns = True
    yield GraphView(database, cache=CurrentCache(database, cache))
    database.close()


def kind_of(view: GraphView, request: TraversalRequest, *starts: str) -> EngineKind:
    return choose_engine(view, request, starts or (ds("a"),)).kind


def test_cache_answers_datasets_and_jobs(view: GraphView) -> None:
    assert kind_of(view, REQUEST) is BFS
    assert kind_of(view, replace(REQUEST, layer=DATASETS_UP), ds("a"), job("j")) is BFS


def test_step_by_step_where_each_step_needs_a_check(view: GraphView) -> None:
    assert kind_of(view.visible_to(Visibility(("db",))), REQUEST) is CACHED
    assert kind_of(view, replace(REQUEST, filter=Filter(tags=("pii",)))) is CACHED
    assert kind_of(view, replace(REQUEST, resume_from={ds("a"): ()})) is CACHED
    assert kind_of(view, replace(REQUEST, layer=COLUMNS_UP), COLUMN) is CACHED


def test_neo4j_answers_everything_that_the_cache_lacks(view: GraphView) -> None:
    assert kind_of(view.without_cache(), REQUEST) is NEO4J
    assert kind_of(view, replace(REQUEST, layer=RUNS_UP)) is NEO4J
    assert kind_of(view, replace(REQUEST, layer=at_instant(DATASETS_UP), as_of=NOW)) is NEO4J
    assert kind_of(view, replace(REQUEST, filter=Filter(since=NOW))) is NEO4J
    assert kind_of(view, REQUEST, ds("unknown")) is NEO4J
    assert kind_of(view, REQUEST, ds("old")) is NEO4J, "an alias is not canonical"
    assert view.cache is not None
    stale = replace(view, cache=CurrentCache(view.database, None))
    assert kind_of(stale, REQUEST) is NEO4J
    cache = view.cache.current()
    assert cache is not None
    cache.has_columns = False
    assert kind_of(view, replace(REQUEST, layer=COLUMNS_UP), COLUMN) is NEO4J
    assert kind_of(view, REQUEST) is BFS


def test_plain_question_of_cached_nodes_is_answered_at_once(view: GraphView) -> None:
    request = LineageRequest((ds("a"), job("j")))
    assert is_answered_from_cache(view, request)
    assert is_answered_from_cache(view, LineageRequest((ds("old"),)))
    assert not is_answered_from_cache(view, replace(request, fresh=True))
    assert not is_answered_from_cache(view, LineageRequest((COLUMN,)))
    assert not is_answered_from_cache(view, LineageRequest((ds("unknown"),)))
    assert not is_answered_from_cache(view.without_cache(), request)
    assert not is_answered_from_cache(view.visible_to(Visibility(("db",))), request)
