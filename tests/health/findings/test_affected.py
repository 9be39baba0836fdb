"""Who is downstream of a finding, and what is upstream of it, in a small graph."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.affected import (
    find_cited,
    find_downstream,
    find_upstream,
    read_affected,
    read_subjects,
    read_upstream,
)
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.health.findings.builders import episode
from tests.run_builders import answer, ds, job, run, write_events

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def view(database: Database) -> Iterator[GraphView]:
    """Return raw -> load -> clean -> build -> mart, and answers on an old and a newer mart."""
    empty(database)
    write_events(
        database,
        run("l1", "load", ["raw"], ["clean"], minute=0),
        run("b1", "build", ["clean"], ["mart"], minute=5),
        answer("old", {"namespace": "db", "name": "mart", "runId": "b1"}, minute=10),
        run("b2", "build", ["clean"], ["mart"], minute=20),
        answer("new", {"namespace": "db", "name": "mart", "runId": "b2"}, minute=30),
    )
    yield GraphView(database)
    empty(database)


def test_answers_count_if_their_version_was_current_when_it_began(view: GraphView) -> None:
    early, late = (episode("failed-run", job("load"), first, key=str(first)) for first in (7, 25))
    affected = read_affected(view, [early, late])
    assert [one.urn for one in affected[early.id].consumers] == [
        "answer:new",
        "answer:old",
        ds("clean"),
        ds("mart"),
        job("build"),
    ]
    found = affected[late.id]
    assert (found.datasets, found.jobs, found.answers, found.critical) == (2, 1, 1, 0)
    assert found.consumers[0].urn == "answer:new"
    assert not found.truncated


def test_the_node_itself_is_not_affected(view: GraphView) -> None:
    one = episode("row-count", ds("mart"), 25)
    found = read_affected(view, [one])[one.id]
    assert (found.datasets, found.jobs, found.answers) == (0, 0, 1)
    producer = episode("clock-skew", "producer:https%3A//p", 0)
    assert read_affected(view, [producer])[producer.id].consumers == ()


def test_upstream_of_an_answer_are_the_datasets_it_cites(view: GraphView) -> None:
    everything = {ds("raw"), ds("clean"), ds("mart"), job("load"), job("build")}
    hops = read_upstream(view, ["answer:new", ds("mart")], among=everything)
    assert hops["answer:new"][ds("mart")] == 1
    assert hops["answer:new"].keys() == everything | {"answer:new"}
    assert hops[ds("mart")][ds("mart")] == 0
    assert hops[ds("mart")][ds("clean")] < hops[ds("mart")][ds("raw")]
    few = read_upstream(view, [ds("mart")], among={ds("raw")})
    assert few[ds("mart")].keys() == {ds("mart"), ds("raw")}


def test_the_reach_of_a_pass(view: GraphView) -> None:
    down = find_downstream(view, [ds("clean")])
    assert set(down.hops) == {ds("clean"), job("build"), ds("mart"), "answer:old", "answer:new"}
    up = find_upstream(view, ["answer:new"])
    assert {ds("raw"), job("load")} <= up.hops.keys()
    assert find_cited(view, [ds("raw"), ds("mart")]) == {ds("mart")}


def test_an_answer_is_seen_by_who_sees_all_that_it_cites(view: GraphView) -> None:
    subjects = read_subjects(view, ["answer:new", job("load"), ds("none")])
    assert subjects.keys() == {"answer:new", job("load")}
    assert subjects["answer:new"].namespaces == ("db",)
    assert subjects[job("load")].namespaces == ("etl",)


def test_a_container_reaches_what_its_jobs_reach(database: Database) -> None:
    """The DAG `dag` has the tasks `daily.load` and `daily.build`; it reads and writes nothing."""
    empty(database)
    write_events(
        database,
        run("d1", "dag", minute=0),
        run("l1", "daily.load", ["raw"], ["clean"], minute=1, parent="d1"),
        run("b1", "daily.build", ["clean"], ["mart"], minute=5, parent="d1"),
        run("r1", "report", ["mart"], ["mail"], minute=9),
        answer("revenue", {"namespace": "db", "name": "mart", "runId": "b1"}, minute=10),
    )
    view = GraphView(database)
    missing = episode("missing-run", job("dag"), 8, key="due")
    found = read_affected(view, [missing])[missing.id]
    assert [one.urn for one in found.consumers] == [
        "answer:revenue",
        ds("clean"),
        ds("mail"),
        ds("mart"),
        job("report"),
    ]
    down = find_downstream(view, [job("dag")])
    assert {ds("mail"), job("report"), "answer:revenue"} <= down.hops.keys()
    assert job("dag") in find_upstream(view, [ds("mail")]).hops
    subjects = {job("dag"), job("report"), ds("mail"), job("daily.build")}
    hops = read_upstream(view, [ds("mail"), job("daily.build")], among=subjects)
    # As far as its nearest job. It does not explain its own jobs.
    assert hops[ds("mail")] == {
        ds("mail"): 0,
        job("report"): 1,
        job("daily.build"): 2,
        job("dag"): 2,
    }
    assert hops[job("daily.build")] == {job("daily.build"): 0}
    empty(database)
