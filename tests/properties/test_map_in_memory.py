"""The map in memory is the map: whatever is written, once it has caught up it is what a fresh
load gives, and every walk over it shows what a walk in Neo4j shows.
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
from headwater.lineage.cache import cache_refresher as map_follower
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
def patient() -> Iterator[None]:
    """It is in step for as long as the test takes, on a slow machine too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(map_follower, "STALE_SECONDS_MAX", 600.0)
        yield


def loaded(database: Database) -> LineageCache:
    follower = CacheRefresher(database)
    follower.load()
    assert follower.catch_up()
    memory = follower.current()
    assert memory is not None
    return memory


def answer(view: GraphView, urn: str, visibility: Visibility, **question: Any) -> Any:
    try:
        found = lineage(view.visible_to(visibility), urn, **question)
    except HeadwaterError as error:
        return error.message
    return found


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
    follower = CacheRefresher(database)
    follower.load()
    cuts = sorted(chance.sample(range(len(bodies) + 1), k=min(3, len(bodies))))
    before = Checkpoint()
    for start, end in zip([0, *cuts], [*cuts, len(bodies)], strict=True):
        batch = bodies[start:end]
        note(f"batch: {batch}")
        after = Checkpoint(before.position + len(batch), before.folded + len(batch), 0)
        delta = fold(parse(body, received=0) for body in batch)
        write(database, WriteRequest(delta, spool="s", before=before, after=after, holder="test"))
        before = after
        assert follower.catch_up()
        followed, fresh = follower.current(), loaded(database)
        assert followed is not None
        assert followed.entries == fresh.entries
        assert followed.indexes() == fresh.indexes()
    cached = GraphView(database, cache=follower)
    urns = [*sorted(fresh.entries), *sorted(fresh.datasets_of_column)]
    for urn in chance.sample(urns, k=min(3, len(urns))):
        question = {
            "direction": chance.choice(["UPSTREAM", "DOWNSTREAM", "BOTH"]),
            "depth": chance.choice([1, 2, 20]),
            "nodes_max": chance.choice([3, 5_000]),
            "filter": chance.choice(FILTERS),
        }
        visibility = chance.choice(VISIBILITIES)
        note(f"{urn} {question} {visibility}")
        assert answer(cached, urn, visibility, **question) == answer(
            view, urn, visibility, **question
        )
