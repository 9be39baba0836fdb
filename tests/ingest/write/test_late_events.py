"""Late events of rolled-up runs are left out and counted; other runs are written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

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
        text = stored(horizons)
        transaction.run("write/maintenance/retention", horizons=text)
        delta = without_rolled_up(transaction, delta_of(events), cache)
    assert cache.horizons == horizons
    return set(delta.runs)


def stored(horizons: list[Horizon]) -> str:
    return msgspec.json.encode(horizons).decode()


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


def test_an_unreadable_horizon_stops_no_event_and_no_other_horizon(database: Database) -> None:
    """A rollup of an older version stored infinite days as null."""
    unreadable = stored([HORIZON]).replace("30.0", "null", 1)
    with database.write() as transaction:
        acquire_write_lock(transaction, "tests")
        transaction.run("write/maintenance/retention", horizons=unreadable)
    write_events(database, LATE)
    assert [row["urn"] for row in database.ask("MATCH (r:PipelineRun) RETURN r.urn AS urn", {})]
    other = [run_event("other", minute=5, outputs=["t"])]
    with database.write() as transaction:
        acquire_write_lock(transaction, "tests")
        both = unreadable.removesuffix("]") + "," + stored([HORIZON]).removeprefix("[")
        transaction.run("write/maintenance/retention", horizons=both)
        assert not without_rolled_up(transaction, delta_of(other), WriteCache()).runs


def test_a_horizon_after_the_clock_applies_at_the_present_time(database: Database) -> None:
    ahead = Horizon(RULES, parse_instant("2190-01-01T00:00:00Z"))
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    recent = [{**LATE[0], "eventTime": yesterday}]
    assert remaining(database, recent, [ahead]) == {run_of("late"), run_of("above")}
    assert remaining(database, LATE, [ahead]) == set()
