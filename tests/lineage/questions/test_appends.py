"""Questions about a table that is appended to: two days of appends and an overwrite on the third,
worked out by hand.

    day 1  load_pii    pii_src   -> target   append
    day 1  report-1    target    -> report-1's version
    day 2  load_clean  clean_src -> target   append
    day 2  report-2    target    -> report
    day 3  load_clean  clean_src -> target   OVERWRITE
    day 3  report-3    target    -> report
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headwater.cypher.driver.database import Database, Row
from headwater.cypher.query_catalog import find_query
from headwater.lineage.questions.failure_impact import failure_impact
from headwater.lineage.questions.freshness import freshness
from headwater.lineage.questions.lineage import trace
from headwater.lineage.questions.replay import replay_plan
from headwater.lineage.questions.root_cause import root_cause
from headwater.lineage.traversal import neo4j_adjacency
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from headwater.schema.urns import answer_urn, dataset_urn, source_urn
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import columns, dataset, dataset_event, run_event, write_in_any_order
from tests.lineage_requests import lineage
from tests.run_builders import FACET, Event, answer, ds, job, run_of, version, write_events

pytestmark = pytest.mark.neo4j

SPARK = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
PII, CLEAN = source_urn("db", "pii_src"), source_urn("db", "clean_src")


def spark(
    run_id: str,
    job: str,
    reads: str,
    writes: str,
    minute: int,
    *,
    overwrite: bool = False,
    state: str = "COMPLETE",
) -> list[Event]:
    """Return START and end of a Spark write: OVERWRITE is reported, an append is not."""
    facets = {"lifecycleStateChange": {"lifecycleStateChange": "OVERWRITE"}} if overwrite else None
    events = [
        run_event(
            run_id,
            kind,
            minute + late,
            job=job,
            inputs=[dataset(reads, side="input")],
            outputs=[dataset(writes, facets)],
        )
        for late, kind in ((0, "START"), (1, state))
    ]
    return [{**event, "producer": SPARK} for event in events]


def report(day: int) -> list[Event]:
    return [
        *spark(f"report-{day}", "report", "target", "report", 60 * day + 20, overwrite=True),
        *answer(f"day-{day}", "report", minute=60 * day + 30),
    ]


def three_days() -> list[Event]:
    return [
        *spark("day-1", "load_pii", "pii_src", "target", 60),
        *report(1),
        *spark("day-2", "load_clean", "clean_src", "target", 120),
        *report(2),
        *spark("day-3", "load_clean", "clean_src", "target", 180, overwrite=True),
        *report(3),
    ]


@pytest.fixture(scope="module")
def days(database: Database) -> GraphView:
    empty(database)
    write_events(database, three_days())
    return GraphView(database, Visibility(("*",)))


def traced(view: GraphView, day: int) -> set[str]:
    return {row["urn"] for row in trace(view, f"day-{day}").sources}


def test_a_trace_goes_through_appends_to_the_last_overwrite(days: GraphView) -> None:
    assert [traced(days, day) for day in (1, 2, 3)] == [{PII}, {PII, CLEAN}, {CLEAN}]
    found = trace(days, "day-2")
    assert {row["urn"] for row in found.runs} == {
        run_of("day-1"),
        run_of("day-2"),
        run_of("report-2"),
    }
    assert ("FEEDS", version("target", "day-1"), version("target", "day-2")) in {
        (edge.type, edge.source, edge.target) for edge in found.edges
    }


def test_an_append_is_no_hop(days: GraphView) -> None:
    up = lineage(days, version("report", "report-2"), direction="UPSTREAM", depth=2)
    assert {PII, CLEAN} <= {node.urn for node in up.nodes}
    assert up.distances[version("target", "day-2")] == 1
    assert up.distances[version("target", "day-1")] == 2
    assert up.distances[PII] == 2


def test_downstream_of_an_append_are_the_readers_until_the_overwrite(days: GraphView) -> None:
    down = lineage(days, version("target", "day-1"), direction="DOWNSTREAM")
    reached = {node.urn for node in down.nodes}
    assert {run_of("report-1"), run_of("report-2"), answer_urn("day-2")} <= reached
    assert not {run_of("report-3"), answer_urn("day-3"), version("target", "day-3")} & reached


def test_an_answer_that_cites_a_later_append_is_downstream_of_the_first(database: Database) -> None:
    empty(database)
    write_events(
        database,
        [
            *spark("day-1", "load_pii", "pii_src", "target", 60),
            *spark("day-2", "load_clean", "clean_src", "target", 120),
            *answer("direct", "target", minute=150),
        ],
    )
    view = GraphView(database, Visibility(("*",)))
    down = lineage(view, version("target", "day-1"), direction="DOWNSTREAM")
    assert answer_urn("direct") in {node.urn for node in down.nodes}
    assert (version("target", "day-2"), answer_urn("direct")) in {
        (edge.source, edge.target) for edge in down.edges
    }


def test_the_wiring_and_the_inputs_of_an_append_do_not_name_its_target(days: GraphView) -> None:
    rows = days.read("read/failures/run_inputs_and_outputs", urns=[run_of("day-2")], limit=10)
    assert [read["dataset"] for read in rows[0]["inputs"]] == [ds("clean_src")]
    up = lineage(days, ds("target"), direction="UPSTREAM")
    assert (ds("target"), job("load_clean")) not in {(e.source, e.target) for e in up.edges}


def test_a_corrupt_append_is_replayed_until_the_content_was_overwritten(
    database: Database,
) -> None:
    empty(database)
    view = GraphView(database, Visibility(("*",)))
    events = three_days()
    write_events(database, events[: len(events) // 3 * 2])
    plan = replay_plan(view, run_of("day-1"))
    reruns = {rerun.run: rerun for step in plan.steps for rerun in step}
    assert list(reruns) == [run_of("day-1"), run_of("report-1"), run_of("report-2")]
    assert not reruns[run_of("day-1")].superseded
    assert reruns[run_of("report-1")].superseded is False
    (read,) = reruns[run_of("report-2")].inputs
    assert (read.versions, read.wait_for) == ([version("target", "day-2")], [run_of("day-1")])
    assert plan.answers == [answer_urn("day-1"), answer_urn("day-2")]
    write_events(database, events[len(events) // 3 * 2 :])
    plan = replay_plan(view, run_of("day-1"))
    reruns = {rerun.run: rerun for step in plan.steps for rerun in step}
    assert reruns[run_of("day-1")].superseded
    assert list(reruns) == [run_of("day-1"), run_of("report-1"), run_of("report-2")]


def test_freshness_names_the_sources_of_the_whole_content(database: Database) -> None:
    empty(database)
    view = GraphView(database, Visibility(("*",)))
    events = three_days()
    write_events(database, events[: len(events) // 3 * 2])
    found = freshness(view, [ds("target")])[ds("target")]
    # Each was read when its run started; nothing is known of the data itself.
    assert [(source.dataset, source.exact) for source in found.sources] == [
        (ds("pii_src"), False),
        (ds("clean_src"), False),
    ]
    write_events(database, events[len(events) // 3 * 2 :])
    found = freshness(view, [ds("target")])[ds("target")]
    assert [source.dataset for source in found.sources] == [ds("clean_src")]


def test_a_failed_append_is_a_root_cause_of_later_versions(database: Database) -> None:
    empty(database)
    view = GraphView(database, Visibility(("*",)))
    write_events(
        database,
        spark("broken", "load_pii", "pii_src", "stage", 10, overwrite=True, state="FAIL"),
        spark("day-1", "load_pii", "stage", "target", 60),
        spark("day-2", "load_clean", "clean_src", "target", 120),
    )
    found = root_cause(view, version("target", "day-2"))
    assert [(one.kind, one.urn) for one in found.candidates] == [("FAILED", run_of("broken"))]
    write_events(database, spark("day-3", "load_clean", "clean_src", "target", 180, overwrite=True))
    assert root_cause(view, version("target", "day-3")).candidates == []


def test_a_failure_reaches_the_readers_of_later_appends(database: Database) -> None:
    empty(database)
    view = GraphView(database, Visibility(("*",)))
    write_events(
        database,
        spark("day-0", "load_pii", "pii_src", "target", 30),
        spark("day-1", "load_pii", "pii_src", "target", 60, state="FAIL"),
        spark("day-2", "load_clean", "clean_src", "target", 120),
        report(2),
    )
    stale = failure_impact(view, [run_of("day-1")])[run_of("day-1")].stale
    assert (stale.runs, stale.answers) == ([run_of("report-2")], [answer_urn("day-2")])
    partial = failure_impact(view, [run_of("day-1")])[run_of("day-1")].partial
    assert partial.runs == []


def test_the_links_are_the_same_in_any_order(database: Database) -> None:
    write_in_any_order(database, *three_days())
    assert kept(database) == {(version("target", "day-1"), version("target", "day-2"))}


def kept(database: Database) -> set[tuple[str, str]]:
    """Return the links from a version to the version that kept its content."""
    text = "MATCH (a:Artifact)-[:FEEDS]->(b:Artifact) RETURN a.urn AS a, b.urn AS b"
    return {(row["a"], row["b"]) for row in database.ask(text, {})}


def test_a_late_event_links_the_versions_after_it_again(database: Database) -> None:
    empty(database)
    for day in (3, 1):
        write_events(database, spark(f"day-{day}", "load", f"src_{day}", "target", 60 * day))
    one, two, three = (version("target", f"day-{day}") for day in (1, 2, 3))
    assert kept(database) == {(one, three)}
    write_events(database, spark("day-2", "load", "src_2", "target", 120))
    assert kept(database) == {(one, two), (two, three)}
    # Another attempt of day 2 fails, and then its content is no longer there.
    write_events(database, spark("day-2", "load", "src_2", "target", 125, state="FAIL"))
    assert (two, three) not in kept(database)


def test_a_drop_ends_the_content(database: Database) -> None:
    empty(database)
    dropped = run_event(
        "drop",
        minute=90,
        job="drop",
        outputs=[dataset("target", {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}})],
    )
    write_events(
        database,
        spark("day-1", "load_pii", "pii_src", "target", 60),
        spark("day-2", "load_clean", "clean_src", "target", 120),
    )
    assert len(kept(database)) == 1
    write_events(database, [dropped])
    assert kept(database) == set()


def test_unknown_writes_keep_what_another_job_or_other_inputs_wrote(database: Database) -> None:
    empty(database)

    def load(run_id: str, job: str, reads: str, minute: int) -> Event:
        return run_event(run_id, minute=minute, job=job, inputs=[reads], outputs=["target"])

    events = [
        load("pii-1", "load", "pii_src", 10),
        load("clean-2", "load", "clean_src", 20),
        # The same job from the same dataset: a refresh, which keeps what its former run kept.
        load("clean-3", "load", "clean_src", 30),
        load("other-4", "other", "clean_src", 40),
        load("other-5", "other", "clean_src", 50),
    ]
    write_in_any_order(database, *events)
    pii, clean, again, other, last = (
        version("target", name) for name in ("pii-1", "clean-2", "clean-3", "other-4", "other-5")
    )
    assert kept(database) == {(pii, clean), (pii, again), (again, other), (again, last)}


def test_content_is_followed_through_hidden_versions(database: Database) -> None:
    empty(database)
    events = three_days()
    for event in events:
        for side in event.get("inputs", ()), event.get("outputs", ()):
            for named in side:
                named["namespace"] = "vault" if named["name"] == "target" else "db"
    write_events(database, events)
    view = GraphView(database, Visibility(("db", "etl")))
    assert traced(view, 2) == {PII, CLEAN}
    assert not any("target" in urn for urn in trace(view, "day-2").rows)


def test_two_thousand_appends_are_traced_within_bounds(database: Database) -> None:
    empty(database)
    count = 2_000
    appended = [
        {**event, "eventTime": f"2026-01-{1 + n // 720:02d}T{n // 60 % 12:02d}:{n % 60:02d}:00Z"}
        for n in range(count)
        for event in spark(f"append-{n}", "load", f"src_{n % 3}", "target", 0)[1:]
    ]
    report = run_event(
        "report", minute=0, job="report", inputs=["target"], outputs=[dataset("report")]
    )
    write_events(database, appended)
    cited = native.answer_event(
        "all", cites=[{"namespace": "db", "name": "report"}], generated_at="2026-02-02T00:00:00Z"
    )
    write_events(database, [{**report, "eventTime": "2026-02-01T00:00:00Z"}, cited])
    assert len(kept(database)) == count - 1
    view = GraphView(database, Visibility(("*",)))
    up: dict[str, Any] = {"direction": "UPSTREAM", "depth": 2, "timeout_seconds": 60.0}
    whole = lineage(view, version("report", "report"), **up)
    assert whole.reason == ""
    sources = {source_urn("db", f"src_{n}") for n in range(3)}
    assert sources <= {node.urn for node in whole.nodes}
    part = lineage(view, version("report", "report"), nodes_max=1_000, **up)
    assert (part.reason, len(part.nodes)) == ("nodes", 1_000)
    traced = trace(view, "all", timeout_seconds=60.0)
    assert (traced.reason, {row["urn"] for row in traced.sources}) == ("", sources)
    assert len(traced.runs) == count + 1
    first = version("target", "append-0")
    down = lineage(view, first, direction="DOWNSTREAM", depth=1, timeout_seconds=60.0)
    assert run_of("report") in {node.urn for node in down.nodes}
    # From all versions of the table at once, newest first: the last of them keep older ones.
    starts = {"level": "RUN", "depth": 1, "timeout_seconds": 60.0}
    ways = lineage(view, ds("target"), direction="UPSTREAM", **starts)
    assert ways.reason == "nodes"
    versions = {version("target", f"append-{n}") for n in range(count)}
    assert versions <= {node.urn for node in ways.nodes}
    links = {(e.source, e.target) for e in ways.edges if {e.source, e.target} <= versions}
    assert links == kept(database)
    ways = lineage(view, ds("target"), direction="DOWNSTREAM", **starts)
    newest = {version("target", f"append-{n}") for n in range(count - 1_000, count)}
    assert {node.urn for node in ways.nodes} == newest | {
        run_of("report"),
        version("report", "report"),
        answer_urn("all"),
    }
    plan = replay_plan(view, run_of("append-0"), timeout_seconds=60.0)
    assert [rerun.run for step in plan.steps for rerun in step] == [
        run_of("append-0"),
        run_of("report"),
    ]
    assert not plan.truncated


@pytest.mark.parametrize("at_once", [1, 2, 4, 1_024])
def test_versions_far_apart_are_followed_along_every_branch(
    database: Database, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """Twelve appends; a failed append of every third day is a branch of its own."""
    monkeypatch.setattr(neo4j_adjacency, "_KEPT_VERSIONS_MAX", at_once)
    empty(database)
    write_events(
        database,
        *(
            spark(
                f"day-{day}",
                f"load_{day}",
                f"src_{day}",
                "target",
                60 * day,
                state="FAIL" if day % 3 == 0 else "COMPLETE",
            )
            for day in range(1, 13)
        ),
    )
    links = kept(database)
    # Complete versions form a chain; a partial one hangs on the complete version before it.
    days = [(1, 2), (2, 3), (2, 4), (4, 5), (5, 6), (5, 7), (7, 8), (8, 9), (8, 10), (10, 11)]
    assert links == {
        (version("target", f"day-{a}"), version("target", f"day-{b}")) for a, b in [*days, (11, 12)]
    }
    view = GraphView(database, Visibility(("*",)))
    up = lineage(
        view, [version("target", f"day-{n}") for n in (12, 9, 6, 5)], direction="UPSTREAM", depth=1
    )
    assert {(e.source, e.target) for e in up.edges} & links == links - {
        (version("target", "day-2"), version("target", "day-3"))
    }
    down = lineage(
        view, [version("target", f"day-{n}") for n in (1, 4, 8)], direction="DOWNSTREAM", depth=1
    )
    assert {(edge.source, edge.target) for edge in down.edges} == links


RECORDED = Path(__file__).parents[2] / "captures" / "spark_appends.jsonl"
FOLDER = "/srv/shop"


@pytest.mark.parametrize("place", ["files", "table"])
def test_a_real_spark_appends_and_overwrites(database: Database, place: str) -> None:
    """`tests.producers.spark_shop appends` was recorded: twice an append, then an overwrite."""
    empty(database)
    write_events(database, [json.loads(line) for line in RECORDED.read_text().splitlines()])
    view = GraphView(database, Visibility(("*",)))
    sources = []
    for day in (1, 2, 3):
        found = lineage(
            view, ds_of(f"{FOLDER}/marts/{place}_{day}"), level="RUN", direction="UPSTREAM"
        )
        sources.append(
            {
                node.urn.removeprefix(f"source:file:{FOLDER}/landing/")
                for node in found.nodes
                if node.urn.startswith("source:")
            }
        )
    first, late = "orders/first.csv", "late_orders.csv"
    assert sources == [{first}, {first, late}, {late}]


def test_a_real_spark_overwrites_some_partitions(database: Database) -> None:
    empty(database)
    write_events(database, [json.loads(line) for line in RECORDED.read_text().splitlines()])
    rows = database.ask(
        "MATCH (a:Artifact {name: $name}) RETURN a.writeMode AS mode ORDER BY a.createdAt",
        {"name": f"{FOLDER}/by_day"},
    )
    assert [row["mode"] for row in rows] == ["append", "append"]


def ds_of(name: str) -> str:
    return dataset_urn("file", name)


def audited(database: Database, name: str, **parameters: object) -> list[Row]:
    return database.ask(find_query(f"audit/{name}").text, {"limit": 100, **parameters})


@pytest.mark.parametrize("has_columns", [True, False])
def test_personal_data_reaches_a_table_until_it_is_overwritten(
    database: Database, has_columns: bool
) -> None:
    empty(database)
    tagged = dataset_event(
        "pii_src",
        facets={
            "schema": {"fields": [{"name": "email", "type": "string"}]},
            "tags": {"tags": [{"key": "pii", "value": "true", "source": "USER"}]},
        },
    )
    events = three_days()
    for event in events if has_columns else ():
        for output in event.get("outputs", ()):
            lineage_of = columns(email=[(event["inputs"][0]["name"], "email")])["columnLineage"]
            output.setdefault("facets", {})["columnLineage"] = {**FACET, **lineage_of}
    days = len(events) // 3
    reached = []
    for day in range(3):
        write_events(database, [tagged], events[day * days : (day + 1) * days])
        rows = audited(database, "pii_reach", tag="pii", indirect=False)
        reached.append([row["reachedDataset"] for row in rows])
    # Without column lineage, the columns of the table are unknown, and the search ends there.
    both = ["db target", "db report"] if has_columns else ["db target"]
    assert reached == [both, both, []]


def test_the_audit_of_an_answer_follows_appends(database: Database) -> None:
    empty(database)
    write_events(database, three_days())
    found = {
        day: {row["name"] for row in audited(database, "answer_to_sources", answerId=f"day-{day}")}
        for day in (1, 2, 3)
    }
    assert found == {1: {"pii_src"}, 2: {"pii_src", "clean_src"}, 3: {"clean_src"}}
