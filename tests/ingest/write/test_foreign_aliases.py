"""Names of two teams are one dataset: a key of one of them neither takes it over nor splits it.

Team B has the table `b-team:table`, team A its location `a-team:loc`. A key of both teams joined
them. Expected values by hand.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.fold import fold
from headwater.schema.delta import GraphDelta
from headwater.schema.events import parse
from tests.canonical import edges
from tests.event_builders import run_event, symlinks
from tests.graph_of_batches import graph_of

pytestmark = pytest.mark.neo4j

R = "0198c2f4-0000-7000-8000-000000000001"
TABLE, LOCATION = "dataset:b-team:table", "dataset:a-team:loc"
Event = dict[str, Any]


def joined(sender: list[str] | None) -> Event:
    """Return a run that writes the table, whose facet names its location."""
    facets = symlinks("loc", namespace="a-team")
    output = {"namespace": "b-team", "name": "table", "facets": facets}
    event = run_event(R, "COMPLETE", 1, outputs=[output])
    return {**event, **({"headwater_sender": sender} if sender else {})}


def by_team_a(second: int, facet: Event) -> Event:
    return {
        "eventTime": f"2026-01-01T00:00:{second:02}Z",
        "producer": "https://example.com/p",
        "dataset": {"namespace": "a-team", "name": "loc", "facets": {"symlinks": facet}},
        "headwater_sender": ["a-team"],
    }


def _fold(bodies: list[bytes]) -> GraphDelta:
    return fold(parse(body, received=10) for body in bodies)


FURTHER_NAME = symlinks("zzz", namespace="a-team")["symlinks"]


@pytest.mark.parametrize(
    ("sender", "facet", "aliases"),
    [
        (None, FURTHER_NAME, {LOCATION, "dataset:a-team:zzz"}),
        (["*-team"], FURTHER_NAME, {LOCATION, "dataset:a-team:zzz"}),
        (["a-team", "b-team"], {"_deleted": True}, {LOCATION}),
    ],
)
def test_the_table_stays_the_dataset(
    database: Database, sender: list[str] | None, facet: Event, aliases: set[str]
) -> None:
    bodies = [json.dumps(one).encode() for one in (joined(sender), by_team_a(3, facet))]
    orders = [[bodies], *([[one] for one in order] for order in itertools.permutations(bodies))]
    graphs = [graph_of(database, _fold, order) for order in orders]
    assert graphs[1:] == graphs[:-1]
    assert edges(database, "VERSION_OF") == {
        (f"artifact:b-team:table:{R}", "VERSION_OF", TABLE),
    }
    assert {(near, far) for near, _, far in edges(database, "SYMLINK_OF")} == {
        (alias, TABLE) for alias in aliases
    }
