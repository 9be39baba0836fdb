"""Old runs become daily summaries, and every result that a question needs stays, on the real
Neo4j.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.cypher.driver.database import Database, Row
from headwater.lineage.questions.failure_impact import failure_impact
from headwater.lineage.questions.freshness import freshness
from headwater.lineage.questions.lineage import Trace, trace
from headwater.lineage.questions.traces import find_trace
from headwater.lineage.questions.usage import usage
from headwater.lineage.view import GraphView
from headwater.pipelines.rollup import RollupReport, roll_up
from headwater.pipelines.rollup_plan import present_time
from headwater.schema.retention import Horizon, Rules
from headwater.schema.visibility import Visibility
from tests.canonical import canonical, edges, empty
from tests.conftest import Neo4jServer
from tests.event_builders import dataset, parent, run_event, schema, urns
from tests.run_builders import Event, answer, ds, job, run, run_of, version, write_events

pytestmark = pytest.mark.neo4j

DAY = 86_400_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HISTORY = ("run:", "artifact:", "source:", "answer:", "summary:")


def horizon(minute: int, *, sample: float = 0.0, namespace: str = "*") -> Horizon:
    """Return a horizon: runs before this minute of 1 January 2026 are old."""
    moment = (
        int((datetime(2026, 1, 1, tzinfo=UTC) - EPOCH).total_seconds()) * 1_000_000
        + minute * 60_000_000
    )
    return Horizon(
        Rules(
            {"*": 1.0} if namespace == "*" else {"*": 9.0, namespace: 1.0}, {"*": sample}, {"*": 0}
        ),
        moment + DAY,
    )


def runs_left(database: Database) -> set[str]:
    return {urn.removeprefix("run:") for urn in urns(database, "PipelineRun")}


def summaries(database: Database, name: str) -> list[Row]:
    return [
        row["properties"] for row in database.read("read/rollup/summaries", job=job(name), limit=9)
    ]


def daily() -> list[Event]:
    """Return events: `load` fills raw every 10 minutes, `build` makes mart of it; both run four
    times.
    """
    events: list[Event] = []
    for number in range(4):
        events += run(
            f"load-{number}", "load", ["crm"], ["raw"], minute=10 * number, rows=100 + number
        )
        events += run(
            f"build-{number}", "build", ["raw"], ["mart"], minute=10 * number + 5, rows=10
        )
    return events


@pytest.mark.usefixtures("clean_graph")
def test_old_runs_become_summaries(database: Database) -> None:
    write_events(database, daily())
    before = edges(database)
    # Of the eight runs five ended before minute 25; build-2 ended at 26.
    assert roll_up(database, horizon(25)) == RollupReport(
        old=5, summarised=5, protected=0, done=True, passes=1
    )
    assert runs_left(database) == {"load-3", "build-2", "build-3"}
    # The inputs of build-2 are there, its run is not.
    assert urns(database, "Artifact") == {
        version("raw", "load-2"),
        version("raw", "load-3"),
        version("mart", "build-2"),
        version("mart", "build-3"),
    }
    assert (version("raw", "load-2"), "FEEDS", run_of("build-2")) in edges(database)
    [load] = summaries(database, "load")
    [build] = summaries(database, "build")
    assert load["urn"] == f"summary:etl:load:2026-01-01:COMPLETE:{load['versions']}"
    statuses = {
        "runs": 3,
        "timed": 3,
        "seconds": 180.0,
        "secondsMin": 60.0,
        "secondsMax": 60.0,
        "errors": 0,
    }
    assert {key: load[key] for key in statuses} == statuses
    assert (load["rowsWritten"], load["day"], load["status"]) == (303, "2026-01-01", "COMPLETE")
    assert (load["first"], load["last"]) == (
        datetime(2026, 1, 1, tzinfo=UTC),
        datetime(2026, 1, 1, 0, 20, tzinfo=UTC),
    )
    assert (build["runs"], build["reads"], build["writes"]) == (2, [ds("raw")], [ds("mart")])
    on_map = {
        edge for edge in before if not any(end.startswith(HISTORY) for end in (edge[0], edge[2]))
    }
    assert on_map <= edges(database)


@pytest.mark.usefixtures("clean_graph")
def test_a_second_rollup_continues_from_the_first(database: Database) -> None:
    write_events(database, daily())
    roll_up(database, horizon(25))
    once = canonical(database)
    assert roll_up(database, horizon(25)).summarised == 0
    assert canonical(database) == once
    assert roll_up(database, horizon(30)).summarised == 1
    assert runs_left(database) == {"load-3", "build-3"}
    # Versions that only build-2 read are removed with it.
    assert version("raw", "load-2") not in urns(database, "Artifact")
    assert [row["runs"] for row in summaries(database, "build")] == [3]


@pytest.mark.usefixtures("clean_graph")
@pytest.mark.parametrize(
    ("rows", "minutes"), [([2**63 - 1, 2**63 - 1, 1], [100]), ([2**63 - 1, 5, 1], [3, 100])]
)
def test_sums_end_at_the_greatest_integer(
    database: Database, rows: list[int], minutes: list[int]
) -> None:
    """In one batch, and in the batches of two rollups."""
    for number, count in enumerate(rows):
        write_events(
            database, run(f"load-{number}", "load", [], ["raw"], minute=5 * number, rows=count)
        )
    reports = [roll_up(database, horizon(minute)) for minute in minutes]
    assert sum(report.summarised for report in reports) == 2
    [load] = summaries(database, "load")
    assert (load["runs"], load["rowsWritten"]) == (2, 2**63 - 1)


@pytest.mark.usefixtures("clean_graph")
def test_a_rollup_repairs_the_stored_horizons(database: Database) -> None:
    """An unreadable horizon is replaced, and one after the clock is moved to the present time."""
    write_events(database, daily())
    ahead = Horizon(Rules({"*": 7.0}, {"*": 0.0}, {"*": 0.0}), 10**17)
    unreadable = msgspec.to_builtins(ahead) | {"rules": {"days": {"*": None}}}
    with database.write() as transaction:
        text = msgspec.json.encode([ahead, unreadable]).decode()
        transaction.run("write/maintenance/retention", horizons=text)
    assert roll_up(database, horizon(25)).summarised == 5
    [row] = database.read("read/state/retention")
    moved, new = msgspec.json.decode(row["horizons"], type=list[Horizon])
    assert (moved.rules, new) == (ahead.rules, horizon(25))
    assert moved.at <= time.time() * 1_000_000


@pytest.mark.usefixtures("clean_graph")
def test_the_present_time_is_not_after_the_newest_commit(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now + 3_650 * DAY * 1_000)
    assert present_time(database) == now // 1_000 + 3_650 * DAY
    write_events(database, daily())
    assert abs(present_time(database) - now // 1_000) < DAY


@pytest.mark.usefixtures("clean_graph")
def test_a_dry_run_changes_nothing(database: Database) -> None:
    write_events(database, daily())
    before = canonical(database)
    assert roll_up(database, horizon(25), dry_run=True).summarised == 5
    assert canonical(database) == before
    assert database.read("read/state/retention") == []


@pytest.mark.usefixtures("clean_graph")
def test_the_whole_evidence_of_answers_stays(database: Database) -> None:
    write_events(database, daily()[:4], answer("quarter", "mart", minute=9), daily()[4:])
    assert roll_up(database, horizon(25)).protected == 2
    assert runs_left(database) == {"load-0", "build-0", "load-3", "build-2", "build-3"}


@pytest.mark.usefixtures("clean_graph")
def test_failures_stay_with_the_runs_before_and_after(database: Database, view: GraphView) -> None:
    events = daily()
    failed = run("load-x", "load", ["crm"], ["raw"], minute=12, status="FAIL", error="disk full")
    write_events(database, events, failed)
    before = failure_impact(view, [run_of("load-x")])
    roll_up(database, horizon(25))
    # load-x left an unfinished version that build-1 read beside that of load-1; load-2 resolved it.
    assert runs_left(database) == {
        "load-x",
        "load-1",
        "build-1",
        "load-2",
        "build-2",
        "load-3",
        "build-3",
    }
    assert failure_impact(view, [run_of("load-x")]) == before


@pytest.mark.usefixtures("clean_graph")
def test_a_run_with_edges_of_its_own_stays(database: Database) -> None:
    nightly = [
        run_event("dag-0", "START", 0, job="dag"),
        run_event("dag-0", "COMPLETE", 9, job="dag"),
    ]
    task = run_event("task-0", "COMPLETE", 5, job="task", facets=parent("dag-0", "dag"))
    newer = [
        run_event("dag-1", "COMPLETE", 50, job="dag"),
        run_event("other", "COMPLETE", 3, job="once"),
    ]
    two = [
        run_event(f"s-{n}", "COMPLETE", 1, job="j", outputs=[dataset("s", schema(a=t))])
        for n, t in ((0, "int"),)
    ]
    two += [run_event("s-1", "COMPLETE", 2, job="j", outputs=[dataset("s", schema(a="int"))])]
    two += [run_event("s-2", "COMPLETE", 3, job="j", outputs=[dataset("s", schema(a="string"))])]
    two += [run_event("s-3", "COMPLETE", 4, job="j", outputs=[dataset("s", schema(a="string"))])]
    two += [run_event("s-4", "COMPLETE", 60, job="j", outputs=[dataset("s", schema(a="string"))])]
    write_events(database, [*nightly, task, *newer, *two])
    roll_up(database, horizon(25))
    # task-0 of dag-0 is the only run of its job, `other` the newest of its job. The schema changed
    # from s-1 to s-2.
    assert runs_left(database) == {"dag-0", "task-0", "dag-1", "other", "s-1", "s-2", "s-4"}
    # With a newer run of the task, task-0 can be summarised, and then its parent.
    write_events(
        database, [run_event("task-1", "COMPLETE", 55, job="task", facets=parent("dag-1", "dag"))]
    )
    rolled = roll_up(database, horizon(25))
    assert (rolled.summarised, runs_left(database) & {"dag-0", "task-0"}) == (2, set())


@pytest.mark.usefixtures("clean_graph")
def test_sampled_runs_and_other_namespaces_stay(database: Database) -> None:
    write_events(database, daily())
    assert roll_up(database, horizon(25, namespace="web*")).old == 0
    assert roll_up(database, horizon(25, sample=1.0)).old == 0
    assert len(runs_left(database)) == 8


@pytest.mark.usefixtures("clean_graph")
def test_late_events_of_summarised_runs_are_counted_and_left_out(database: Database) -> None:
    write_events(database, daily())
    roll_up(database, horizon(25))
    before = canonical(database)
    write_events(database, daily())
    assert canonical(database) == before
    [found] = database.read("read/state/retention")
    # load-0 to -2, build-0 and -1.
    assert found["lateRuns"] == 5
    # An unknown run that is as old is left out too; a new one is added.
    write_events(
        database,
        [*run("load-y", "load", ["crm"], ["raw"], minute=3), *run("load-4", "load", minute=40)],
    )
    assert runs_left(database) == {"load-3", "build-2", "build-3", "load-4"}


@pytest.mark.usefixtures("clean_graph")
def test_it_stops_between_two_pieces_and_goes_on(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_events(database, daily())
    roll_up(database, horizon(25))
    before_rollup = canonical(database)
    empty(database)
    write_events(database, daily())
    monkeypatch.setattr("headwater.pipelines.rollup.BATCH_SIZE", 2)
    results: list[int] = []

    def twice() -> bool:
        results.append(1)
        return len(results) > 1

    first = roll_up(database, horizon(25), stopped=twice)
    assert (first.summarised, first.done) == (2, False)
    second = roll_up(database, horizon(25))
    assert (second.summarised, second.done) == (3, True)
    assert canonical(database) == before_rollup


@pytest.mark.usefixtures("clean_graph")
def test_use_is_counted_over_summaries_too(database: Database, view: GraphView) -> None:
    write_events(
        database,
        daily(),
        run("side-0", "side", ["raw", "crm"], minute=6),
        run("side-1", "side", ["crm"], minute=50),
    )
    now = datetime(2026, 1, 1, 1, tzinfo=UTC)
    before = usage(view, ds("raw"), now=now)
    # Four runs of a minute; one of a minute that read two datasets.
    assert [(one.job, one.runs, one.seconds) for one in before.consumers] == [
        (job("build"), 4, 240),
        (job("side"), 1, 30),
    ]
    assert roll_up(database, horizon(25)).summarised == 6
    assert usage(view, ds("raw"), now=now) == before
    visible_usage = usage(view.visible_to(Visibility(("db", "et"))), ds("raw"), now=now)
    assert visible_usage.consumers == []
    # A day that began before the window is not counted.
    late = usage(view, ds("raw"), days=1, now=datetime(2026, 1, 2, 0, 10, tzinfo=UTC))
    assert [(one.job, one.runs) for one in late.consumers] == [(job("build"), 2)]


KILLED = """
import os, signal, sys, msgspec
from headwater.pipelines import rollup_plan as steps
from headwater.cypher.driver.database import Database
from headwater.pipelines import rollup
from headwater.schema.retention import Horizon

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

