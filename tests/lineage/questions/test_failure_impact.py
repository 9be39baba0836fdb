"""The consequences of failed runs, in two lists, on the real Neo4j; every result worked out by
hand.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.questions.failure_impact import (
    AffectedEntities,
    FailureImpact,
    failure_impact,
)
from headwater.lineage.view import GraphView
from headwater.schema.urns import answer_urn
from headwater.schema.visibility import Visibility
from tests.counted_database import CountedDatabase
from tests.run_builders import FACET, Event, answer, at, ds, job, run, run_of, version, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


def owned_job(name: str, owner: str) -> list[Event]:
    ownership = {**FACET, "owners": [{"name": owner, "type": "OWNER"}]}
    named = {"namespace": "etl", "name": name, "facets": {"ownership": ownership}}
    return [{"eventTime": at(0), "producer": "p", "job": named}]


def owned_dataset(name: str, owner: str) -> list[Event]:
    ownership = {**FACET, "owners": [{"name": owner, "type": "OWNER"}]}
    named = {"namespace": "db", "name": name, "facets": {"ownership": ownership}}
    return [{"eventTime": at(0), "producer": "p", "dataset": named}]


def of(view: GraphView, run_id: str) -> FailureImpact:
    return failure_impact(view, [run_of(run_id)])[run_of(run_id)]


@pytest.fixture
def chain(database: Database, view: GraphView) -> GraphView:
    """Build load: raw -> a; build: a -> b; publish: b -> d; report: d -> e. All succeed once.

    The next build begins at 39, fails at 40 and names no outputs.
    """
    write_events(
        database,
        run("load-1", "load", ["raw"], ["a"], minute=0),
        run("build-1", "build", ["a"], ["b"], minute=10),
        run("publish-1", "publish", ["b"], ["d"], minute=20),
        run("report-1", "report", ["d"], ["e"], minute=25),
        answer("before", "d", minute=30),
        run("build-2", "build", ["a"], [], minute=39, status="FAIL", error="disk full"),
        owned_job("publish", "pia"),
        owned_dataset("e", "eve"),
        owned_dataset("a", "somebody else"),
    )
    return view


def test_no_later_run(chain: GraphView) -> None:
    found = of(chain, "build-2")
    assert found.partial == AffectedEntities()
    assert found.stale == AffectedEntities(
        datasets=[ds("b"), ds("d"), ds("e")],
        jobs=[job("publish"), job("report")],
        answers=[answer_urn("before")],
        owners=["eve", "pia"],
    )
    assert found.resolution is None


def test_consumers_of_the_old_version(chain: GraphView) -> None:
    """publish-2 reads build-1's b itself, report-2 through it; report-x reads d from before the
    failure.

    That d also derives from the same b. Versions from before the failure are not listed, but an
    answer that cites one is.
    """
    write_events(
        chain.database,
        run("report-x", "report-x", ["d"], ["x"], minute=45),
        run("publish-2", "publish", ["b"], ["d"], minute=50),
        run("report-2", "report", ["d"], ["e"], minute=60),
        answer("after", "e", minute=70),
        answer("on-that", {"answerId": "after"}, minute=71),
    )
    found = of(chain, "build-2")
    assert found.partial == AffectedEntities()
    assert set(found.stale.runs) == {run_of("publish-2"), run_of("report-2"), run_of("report-x")}
    assert set(found.stale.artifacts) == {
        version("d", "publish-2"),
        version("e", "report-2"),
        version("x", "report-x"),
    }
    assert set(found.stale.answers) == {answer_urn(name) for name in ("before", "after", "on-that")}
    assert set(found.stale.jobs) == {job("publish"), job("report"), job("report-x")}
    assert found.stale.owners == ["eve", "pia"]


def test_consumers_of_a_partial_output(database: Database, view: GraphView) -> None:
    """build-2 began to write b; publish-2 may have read that or build-1's, so it is in both
    lists.
    """
    write_events(
        database,
        run("build-1", "build", ["a"], ["b"], minute=0),
        run("build-2", "build", ["a"], ["b"], minute=10, status="FAIL"),
        run("publish-2", "publish", ["b"], ["d"], minute=20),
        answer("new", "d", minute=30),
        owned_job("publish", "pia"),
    )
    found = of(view, "build-2")
    assert found.partial == AffectedEntities(
        datasets=[ds("b"), ds("d")],
        jobs=[job("publish")],
        runs=[run_of("publish-2")],
        artifacts=[version("b", "build-2"), version("d", "publish-2")],
        answers=[answer_urn("new")],
        owners=["pia"],
    )
    assert (found.stale.runs, found.stale.artifacts) == (
        [run_of("publish-2")],
        [version("d", "publish-2")],
    )
    assert found.stale.answers == [answer_urn("new")]


def test_a_consumer_that_requested_the_previous_version_is_only_stale(
    database: Database, view: GraphView
) -> None:
    write_events(
        database,
        run("build-1", "build", ["a"], ["b"], minute=0),
        run("build-2", "build", ["a"], ["b"], minute=10, status="FAIL"),
    )
    pinned = run("publish-2", "publish", ["b"], ["d"], minute=20)
    for event in pinned:
        event["inputs"] = [{"namespace": "db", "name": "b", "inputFacets": _pinned("build-1")}]
    write_events(database, pinned)
    found = of(view, "build-2")
    assert (found.partial.runs, found.partial.artifacts) == ([], [version("b", "build-2")])
    assert found.stale.runs == [run_of("publish-2")]


def _pinned(run_id: str) -> Event:
    return {"headwater_artifact": {**FACET, "runId": run_id}}


def test_resolved_by_a_later_success(chain: GraphView) -> None:
    """build-3 replaces b at 61: no job waits afterwards. Runs and answers in between stay
    listed.
    """
    write_events(
        chain.database,
        run("publish-2", "publish", ["b"], ["d"], minute=50),
        answer("between", "d", minute=55),
        run("build-3", "build", ["a"], ["b"], minute=60),
        run("publish-3", "publish", ["b"], ["d"], minute=70),
        answer("after", "d", minute=75),
    )
    found = of(chain, "build-2")
    assert found.resolution is not None
    assert (found.resolution.run, found.resolution.at) == (
        run_of("build-3"),
        datetime(2026, 1, 1, 1, 1, tzinfo=UTC),
    )
    assert found.stale == AffectedEntities(
        datasets=[ds("d")],
        jobs=[job("publish")],
        runs=[run_of("publish-2")],
        artifacts=[version("d", "publish-2")],
        answers=[answer_urn("between")],
        owners=["pia"],
    )


def test_resolved_without_consumers(chain: GraphView) -> None:
    write_events(
        chain.database,
        run("build-3", "build", ["a"], ["b"], minute=60),
        run("publish-3", "publish", ["b"], ["d"], minute=70),
    )
    assert of(chain, "build-2").stale == AffectedEntities()


def test_another_job_or_another_failure_does_not_resolve(chain: GraphView) -> None:
    write_events(
        chain.database,
        run("other-1", "other", ["a"], ["b"], minute=50),
        run("build-3", "build", ["a"], ["b"], minute=60, status="FAIL"),
    )
    assert of(chain, "build-2").resolution is None


def test_half_of_the_outputs_replaced_is_not_resolved(database: Database, view: GraphView) -> None:
    write_events(
        database,
        run("build-1", "build", ["a"], ["b", "c"], minute=0),
        run("build-2", "build", ["a"], ["b", "c"], minute=10, status="FAIL"),
        run("build-3", "build", ["a"], ["b"], minute=20),
    )
    assert of(view, "build-2").resolution is None
    write_events(database, run("build-4", "build", ["a"], ["c"], minute=30))
    resolution = of(view, "build-2").resolution
    assert resolution is not None
    assert resolution.run == run_of("build-4")


def test_resolved_by_the_next_attempt_of_its_slot(database: Database, view: GraphView) -> None:
    """The second attempt fails too, the third succeeds; neither names its outputs. The first event
    of the failure arrives late.
    """
    nominal = {"nominalTime": {**FACET, "nominalStartTime": at(0)}}
    tries = [
        run("try-3", "p", ["a"], [], minute=30),
        run("try-2", "p", ["a"], [], minute=20, status="FAIL"),
        run("try-1", "p", ["a"], ["b"], minute=10, status="FAIL"),
    ]
    for story in tries:
        for event in story:
            event["run"]["facets"].update(nominal)
        write_events(database, story)
    for failed in ("try-1", "try-2"):
        resolution = of(view, failed).resolution
        assert resolution is not None
        assert (resolution.run, resolution.at) == (
            run_of("try-3"),
            datetime(2026, 1, 1, 0, 31, tzinfo=UTC),
        )


def test_a_job_that_reads_its_own_output(database: Database, view: GraphView) -> None:
    """add-3 is the next attempt, not a consumer of the old version; before it, sum-1 read that
    version.
    """
    write_events(
        database,
        run("add-1", "add", ["t"], ["t"], minute=0),
        run("add-2", "add", ["t"], [], minute=10, status="FAIL"),
        run("sum-1", "sum", ["t"], ["s"], minute=20),
        run("add-3", "add", ["t"], ["t"], minute=30),
        run("sum-2", "sum", ["t"], ["s"], minute=40),
    )
    found = of(view, "add-2")
    assert found.resolution is not None
    assert found.resolution.run == run_of("add-3")
    assert (found.stale.runs, found.stale.artifacts) == ([run_of("sum-1")], [version("s", "sum-1")])


def test_a_diamond_lists_everything_once(database: Database, view: GraphView) -> None:
    write_events(
        database,
        run("top", "top", ["raw"], ["a"], minute=0),
        run("top-2", "top", ["raw"], ["a"], minute=10, status="FAIL"),
        run("left", "left", ["a"], ["b"], minute=20),
        run("right", "right", ["a"], ["c"], minute=20),
        run("join", "join", ["b", "c"], ["d"], minute=30),
    )
    found = of(view, "top-2")
    assert found.partial.runs == [*sorted([run_of("left"), run_of("right")]), run_of("join")]
    assert found.stale.runs == found.partial.runs
    assert found.stale.datasets == [ds("a"), ds("b"), ds("c"), ds("d")]


def test_hidden_nodes_are_left_out(database: Database, view: GraphView) -> None:
    secret = run("secret-1", "secret", ["b"], ["s"], minute=20)
    for event in secret:
        event["job"]["namespace"] = "vault"
        event["outputs"] = [{"namespace": "vault", "name": "s"}]
    write_events(
        database,
        run("build-1", "build", ["a"], ["b"], minute=0),
        run("build-2", "build", ["a"], ["b"], minute=10, status="FAIL"),
        secret,
        answer("told", {"namespace": "vault", "name": "s"}, minute=30),
    )
    ours = view.visible_to(Visibility(("db", "etl")))
    found = of(ours, "build-2")
    assert (found.partial.runs, found.partial.artifacts) == ([], [version("b", "build-2")])
    assert found.stale == AffectedEntities(datasets=[ds("b")])
    assert len(of(view, "build-2").stale.runs) == 1
    assert failure_impact(view.visible_to(Visibility(("db",))), [run_of("build-2")]) == {}


def test_a_page_costs_a_few_statements(database: Database) -> None:
    chain = [run(f"ok-{n}", f"job{n}", [f"t{n}"], [f"t{n + 1}"], minute=2 * n) for n in range(6)]
    failing = [
        run(f"bad-{n:03d}", f"job{n % 3}", [], [f"t{n % 3 + 1}"], minute=60 + n, status="FAIL")
        for n in range(60)
    ]
    write_events(database, *chain, *failing, answer("last", "t6", minute=300))
    urns = [run_of(f"bad-{n:03d}") for n in range(60)]
    costs = []
    for requested in (urns[:1], urns):
        counted = CountedDatabase(database)
        found = failure_impact(GraphView(counted), requested)
        assert found.keys() == set(requested)
        assert all(answer_urn("last") in one.stale.answers for one in found.values())
        costs.append(len(counted.queries))
    assert costs[1] <= costs[0] + 3


def test_each_run_of_a_page_as_if_it_were_alone(chain: GraphView) -> None:
    write_events(
        chain.database,
        run("publish-2", "publish", ["b"], ["d"], minute=50, status="FAIL"),
        run("build-3", "build", ["a"], ["b"], minute=60),
        run("report-2", "report", ["d"], ["e"], minute=70),
        run("build-4", "build", ["a"], ["b"], minute=80, status="FAIL"),
    )
    urns = [run_of(name) for name in ("build-2", "publish-2", "build-4")]
    together = failure_impact(chain, urns)
    assert [together[urn] for urn in urns] == [failure_impact(chain, [urn])[urn] for urn in urns]
    assert [together[urn].stale.runs for urn in urns] == [
        [run_of("publish-2")],
        [run_of("report-2")],
        [],
    ]
    assert together[run_of("publish-2")].partial.runs == [run_of("report-2")]


def test_unknown_runs_are_left_out(view: GraphView) -> None:
    assert failure_impact(view, [run_of("unknown")]) == {}
    assert failure_impact(view, []) == {}
