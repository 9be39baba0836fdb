"""Views of the graph: changed copies, over the same connections."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.cache.cache_refresher import CacheRefresher
from headwater.lineage.view import GraphView
from headwater.schema.visibility import UNRESTRICTED, Visibility


class FixedCache(CacheRefresher):
    """A cache that catches up, or never does."""

    def __init__(self, database: Database, *, catches_up: bool) -> None:
        super().__init__(database)
        self._catches_up = catches_up

    def catch_up(self) -> bool:
        return self._catches_up


@pytest.fixture
def nowhere() -> Iterator[GraphView]:
    database = Database("bolt://127.0.0.1:1", "", "")
    yield GraphView(database)
    database.close()


def test_view_sees_everything_without_cache_unless_changed(nowhere: GraphView) -> None:
    assert (nowhere.visibility, nowhere.cache) == (UNRESTRICTED, None)
    restricted = nowhere.visible_to(Visibility(("db",)))
    assert restricted.visibility.includes("db")
    assert not restricted.visibility.includes("etl")
    assert restricted.database is nowhere.database
    assert nowhere.visibility.is_unrestricted


def test_fresh_view_retains_a_cache_that_catches_up(nowhere: GraphView) -> None:
    assert nowhere.up_to_date() is nowhere
    quick = replace(nowhere, cache=FixedCache(nowhere.database, catches_up=True))
    assert quick.up_to_date() is quick
    late = replace(nowhere, cache=FixedCache(nowhere.database, catches_up=False))
    assert late.up_to_date().cache is None
    assert late.without_cache() == nowhere


@pytest.mark.neo4j
def test_view_reads_queries_of_the_catalog(view: GraphView) -> None:
    assert view.read("read/state/clock") != []
