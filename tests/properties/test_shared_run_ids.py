"""Run ids that several senders report: the graph still depends only on the set of events."""

from __future__ import annotations

import json
import random
import zlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from headwater.cypher.driver.database import Database
from headwater.ingest.fold import fold
from headwater.schema.delta import GraphDelta, join
from headwater.schema.events import parse
from tests.graph_of_batches import graph_of
from tests.histories import histories

SENDERS: list[list[str] | None] = [None, ["etl"], ["team-b"], ["team-b", "etl"], ["team-c*"], []]
NAMESPACES = ["etl", "team-b", "team-c"]


@st.composite
def shared_histories(draw: st.DrawFn) -> list[bytes]:
    """Return histories whose events are of several senders, for jobs of several namespaces."""
    bodies = []
    for body in draw(histories):
        event: dict[str, Any] = json.loads(body)
        own = draw(st.sampled_from(NAMESPACES))
        event = _in_namespaces(event, own, draw(st.sampled_from(NAMESPACES)))
        sender = draw(st.sampled_from(SENDERS))
        if sender is not None:
            event["headwater_sender"] = sender
        bodies.append(json.dumps(event).encode())
    return bodies


def _in_namespaces(event: dict[str, Any], own: str, others: str) -> dict[str, Any]:
    """Put the job of an event in one namespace, and the jobs that it names in another."""
    moved = {
        key: json.loads(json.dumps(value).replace('"etl"', json.dumps(others)))
        for key, value in event.items()
    }
    if "job" in moved:
        moved["job"]["namespace"] = own
    return moved


def _fold(bodies: list[bytes]) -> GraphDelta:
    # The receipt belongs to the event: the same at each delivery, and early or late by chance.
    return fold(parse(body, received=zlib.crc32(body) % 10) for body in bodies)


@given(shared_histories(), shared_histories(), shared_histories())
def test_join_is_associative_commutative_and_idempotent(
    a: list[bytes], b: list[bytes], c: list[bytes]
) -> None:
    x, y, z = _fold(a), _fold(b), _fold(c)
    assert join(x, join(y, z)) == join(join(x, y), z)
    assert join(x, y) == join(y, x)
    assert join(x, x) == x
    assert join(x, GraphDelta()) == x
    assert _fold(a + b) == join(x, y)


@pytest.mark.neo4j
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(shared_histories(), st.randoms(use_true_random=False))
def test_any_order_any_batches_same_graph(
    database: Database, bodies: list[bytes], chance: random.Random
) -> None:
    shuffled = bodies + chance.choices(bodies, k=2)
    chance.shuffle(shuffled)
    cuts = sorted(chance.sample(range(len(shuffled) + 1), k=min(4, len(shuffled))))
    batches = [shuffled[a:b] for a, b in zip([0, *cuts], [*cuts, len(shuffled)], strict=True)]
    for batch in batches:
        note(f"batch: {batch}")
    assert graph_of(database, _fold, batches) == graph_of(database, _fold, [bodies])
