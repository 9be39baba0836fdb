"""The freshness of datasets, on one history in which every instant is worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.lineage.questions import freshness as module
from headwater.lineage.questions.freshness import (
    FRESH,
    STALE,
    UNKNOWN,
    Freshness,
    SourceAge,
    Verdict,
    evaluate,
    freshness,
)
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from headwater.schema.durations import parse_duration
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, run_event
from tests.run_builders import Event, at, ds, run, version, write_events

NOW = datetime(2026, 1, 1, 2, tzinfo=UTC)


def moment(minute: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)


def captured(name: str, minute: int) -> list[Event]:
    return [native.source_event(name, namespace="db", captured_at=at(minute))]


def from_the_web(events: list[Event]) -> list[Event]:
    """Build a run whose first input is in another namespace."""
    for event in events:
        event["inputs"][0]["namespace"] = "web"
    return events


def updated(minute: int) -> Event:
    return {"dataQualityMetrics": {"columnMetrics": {}, "lastUpdated": at(minute)}}


def updating_run(
    run_id: str, minute: int, source: str, output: str, updated_minute: int | None = None
) -> Event:
    usage = None if updated_minute is None else updated(updated_minute)
    return run_event(
        run_id,
        minute=minute,
        job=run_id,
        inputs=[dataset(source, usage=usage, side="input")],
        outputs=[output],
    )


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView, graph_driver: Driver) -> Iterator[GraphView]:
    """Write many small, separate histories."""
    del graph_driver
    empty(database)
    write_events(
        database,
        # crm -> a -> b; a is not made again afterwards.
        captured("crm", 0),
        run("load-1", "load", ["crm"], ["a"], minute=10),
        run("build-1", "build", ["a"], ["b"], minute=20),
        run("load-2", "load", ["crm"], ["a"], minute=60, status="FAIL"),
        # One source is old, one new; both arrive by two paths.
        captured("slow", 5),
        captured("quick", 100),
        run("join-1", "join", ["slow", "quick"], ["joined"], minute=110),
        run("twice-1", "twice", ["joined", "quick"], ["twice"], minute=115),
        # The time of the capture is missing; the source was captured again after the read.
        run("copy-1", "copy", ["bare"], ["copied"], minute=30),
        captured("again", 100),
        run("use-1", "use", ["again"], ["used"], minute=90),
        # The dataset grows by itself: the first load is old, the newest is not.
        run("grow-1", "grow", [], ["grown"], minute=0),
        run("grow-2", "grow", ["grown", "quick"], ["grown"], minute=105),
        # A complete version and the output of a later failed run are read together.
        run("p-1", "p", [], ["p"], minute=0),
        run("p-2", "p", ["quick"], ["p"], minute=101, status="FAIL"),
        run("c-1", "c", ["p"], ["c"], minute=110),
        # Datasets that only failed runs wrote, that were only named, or that were dropped.
        run("f-1", "f", [], ["failed"], minute=110, status="FAIL"),
        [dataset_event("named", 110)],
        run("d-1", "d", [], ["dropped"], minute=10),
        [dataset_event("dropped", 50, {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}})],
        # The dataset itself and each run that read it report the time of its update.
        [
            dataset_event("itself", 40, updated(35)),
            updating_run("i-1", 80, "itself", "from_itself"),
        ],
        [
            updating_run("r-1", 80, "reader", "by_1", 70),
            updating_run("r-2", 100, "reader", "by_2", 95),
        ],
        [updating_run("n-1", 80, "nonsense", "by_n")],
        [
            dataset_event(
                "nonsense", 40, {"dataQualityMetrics": {"columnMetrics": {}, "lastUpdated": "soon"}}
            )
        ],
        # A run read the dataset before any job made it; a later registration does not remove its
        # derivations.
        run("early-1", "early", ["late"], ["early"], minute=5),
        run("late-1", "late", ["quick"], ["late"], minute=103),
        captured("late", 110),
        # From another namespace.
        from_the_web(run("w-1", "w", ["page", "quick"], ["visits"], minute=112)),
    )
    yield view
    empty(database)


def fresh(view: GraphView, name: str) -> Freshness:
    return freshness(view, [ds(name)])[ds(name)]


def source(name: str, minute: int | None, exact: bool = True) -> SourceAge:
    return SourceAge(ds(name), None if minute is None else moment(minute), exact)


def verdict(view: GraphView, name: str, minutes: int) -> Verdict:
    return evaluate(fresh(view, name), max_age=timedelta(minutes=minutes), now=NOW)


@pytest.mark.neo4j
@pytest.mark.parametrize(
    ("name", "newest_minute", "sources"),
    [
        ("b", 21, [source("crm", 0)]),
        ("a", 11, [source("crm", 0)]),
        ("joined", 111, [source("slow", 5), source("quick", 100)]),
        ("twice", 116, [source("slow", 5), source("quick", 100)]),
        ("copied", 31, [source("bare", 30, False)]),
        ("used", 91, [source("again", 90, False)]),
        ("again", 100, [source("again", 100)]),
        ("grown", 106, [source("quick", 100), source("grown", 106)]),
        ("c", 111, [source("p", 1)]),
        ("itself", 35, [source("itself", 35)]),
        ("from_itself", 80, [source("itself", 35)]),
        ("reader", 95, [source("reader", 95)]),
        # The source was updated between r-1 and r-2.
        ("by_1", 80, [source("reader", 70)]),
        ("by_2", 100, [source("reader", 95)]),
        ("late", 104, [source("quick", 100)]),
        ("early", 6, [source("late", 5, False)]),
        ("by_n", 80, [source("nonsense", 80, False)]),
        ("failed", None, []),
        ("named", None, []),
        ("bare", None, []),
        ("dropped", None, []),
    ],
)
def test_sources_of_each_dataset(
    history: GraphView, name: str, newest_minute: int | None, sources: list[SourceAge]
) -> None:
    found = fresh(history, name)
    assert found.newest_at == (None if newest_minute is None else moment(newest_minute))
    assert found.sources == sources
    assert found.reason == ""
    assert found.effective_at == (sources[0].newest_at if sources else None)
    assert found.exact == (bool(sources) and all(one.exact for one in sources))


@pytest.mark.neo4j
def test_the_newest_data_is_a_version_or_a_capture(history: GraphView) -> None:
    assert fresh(history, "a").version == version("a", "load-1")
    assert fresh(history, "crm").version == "source:db:crm"
    assert freshness(history, [ds("unknown")]) == {}
    both = freshness(history, [ds("a"), ds("b")])
    assert both == {ds("a"): fresh(history, "a"), ds("b"): fresh(history, "b")}


@pytest.mark.neo4j
@pytest.mark.parametrize(
    ("name", "minutes", "state", "named"),
    [
        # The oldest source of `joined` is 115 minutes old at 02:00.
        ("joined", 115, FRESH, []),
        ("joined", 114, STALE, ["slow"]),
        ("joined", 10, STALE, ["slow", "quick"]),
        # It is at least 90 minutes old; its exact age is unknown.
        ("copied", 89, STALE, ["bare"]),
        ("copied", 90, UNKNOWN, ["bare"]),
        ("used", 60, UNKNOWN, ["again"]),
        ("grown", 20, FRESH, []),
        ("c", 60, STALE, ["p"]),
        ("failed", 10_000, UNKNOWN, ["failed"]),
        ("dropped", 10_000, UNKNOWN, ["dropped"]),
    ],
)
def test_freshness_and_its_reason(
    history: GraphView, name: str, minutes: int, state: str, named: list[str]
) -> None:
    found = verdict(history, name, minutes)
    assert (found.state, [one.dataset for one in found.causes]) == (
        state,
        [ds(one) for one in named],
    )
    assert found.explanation


@pytest.mark.neo4j
def test_hidden_sources_are_not_named_and_leave_freshness_unknown(history: GraphView) -> None:
    everything = fresh(history, "visits")
    assert [one.dataset for one in everything.sources] == [ds("quick"), "dataset:web:page"]
    of_db = history.visible_to(Visibility(("db", "etl")))
    found = fresh(of_db, "visits")
    assert ([one.dataset for one in found.sources], found.reason) == ([ds("quick")], "visibility")
    assert verdict(of_db, "visits", 60).state == UNKNOWN
    assert verdict(of_db, "visits", 10) == Verdict(
        STALE, [source("quick", 100)], "older than the maximum age"
    )
    # The middle is hidden: the source is visible, but the run that read it and the time of the read
    # are not.
    data_only = history.visible_to(Visibility(("db",)))
    assert fresh(data_only, "b").sources == [source("crm", 0)]
    assert fresh(data_only, "copied").sources == [source("bare", None, False)]
    assert verdict(data_only, "b", 10_000).state == UNKNOWN
    assert freshness(history.visible_to(Visibility(("web",))), [ds("b")]) == {}


@pytest.mark.neo4j
def test_a_truncated_traversal_leaves_freshness_unknown(
    history: GraphView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NODES_MAX", 3)
    found = fresh(history, "joined")
    assert found.reason == "nodes"
    verdict = evaluate(found, max_age=timedelta(days=9), now=NOW)
    assert (verdict.state, verdict.causes) == (UNKNOWN, [])
    assert "nodes" in verdict.explanation


def test_a_dataset_without_sources_has_its_own_age() -> None:
    circle = Freshness(ds("x"), moment(60), version("x", "r"), [])
    assert evaluate(circle, max_age=timedelta(minutes=59), now=NOW).causes == [source("x", 60)]
    assert evaluate(circle, max_age=timedelta(minutes=60), now=NOW).state == FRESH


def test_old_data_of_fresh_sources_is_stale_itself() -> None:
    ahead = Freshness(ds("x"), moment(10), version("x", "r"), [source("s", 119)])
    assert evaluate(ahead, max_age=timedelta(minutes=60), now=NOW).causes == [source("x", 10)]


MINUTES = st.integers(0, 120)
SOURCES = st.lists(
    st.builds(source, st.sampled_from("abc"), st.none() | MINUTES, st.booleans()), max_size=4
)


@given(MINUTES, SOURCES, st.sampled_from(["", "time", "visibility"]), MINUTES, MINUTES)
def test_more_time_never_makes_stale_and_nothing_unknown_is_fresh(
    newest_minute: int, sources: list[SourceAge], reason: str, less: int, more: int
) -> None:
    source_ages = [
        SourceAge(one.dataset, one.newest_at, one.exact and one.newest_at is not None)
        for one in sources
    ]
    found = Freshness(ds("x"), moment(newest_minute), version("x", "r"), source_ages, reason)
    short, long = sorted((less, more))
    strict, lenient = (
        evaluate(found, max_age=timedelta(minutes=length), now=NOW).state
        for length in (short, long)
    )
    order = [STALE, UNKNOWN, FRESH]
    assert order.index(strict) <= order.index(lenient)
    if reason or not all(one.exact for one in source_ages):
        assert lenient != FRESH
    if lenient == FRESH:
        assert all(
            one.newest_at is not None and NOW - one.newest_at <= timedelta(minutes=long)
            for one in source_ages
        )


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("90s", timedelta(seconds=90)),
        ("90m", timedelta(minutes=90)),
        ("24h", timedelta(days=1)),
        (" 7 D ", timedelta(days=7)),
        ("1.5h", timedelta(minutes=90)),
        ("2w", timedelta(days=14)),
    ],
)
def test_lengths_of_time(text: str, length: timedelta) -> None:
    assert parse_duration(text, name="within") == length


@pytest.mark.parametrize(
    "text", ["", "24", "h", "-1h", "0m", "1y", "1h30m", "٣h", "9" * 400 + "w", "99999999999w"]
)
def test_no_length_of_time(text: str) -> None:
    with pytest.raises(QueryError, match="within"):
        parse_duration(text, name="within")
