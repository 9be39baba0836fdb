"""The lineage cache equals the lineage graph after every write.

A cache that has caught up equals a freshly loaded one. A traversal of the cache gives the same
result as a traversal in Neo4j.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from headwater.cypher.driver.database import Database
from headwater.errors import HeadwaterError
from headwater.ingest.fold import fold
from headwater.ingest.write.transaction import Checkpoint, WriteRequest, write
from headwater.lineage.cache import cache_refresher
from headwater.lineage.cache.cache_refresher import CacheRefresher
from headwater.lineage.cache.lineage_cache import LineageCache
from headwater.lineage.traversal.filters import EVERY_NODE, Filter
from headwater.lineage.view import GraphView
from headwater.schema.events import parse
from headwater.schema.visibility import UNRESTRICTED, Visibility
from tests.canonical import empty
from tests.histories import histories
from tests.lineage_requests import lineage

pytestmark = pytest.mark.neo4j

FILTERS = (
    EVERY_NODE,
    Filter(namespaces=("etl",)),
    Filter(job_namespaces=("db",)),
    Filter(job_types=("nothing",)),
)
VISIBILITIES = (UNRESTRICTED, Visibility(("db",)), Visibility(("etl",)))


@pytest.fixture(autouse=True, scope="module")
def never_stale() -> Iterator[None]:
    """Let a cache count as fresh for the whole test, on a slow machine too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache_refresher, "STALE_SECONDS_MAX", 600.0)
        yield


def loaded(database: Database) -> LineageCache:
    refresher = CacheRefresher(database)
    refresher.load()
    assert refresher.catch_up()
    cache = refresher.current()
    assert cache is not None
    return cache


def answer(view: GraphView, urn: str, visibility: Visibility, **options: Any) -> Any:
    try:
        return lineage(view.visible_to(visibility), urn, **options)
    except HeadwaterError as error:
        return error.message


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(histories, st.randoms(use_true_random=False))
def test_the_cache_equals_neo4j_after_every_batch(
    database: Database, view: GraphView, bodies: list[bytes], chance: random.Random
) -> None:
    empty(database)
    refresher = CacheRefresher(database)
    refresher.load()
    cuts = sorted(chance.sample(range(len(bodies) + 1), k=min(3, len(bodies))))
    before = Checkpoint()
    for start, end in zip([0, *cuts], [*cuts, len(bodies)], strict=True):
        batch = bodies[start:end]
        note(f"batch: {batch}")
        after = Checkpoint(before.position + len(batch), before.folded + len(batch), 0)
        delta = fold(parse(body, received=0) for body in batch)
        write(database, WriteRequest(delta, spool="s", before=before, after=after, holder="test"))
        before = after
        assert refresher.catch_up()
        cached, fresh = refresher.current(), loaded(database)
        assert cached is not None
        assert cached.entries == fresh.entries
        assert cached.indexes() == fresh.indexes()
    cached_view = GraphView(database, cache=refresher)
    urns = [*sorted(fresh.entries), *sorted(fresh.datasets_of_column)]
    for urn in chance.sample(urns, k=min(3, len(urns))):
        options = {
            "direction": chance.choice(["UPSTREAM", "DOWNSTREAM", "BOTH"]),
            "depth": chance.choice([1, 2, 20]),
            "nodes_max": chance.choice([3, 5_000]),
            "filter": chance.choice(FILTERS),
        }
        visibility = chance.choice(VISIBILITIES)
        note(f"{urn} {options} {visibility}")
        assert answer(cached_view, urn, visibility, **options) == answer(
            view, urn, visibility, **options
        )
