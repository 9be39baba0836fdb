"""The readers and costs of datasets, and unused datasets: one history, every figure worked out by
hand.

The questions cover the day before 02:00 on 2 January, so the window begins at minute 120 of the
history.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from neo4j import Driver

import headwater.lineage.questions.usage as module
from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError, QueryError
from headwater.lineage.questions.usage import (
    Consumer,
    CostShare,
    Unused,
    Usage,
    chargeback,
    consumers_page,
    unused,
    usage,
)
from headwater.lineage.view import GraphView
from headwater.schema.urns import answer_urn
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, run_event, write_batch
from tests.run_builders import Event, answer, ds, job, write_events

NOW = datetime(2026, 1, 2, 2, tzinfo=UTC)
OF_DB = Visibility(("db", "etl"))


def moment(minute: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)


def sized(name: str, size: int) -> Event:
    return dataset(name, usage={"outputStatistics": {"size": size}})


def counted(name: str, rows: int, size: int | None = None) -> Event:
    statistics: Event = {"rowCount": rows, **({} if size is None else {"size": size})}
    return dataset(name, usage={"inputStatistics": statistics}, side="input")


def reading(
    run_id: str, name: str, began: int, ended: int, *inputs: str | Event, owners: str = ""
) -> list[Event]:
    """Build a run that reads and writes nothing, of a job with these owners, separated by
    blanks.
    """
    owned = {"ownership": {"owners": [{"name": one} for one in owners.split()]}} if owners else {}
    return [
        run_event(run_id, "START", began, job=name, inputs=inputs, job_facets=owned),
        run_event(run_id, "COMPLETE", ended, job=name),
    ]


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView, graph_driver: Driver) -> Iterator[GraphView]:
    del graph_driver
    empty(database)
    page = dataset("page", namespace="web")
    write_events(
        database,
        [
            run_event(
                "make",
                "COMPLETE",
                0,
                job="make",
                outputs=[sized("big", 1000), sized("small", 10), "nobody"],
            )
        ],
        [
            run_event(
                "more",
                "COMPLETE",
                1,
                job="more",
                outputs=[sized("cold", 700), "gone", sized("kept", 90)],
            )
        ],
        [run_event("again", "COMPLETE", 2, job="more", outputs=[sized("cold", 500)])],
        [run_event("fails", "FAIL", 3, job="more", outputs=[sized("cold", 9_000)])],
        [run_event("flow", "START", 5, job="flow", inputs=["stream"])],
        reading("old", "old", 10, 11, "big", "cold"),
        answer("before", "big", minute=20),
        [dataset_event("gone", 30, {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}})],
        reading("long", "long", 100, 125, "ended"),
        # The window begins.
        [run_event("late", "COMPLETE", 130, job="late", outputs=["newer"])],
        reading("sum-1", "sum", 130, 134, counted("big", 5, 50), "small", owners="ann bob"),
        reading("sum-2", "sum", 140, 141, counted("big", 7), owners="ann bob"),
        [
            run_event("look-1", "START", 150, job="look", inputs=["big"]),
            run_event("look-1", "FAIL", 152, job="look"),
        ],
        [run_event("look-2", "START", 160, job="look", inputs=["big"])],
        reading("mix-1", "mix", 180, 181, "big", page, owners="ann"),
        answer("report", "big", minute=170),
        answer("secret", "big", {"namespace": "web", "name": "page"}, minute=171),
        answer("pinned", "kept", minute=175),
    )
    yield view
    empty(database)


def consumers_of(view: GraphView, name: str) -> Usage:
    return usage(view, ds(name), days=1, now=NOW)


@pytest.mark.neo4j
def test_consumers_with_their_share_of_the_seconds(history: GraphView) -> None:
    found = consumers_of(history, "big")
    assert found.consumers == [
        # Half of 240 seconds, because it read another dataset too, and 60.
        Consumer(job("sum"), ["ann", "bob"], 2, moment(140), 12, 50, 180.0),
        # One run of 120 seconds that failed, and one that has not ended.
        Consumer(job("look"), [], 2, moment(160), None, None, 120.0),
        Consumer(job("mix"), ["ann"], 1, moment(180), None, None, 30.0),
    ]
    assert (found.since, found.until) == (moment(120), NOW)
    assert (found.runs, found.seconds, found.truncated) == (5, 330.0, False)
    assert found.answers == [answer_urn("secret"), answer_urn("report")]


@pytest.mark.neo4j
def test_of_too_many_runs_the_newest_count(
    history: GraphView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RUNS_MAX", 5)
    assert not consumers_of(history, "big").truncated
    # The query reads one row more than the limit, to learn whether there are more.
    monkeypatch.setattr(module, "RUNS_MAX", 2)
    found = consumers_of(history, "big")
    assert [(one.job, one.runs, one.seconds) for one in found.consumers] == [
        (job("look"), 2, 120.0),
        (job("mix"), 1, 30.0),
    ]
    assert found.truncated


@pytest.mark.neo4j
def test_charges_of_each_owner(history: GraphView) -> None:
    charged = chargeback(consumers_of(history, "big").consumers)
    assert charged == [
        CostShare("ann", 2, 120.0),
        CostShare(None, 1, 120.0),
        CostShare("bob", 1, 90.0),
    ]
    assert chargeback([]) == []


@pytest.mark.neo4j
def test_only_visible_use_is_counted_and_divided(history: GraphView) -> None:
    found = consumers_of(history.visible_to(OF_DB), "big")
    # One dataset that `mix` read is hidden; the share of the other does not reveal it.
    assert {one.job: one.seconds for one in found.consumers} == {
        job("sum"): 180.0,
        job("look"): 120.0,
        job("mix"): 60.0,
    }
    assert found.answers == [answer_urn("report")]
    assert consumers_of(history.visible_to(Visibility(("db",))), "big").consumers == []
    with pytest.raises(NotFoundError):
        consumers_of(history.visible_to(Visibility(("etl",))), "big")


@pytest.mark.neo4j
def test_consumers_in_pages(history: GraphView) -> None:
    found = consumers_of(history, "big")
    first = consumers_page(found, first=2, after=None)
    assert ([one.job for one in first.entries], first.has_next) == ([job("sum"), job("look")], True)
    second = consumers_page(found, first=2, after=first.cursors[-1])
    assert ([one.job for one in second.entries], second.has_next) == ([job("mix")], False)


@pytest.mark.neo4j
def test_unused_the_largest_first(history: GraphView) -> None:
    found = unused(history, days=1, now=NOW)
    assert found.page.entries == [
        # The size of the newest complete version; the failed one does not count.
        Unused(ds("cold"), 500, moment(10)),
        Unused(ds("nobody"), None, None),
    ]
    assert (found.count, found.bytes, found.unknown_size_count, found.page.has_next) == (
        2,
        500,
        1,
        False,
    )


@pytest.mark.neo4j
def test_unused_in_pages_and_of_one_namespace(history: GraphView) -> None:
    first = unused(history, days=1, now=NOW, first=1)
    assert ([one.dataset for one in first.page.entries], first.page.has_next) == (
        [ds("cold")],
        True,
    )
    second = unused(history, days=1, now=NOW, first=1, after=first.page.cursors[0])
    assert ([one.dataset for one in second.page.entries], second.page.has_next) == (
        [ds("nobody")],
        False,
    )
    assert (second.count, second.bytes) == (2, 500)
    last = unused(history, days=1, now=NOW, first=1, after=second.page.cursors[0])
    assert (last.page.entries, last.count) == ([], 2)
    assert unused(history, days=1, now=NOW, namespace="web").count == 0


@pytest.mark.neo4j
def test_later_only_datasets_of_unfinished_runs_are_in_use(history: GraphView) -> None:
    found = unused(history, days=1, now=NOW + timedelta(days=2))
    names = [one.dataset for one in found.page.entries]
    # `big` is being written by look-2, `stream` by flow; neither has ended.
    assert names == [
        ds("cold"),
        ds("kept"),
        ds("small"),
        ds("ended"),
        ds("newer"),
        ds("nobody"),
        "dataset:web:page",
    ]
    assert (found.bytes, found.unknown_size_count) == (600, 4)
    assert unused(history.visible_to(OF_DB), days=1, now=NOW + timedelta(days=2)).count == 6


@pytest.mark.neo4j
def test_hidden_readers_count_as_use_without_their_time(history: GraphView) -> None:
    only_data = history.visible_to(Visibility(("db",)))
    found = unused(only_data, days=1, now=NOW)
    assert found.page.entries == [Unused(ds("cold"), 500, None), Unused(ds("nobody"), None, None)]


@pytest.mark.neo4j
def test_an_empty_window_and_an_empty_graph(history: GraphView) -> None:
    assert consumers_of(history, "nobody") == Usage(ds("nobody"), moment(120), NOW, [], [], False)
    assert unused(history.visible_to(Visibility(("nowhere",))), days=1, now=NOW).bytes == 0


@pytest.mark.neo4j
def test_bad_arguments_are_named(history: GraphView) -> None:
    with pytest.raises(NotFoundError):
        usage(history, ds("unknown"))
    with pytest.raises(QueryError, match="urn"):
        usage(history, job("sum"))
    for days in (0, 4_000):
        with pytest.raises(QueryError, match="days"):
            usage(history, ds("big"), days=days)
        with pytest.raises(QueryError, match="days"):
            unused(history, days=days)
    with pytest.raises(QueryError, match="first"):
        unused(history, first=201)
    with pytest.raises(QueryError, match="after"):
        unused(history, after="x")


OWNERS = st.lists(st.sampled_from(["ann", "bob", "eve"]), unique=True)


@given(st.lists(st.tuples(OWNERS, st.floats(0, 1e6))))
def test_charges_add_up_to_the_use(used: list[tuple[list[str], float]]) -> None:
    consumers = [
        Consumer(job("j"), owners, 1, None, None, None, seconds) for owners, seconds in used
    ]
    charges = chargeback(consumers)
    assert sum(charge.seconds for charge in charges) == pytest.approx(
        sum(one.seconds for one in consumers)
    )
    assert [charge.seconds for charge in charges] == sorted(
        (charge.seconds for charge in charges), reverse=True
    )


# The reference reads all runs; the library query uses the lineage graph and the index.
LAST_READS = """
MATCH (d:Dataset)<-[:VERSION_OF]-(:Artifact|Source)-[:FEEDS]->(r:PipelineRun)
RETURN d.urn AS urn, max(r.startedAt) AS at
"""
UNREAD = """
MATCH (d:Dataset)
WHERE coalesce(d.firstSeen < $since, true) AND NOT EXISTS {
  MATCH (d)<-[:VERSION_OF]-(:Artifact|Source)-[:FEEDS]->(r:PipelineRun)
  WHERE r.startedAt >= $since OR r.finishedAt >= $since OR r.status = 'RUNNING'
}
RETURN d.urn AS urn
"""


def some_event(random: Random) -> Event:
    """Draw events of runs that restart, have several jobs, never end, and name their inputs in some
    events only. Later runs read other datasets.
    """
    run_id = random.randrange(60)
    names = [f"d{number}" for number in range(run_id // 8, run_id // 8 + 2)]
    return run_event(
        f"r{run_id}",
        random.choice(["START", "START", "RUNNING", "COMPLETE", "COMPLETE", "FAIL"]),
        min(599, run_id * 8 + random.randrange(90)),
        job=f"j{run_id % 5 if random.random() < 0.9 else random.randrange(5)}",
        inputs=random.sample(names, random.choice([0, 0, 1, 2])),
        outputs=random.sample(names, random.choice([0, 0, 1])),
    )


@pytest.mark.neo4j
@pytest.mark.parametrize("seed", range(3))
def test_every_read_is_found_through_the_lineage_graph(
    database: Database, view: GraphView, graph_driver: Driver, seed: int
) -> None:
    random = Random(seed)
    empty(database)
    for _ in range(4):
        write_batch(database, [some_event(random) for _ in range(40)])
    ended = [run_id for run_id in range(60) if random.random() < 0.97]
    write_batch(
        database,
        [run_event(f"r{one}", "COMPLETE", one * 8 + 100, job=f"j{one % 5}") for one in ended],
    )
    with graph_driver.session() as session:
        last = {row["urn"]: row["at"].to_native() for row in session.run(LAST_READS) if row["at"]}
        found = database.read("read/estate/last_reads", urns=sorted(last), visible=None)
        assert {row["urn"]: row["lastRead"] for row in found} == last
        unread = 0
        for minute in range(0, 600, 20):
            since = moment(minute)
            expected = {row["urn"] for row in session.run(UNREAD, {"since": since})}
            entries = unused(view, days=1, first=100, now=since + timedelta(days=1)).page.entries
            assert {one.dataset for one in entries} == expected
            unread += len(expected)
    assert len(last) > 5
    assert unread > 5
    empty(database)


def test_sums_of_bytes_end_at_the_greatest_integer(database: Database, view: GraphView) -> None:
    empty(database)
    largest = 2**63 - 1
    outputs = [sized("big", largest), sized("huge", largest)]
    write_events(
        database,
        [run_event("make", "COMPLETE", 0, job="make", outputs=outputs)],
        reading("sum-1", "sum", 130, 134, counted("big", largest, largest)),
        reading("sum-2", "sum", 140, 141, counted("big", largest, largest)),
    )
    found = usage(view, ds("big"), days=1, now=NOW)
    assert [(one.rows, one.bytes) for one in found.consumers] == [(largest, largest)]
    costs = view.read("cost", since=moment(0), until=NOW, limit=9)
    assert {(row["bytesRead"], row["bytesWritten"]) for row in costs} == {
        (largest, 0),
        (0, largest),
    }
    assert unused(view, days=1, now=NOW + timedelta(days=9)).bytes == largest
    assert all(isinstance(row["bytesRead"], int) for row in costs)
    empty(database)