rollup.BATCH_SIZE = 2
if sys.argv[1] == "within":
    # The summaries are written, the runs are not yet removed.
    steps._remove = die
uri, user, password, horizon = sys.argv[2:]
seen = []
def progress(what, count):
    seen.append(what)
    if seen.count("summarising") == 2:
        die()
database = Database(uri, user, password)
rollup.roll_up(database, msgspec.json.decode(horizon, type=Horizon), progress=progress)
"""


@pytest.mark.usefixtures("clean_graph")
@pytest.mark.parametrize(("when", "removed"), [("within", 0), ("between", 4)])
def test_a_killed_rollup_has_counted_the_runs_it_removed(
    database: Database, neo4j_server: Neo4jServer, when: str, removed: int
) -> None:
    write_events(database, daily())
    roll_up(database, horizon(25))
    before_rollup = canonical(database)
    empty(database)
    write_events(database, daily())
    encoded = msgspec.json.encode(horizon(25)).decode()
    arguments = (when, neo4j_server.uri, neo4j_server.user, neo4j_server.password, encoded)
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, *arguments], check=False, capture_output=True
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    counted = sum(row["runs"] for name in ("load", "build") for row in summaries(database, name))
    assert (len(runs_left(database)), counted) == (8 - removed, removed)
    assert roll_up(database, horizon(25)).summarised == 5 - removed
    assert canonical(database) == before_rollup


JOBS: dict[str, tuple[list[str], list[str]]] = {
    "load": (["crm"], ["raw"]),
    "build": (["raw"], ["mart"]),
    "grow": (["mart", "log"], ["log"]),
}


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    events: list[Event] = []
    for number in range(draw(st.integers(6, 22))):
        name = draw(st.sampled_from(sorted(JOBS)))
        status = draw(st.sampled_from(["COMPLETE"] * 8 + ["FAIL", "ABORT"]))
        minute = draw(st.integers(0, 50))
        events += run(f"run-{number}", name, *JOBS[name], minute=minute, status=status, rows=number)
    for number in range(draw(st.integers(0, 2))):
        events += answer(
            f"answer-{number}",
            draw(st.sampled_from(["raw", "mart", "log"])),
            minute=draw(st.integers(0, 55)),
        )
    return events


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    histories(), st.integers(5, 60), st.sampled_from([0.0, 0.5]), st.randoms(use_true_random=False)
)
def test_no_result_of_a_question_is_lost(
    database: Database, events: list[Event], minute: int, sample: float, chance: random.Random
) -> None:
    empty(database)
    write_events(database, events)
    questions, counted = results(database), by_day(database)
    rolled = roll_up(database, horizon(minute, sample=sample))
    assert rolled.done
    assert results(database) == questions
    days = by_day(database)
    for row in database.ask(
        "MATCH (s:RunSummary) "
        "RETURN s.job AS job, s.day AS day, s.status AS status, s.runs AS runs",
        {},
    ):
        days[row["job"], row["day"], row["status"]] += row["runs"]
    assert days == counted
    # The events again, in any order and in parts, leave the graph unchanged.
    before = canonical(database)
    chance.shuffle(events)
    for start in range(0, len(events), 7):
        write_events(database, events[start : start + 7])
    assert canonical(database) == before
    assert roll_up(database, horizon(minute, sample=sample)).summarised == 0


@pytest.mark.usefixtures("clean_graph")
def test_a_rolled_up_run_is_no_longer_found_by_its_trace(database: Database) -> None:
    trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"
    facets = {"trace": {"traceId": trace_id}}
    events = [
        run_event(f"r{minute}", "COMPLETE", minute, facets=facets, outputs=["t"])
        for minute in (0, 30)
    ]
    write_events(database, events)
    view = GraphView(database)
    assert find_trace(view, trace_id).runs == [run_of("r30"), run_of("r0")]
    assert roll_up(database, horizon(25)).summarised == 1
    assert find_trace(view, trace_id).runs == [run_of("r30")]


def results(database: Database) -> dict[str, Any]:
    """Return results that a rollup must keep: traces, failures, freshness, the lineage graph."""
    text = "MATCH (r:PipelineRun {status: 'FAIL'}) RETURN r.urn AS urn"
    failed = [row["urn"] for row in database.ask(text, {})]
    impact = failure_impact(GraphView(database), failed)
    present = sorted(urns(database, "Dataset"))
    return {
        "answers": {
            urn: _as_tuple(trace(GraphView(database), urn.removeprefix("answer:")))
            for urn in urns(database, "Answer")
        },
        "failures": {urn: _sorted(one) for urn, one in impact.items()},
        "freshness": freshness(GraphView(database), present),
        "map": {
            edge
            for edge in edges(database)
            if not any(end.startswith(HISTORY) for end in (edge[0], edge[2]))
        },
        "current": database.ask(
            "MATCH (a:Dataset|Job)-[e]->(b:Dataset|Job) "
            "RETURN a.urn AS a, b.urn AS b, type(e) AS t, e.current AS c ORDER BY a, t, b",
            {},
        ),
    }


def _as_tuple(found: Trace) -> tuple[Any, ...]:
    sides = (found.sources, found.artifacts, found.runs, found.answers, found.columns)
    return (found.answer, *(sorted(side, key=str) for side in sides), sorted(found.edges, key=str))


def _sorted(one: Any) -> tuple[Any, ...]:
    sides = (
        [
            sorted(getattr(side, kind))
            for kind in ("runs", "artifacts", "answers", "datasets", "jobs")
        ]
        for side in (one.partial, one.stale)
    )
    return (*sides, one.resolution, one.job)


def by_day(database: Database) -> Counter[tuple[str, str, str]]:
    text = (
        "MATCH (r:PipelineRun)-[:RUN_OF]->(j:Job) "
        "RETURN j.urn AS job, r.startedAt AS at, r.status AS status"
    )
    return Counter(
        (row["job"], row["at"].date().isoformat(), row["status"]) for row in database.ask(text, {})
    )
