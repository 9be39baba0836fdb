"""Changed runs: every statement that writes a run stamps it, and reads return them in order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import find_query
from headwater.ingest.write.containment import abandon_lost_heartbeats
from headwater.lineage.questions import changed_runs as news
from headwater.lineage.questions.changed_runs import changed_runs, read_clock
from headwater.lineage.view import GraphView
from tests.event_builders import node
from tests.run_builders import answer, run, run_of, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


def urns(view: GraphView, since: datetime) -> list[str]:
    return [change.urn for change in changed_runs(view, since)]


def test_written_runs_are_stamped_by_the_clock_of_neo4j(
    database: Database, view: GraphView
) -> None:
    began = read_clock(view)
    assert abs(datetime.now(UTC) - began) < timedelta(minutes=1)
    assert changed_runs(view, began) == []
    write_events(database, run("a", "load", [], ["x"]))
    between = read_clock(view)
    write_events(database, run("b", "load", [], ["x"]))
    assert urns(view, began) == [run_of("a"), run_of("b")]
    assert urns(view, between) == [run_of("b")]
    (change,) = changed_runs(view, between)
    assert between <= change.at <= read_clock(view)
    # A repeated event is not written again; a new fact is.
    after_first = read_clock(view)
    write_events(database, run("a", "load", [], ["x"]), answer("r", "x"))
    assert changed_runs(view, after_first) == []
    write_events(database, run("a", "load", ["w"], ["x"]))
    assert urns(view, after_first) == [run_of("a")]


def test_changes_by_other_statements_are_stamped(database: Database, view: GraphView) -> None:
    write_events(database, run("child", "load", [], ["x"], parent="dag")[:1])
    began = read_clock(view)
    write_events(database, run("dag", "dag", minute=5))
    assert node(database, run_of("child"))["status"] == "ABANDONED"
    assert set(urns(view, began)) == {run_of("child"), run_of("dag")}


def test_silence_is_stamped(database: Database, view: GraphView) -> None:
    write_events(database, run("quiet", "load", [], ["x"])[:1])
    began = read_clock(view)
    # The event was received in 1970.
    assert (
        abandon_lost_heartbeats(
            database,
            now=datetime(2026, 1, 1, tzinfo=UTC),
            heartbeat_timeout_seconds=60,
            holder="tests",
        )
        == 1
    )
    assert urns(view, began) == [run_of("quiet")]


def test_pages_are_in_order(
    database: Database, view: GraphView, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = read_clock(view)
    write_events(database, *(run(f"r{n}", "load") for n in range(5)))
    write_events(database, *(run(f"s{n}", "load") for n in range(5)))
    all_ = changed_runs(view, began)
    assert [change.at for change in all_] == sorted(change.at for change in all_)
    assert {urn[-2] for urn in urns(view, began)[:5]} == {"r"}
    monkeypatch.setattr(news, "ROWS_MAX", 4)
    assert changed_runs(view, began) == all_[:4]
    assert changed_runs(view, all_[3].at)[0].at == all_[3].at


def test_changed_runs_are_read_by_index(database: Database) -> None:
    text = find_query("read/catalog/changed_runs").text
    _, operators = database.plan(text, {"since": datetime(2026, 1, 1, tzinfo=UTC), "limit": 10})
    assert "NodeIndexSeekByRange" in operators
    assert not {"NodeByLabelScan", "AllNodesScan", "Sort", "Top"} & set(operators)
