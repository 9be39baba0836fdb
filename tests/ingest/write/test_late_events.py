"""Late events of rolled-up runs are left out and counted; other runs are written."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec
import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import acquire_write_lock
from headwater.ingest.fold import fold
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.late_events import without_rolled_up
from headwater.schema.delta import GraphDelta
from headwater.schema.events import parse, parse_instant
from headwater.schema.retention import Horizon, Rules
from tests.event_builders import parent, run_event
from tests.run_builders import Event, run_of, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


def delta_of(events: Sequence[Event]) -> GraphDelta:
    return fold(parse(json.dumps(event).encode(), received=0) for event in events)


RULES = Rules({"*": 30.0}, {"*": 0.0}, {"*": 0.0})
NOW = parse_instant("2026-03-01T00:00:00Z")
HORIZON = Horizon(RULES, NOW)
# The helpers of these tests place events on 1 January 2026: beyond the horizon of 30 days.
LATE = [run_event("late", minute=5, outputs=["t"], facets=parent("above", "dag"))]


def remaining(database: Database, events: Sequence[Event], horizons: list[Horizon]) -> set[str]:
    """Return the runs that remain in the delta of these events."""
    cache = WriteCache()
    with database.write() as transaction:
        acquire_write_lock(transaction, "tests")
        text = msgspec.json.encode(horizons).decode()
        transaction.run("write/maintenance/retention", horizons=text)
        delta = without_rolled_up(transaction, delta_of(events), cache)
    assert cache.horizons == horizons
    return set(delta.runs)


def counted(database: Database) -> int:
    [row] = database.read("read/state/retention")
    return int(row["lateRuns"])


def test_without_a_rollup_every_run_stays(database: Database) -> None:
    assert remaining(database, LATE, []) == {run_of("late"), run_of("above")}


def test_a_late_run_and_the_parent_that_only_it_names_are_left_out(database: Database) -> None:
    assert remaining(database, LATE, [HORIZON]) == set()
    assert counted(database) == 1


def test_a_late_run_in_the_graph_takes_its_events(database: Database) -> None:
    write_events(database, LATE)
    assert remaining(database, LATE, [HORIZON]) == {run_of("late"), run_of("above")}
    assert counted(database) == 0


def test_a_run_within_the_horizon_stays(database: Database) -> None:
    recent = [{**LATE[0], "eventTime": "2026-02-27T00:00:00Z"}]
    assert remaining(database, recent, [HORIZON]) == {run_of("late"), run_of("above")}


def test_a_run_that_failed_stays_however_late_its_events_come(database: Database) -> None:
    failed = [run_event("late", "FAIL", minute=5)]
    assert remaining(database, failed, [HORIZON]) == {run_of("late")}
    assert counted(database) == 0
