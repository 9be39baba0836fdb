"""How many statements a decision takes: an answer within 50 ms allows few."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from headwater.cypher.driver.database import Database
from headwater.governance.policies.decisions import DecisionRequest, decide
from headwater.governance.policies.files import load_policies
from headwater.governance.policies.models import SUBJECTS_OF_ACTION, Change
from headwater.lineage.cache.cache_refresher import CacheRefresher
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.counted_database import CountedDatabase
from tests.event_builders import run_event
from tests.run_builders import ds, write_events

pytestmark = pytest.mark.neo4j
DEPTH = 12
# An inference reads ages and personal data too.
STATEMENTS_MAX = 12
EXAMPLES = load_policies("examples/policies")


@pytest.fixture(scope="module")
def chain(database: Database) -> Iterator[Database]:
    """d0 -> d1 -> ... -> d12, each made by a job of its own."""
    empty(database)
    write_events(
        database,
        [
            run_event(f"r{n}", minute=n, job=f"j{n}", inputs=[f"d{n}"], outputs=[f"d{n + 1}"])
            for n in range(DEPTH)
        ],
    )
    yield database
    empty(database)


@pytest.mark.parametrize("action", SUBJECTS_OF_ACTION)
@pytest.mark.parametrize("name", ["d0", "d6", f"d{DEPTH}"])
def test_the_number_of_statements_does_not_grow_with_the_lineage(
    chain: Database, action: str, name: str
) -> None:
    cache = CacheRefresher(chain)
    cache.load()
    counted = CountedDatabase(chain)
    request = DecisionRequest(ds(name), Change(action), datetime(2026, 1, 2, tzinfo=UTC))
    decide(GraphView(counted, cache=cache), EXAMPLES, request)
    while True:
        counted.queries.clear()
        cache.catch_up()
        decide(GraphView(counted, cache=cache), EXAMPLES, request)
        # A cache that is late on a slow machine lets Neo4j traverse.
        if cache.current() is not None:
            break
    assert len(counted.queries) <= STATEMENTS_MAX, counted.queries
    assert not [one for one in counted.queries if one.startswith("read/traversal/")]
