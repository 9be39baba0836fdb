"""Failed runs and their reach on the real Neo4j; every result worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.lineage.pagination import page_request
from headwater.lineage.questions.failures import (
    FailureFilter,
    affected_nodes,
    count_failed_runs,
    failed_runs,
)
from headwater.lineage.view import GraphView
from headwater.schema.urns import answer_urn
from tests.event_builders import run_event, write_in_any_order
from tests.run_builders import answer, ds, job, run, run_of, version, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


class Counted(Database):
    """The real database, which counts its statements."""

    def __init__(self, database: Database) -> None:
        self.__dict__.update(database.__dict__)
        self.statements = 0

    def read(self, name: str, /, **options: Any) -> list[dict[str, Any]]:
        self.statements += 1
        return super().read(name, **options)


@pytest.fixture
def chain(database: Database, view: GraphView) -> GraphView:
    """Build load: raw -> a; build: a -> b, c (b only from a); publish: b -> d. All succeed once,
    then build fails at 30.
    """
    write_events(
        database,
        run("load-1", "load", ["raw"], ["a"], minute=0),
        run("build-1", "build", ["a"], ["b", "c"], minute=10),
        run("publish-1", "publish", ["b"], ["d"], minute=20),
        answer("old", {"namespace": "db", "name": "d", "runId": "publish-1"}, minute=25),
        run("build-2", "build", ["a"], ["b"], minute=30, status="FAIL", error="disk full"),
    )
    return view


def test_reach_of_a_failed_run(chain: GraphView) -> None:
    touched = affected_nodes(chain, [run_of("build-2")])[run_of("build-2")]
    assert touched.datasets == [ds("b"), ds("d")]
    assert touched.jobs == [job("publish")]
    assert touched.answers == [answer_urn("old")]
    assert touched.artifacts == [version("b", "build-2")]
    assert touched.runs == []
    assert not touched.truncated


def test_a_run_that_listed_no_outputs_touches_what_its_job_is_known_to_produce(
    chain: GraphView,
) -> None:
    write_events(chain.database, run("build-3", "build", ["a"], [], minute=40, status="FAIL"))
    touched = affected_nodes(chain, [run_of("build-3")])[run_of("build-3")]
    assert touched.datasets == [ds("b"), ds("c"), ds("d")]
    assert touched.artifacts == []


def test_partial_output_that_was_read_is_followed_in_history(chain: GraphView) -> None:
    write_events(
        chain.database,
        run("publish-2", "publish", ["b"], ["d"], minute=40),
        answer("new", "d", minute=50),
    )
    touched = affected_nodes(chain, [run_of("build-2")])[run_of("build-2")]
    assert set(touched.artifacts) == {version("b", "build-2"), version("d", "publish-2")}
    assert touched.runs == [run_of("publish-2")]
    # `old` cites publish-1, which was current when build-2 started; `new` cites a version made from
    # the partial b.
    assert set(touched.answers) == {answer_urn("old"), answer_urn("new")}


def test_answers_superseded_before_the_failure_are_left_out(
    database: Database, view: GraphView
) -> None:
    write_events(
        database,
        run("p-1", "publish", ["b"], ["d"], minute=0),
        answer("superseded", "d", minute=5),
        run("p-2", "publish", ["b"], ["d"], minute=10),
        answer("current", "d", minute=15),
        answer("cites-superseded", {"answerId": "superseded"}, minute=16),
        answer("cites-current", {"answerId": "current"}, minute=16),
        answer("cites-that", {"answerId": "cites-current"}, minute=17),
        run("p-3", "publish", ["b"], ["d"], minute=20, status="FAIL"),
        run("p-4", "publish", ["b"], ["d"], minute=30),
        answer("later", "d", minute=35),
    )
    touched = affected_nodes(view, [run_of("p-3")])[run_of("p-3")]
    expected = ("current", "cites-current", "cites-that", "later")
    assert set(touched.answers) == {answer_urn(answer_id) for answer_id in expected}


def test_each_run_of_a_page_by_its_own_start(database: Database, view: GraphView) -> None:
    """`first` cites v1. It was current when f1 failed at 10; v2, made at 21, replaced it before f2
    failed at 30.
    """
    write_events(
        database,
        run("v1", "p", [], ["d"], minute=0),
        answer("first", "d", minute=5),
        run("f1", "p", [], ["d"], minute=10, status="FAIL"),
        run("v2", "p", [], ["d"], minute=20),
        answer("second", "d", minute=25),
        run("f2", "p", [], ["d"], minute=30, status="FAIL"),
    )
    touched = affected_nodes(view, [run_of("f1"), run_of("f2")])
    assert set(touched[run_of("f1")].answers) == {answer_urn("first"), answer_urn("second")}
    assert set(touched[run_of("f2")].answers) == {answer_urn("second")}


def test_a_cycle_reaches_the_failed_job_itself(database: Database, view: GraphView) -> None:
    write_events(
        database,
        run("r1", "there", ["x"], ["y"]),
        run("r2", "back", ["y"], ["x"], minute=3),
        run("r3", "there", ["x"], ["y"], minute=6, status="FAIL"),
    )
    touched = affected_nodes(view, [run_of("r3")])[run_of("r3")]
    assert set(touched.datasets) == {ds("x"), ds("y")}
    assert set(touched.jobs) == {job("there"), job("back")}


def test_narrowing_excludes_unaffected_nodes(database: Database, view: GraphView) -> None:
    write_events(
        database,
        run("r1", "split", ["a", "b"], ["x", "y"], derived={"x": ["a"], "y": ["b"]}),
        run("r2", "make-a", ["raw"], ["a"], minute=5, status="FAIL"),
    )
    touched = affected_nodes(view, [run_of("r2")])[run_of("r2")]
    assert touched.datasets == [ds("a"), ds("x")]


def test_a_whole_page_costs_a_few_statements(database: Database, view: GraphView) -> None:
    """Fail 200 runs of one job, eight datasets deep: the page takes as many statements as one
    run.
    """
    chain = [run(f"ok-{n}", f"job{n}", [f"t{n}"], [f"t{n + 1}"], minute=2 * n) for n in range(8)]
    failing = [
        run(f"bad-{n:03d}", "job0", ["t0"], ["t1"], minute=60 + n, status="FAIL")
        for n in range(200)
    ]
    write_events(database, *chain, *failing, answer("last", "t8", minute=300))
    page = failed_runs(view, page=page_request(200))
    urns = [found.urn for found in page.runs]
    assert len(urns) == 200
    one, all_ = Counted(database), Counted(database)
    affected_nodes(GraphView(one), urns[:1])
    touched = affected_nodes(GraphView(all_), urns)
    assert all_.statements <= one.statements + 4
    for urn in urns:
        assert touched[urn].datasets == [ds(f"t{n}") for n in range(1, 9)]
        assert touched[urn].answers == [answer_urn("last")]
        assert not touched[urn].truncated


def test_pages_over_equal_times(database: Database, view: GraphView) -> None:
    """Fail five runs at one instant, two before it and one after: pages of two list each once,
    newest first.
    """
    minutes = {"late": 20, **{f"same-{n}": 10 for n in range(5)}, "early-1": 5, "early-2": 4}
    write_events(
        database,
        *(
            run(name, "p", [], ["d"], minute=minute, status="FAIL")
            for name, minute in minutes.items()
        ),
    )
    write_events(database, run("fine", "p", [], ["d"], minute=30))
    listed: list[str] = []
    after = None
    while True:
        page = failed_runs(view, page=page_request(2, after))
        listed.extend(found.properties["runId"] for found in page.runs)
        after = page.runs[-1].cursor
        if not page.has_next:
            break
    assert listed == ["late", *(f"same-{n}" for n in range(5)), "early-1", "early-2"]


def test_filters(database: Database, view: GraphView) -> None:
    write_events(
        database,
        run("a", "p", [], ["d"], minute=0, status="FAIL"),
        run("b", "q", [], ["d"], minute=10, status="FAIL"),
        run("c", "p", [], ["d"], minute=20, status="FAIL"),
    )

    def found(**options: Any) -> list[str]:
        filter = FailureFilter(**options)
        assert count_failed_runs(view, filter) == len(failed_runs(view, filter).runs)
        return [row.properties["runId"] for row in failed_runs(view, filter).runs]

    failed_at = datetime(2026, 1, 1, 0, 11, tzinfo=UTC)  # b: started at 10, failed a minute later
    assert found() == ["c", "b", "a"]
    assert found(since=failed_at) == ["c", "b"]
    assert found(until=failed_at) == ["a"]
    assert found(pipeline="p") == ["c", "a"]
    assert found(namespace="other") == []
    assert failed_runs(view, page=page_request(0)).runs == []
    for cursor in ("x", "!!", "bm90aGluZw==", "ü"):
        with pytest.raises(QueryError, match="cursor"):
            failed_runs(view, page=page_request(after=cursor))


def test_a_second_failure_without_a_start_is_the_time_of_the_failure(
    database: Database, view: GraphView
) -> None:
    """Airflow's `dags test` runs one run id at minute 10 and at minute 30, each time without a START."""
    first, second = (
        {"errorMessage": {"message": message, "programmingLanguage": "python"}}
        for message in ("disk full", "no route to host")
    )
    write_in_any_order(
        database,
        run_event("rerun", "FAIL", 10, facets=first),
        run_event("rerun", "FAIL", 30, facets=second),
        run_event("rerun", "COMPLETE", 31),
    )
    (found,) = failed_runs(view, FailureFilter(since=datetime(2026, 1, 1, 0, 20, tzinfo=UTC))).runs
    assert found.properties["failedAt"] == datetime(2026, 1, 1, 0, 30, tzinfo=UTC)
    assert found.properties["finishedAt"] == found.properties["failedAt"]
    assert found.properties["error"] == "no route to host"
    assert (
        failed_runs(view, FailureFilter(until=datetime(2026, 1, 1, 0, 30, tzinfo=UTC))).runs == []
    )


def test_unknown_runs_are_left_out(view: GraphView) -> None:
    assert affected_nodes(view, [run_of("unknown")]) == {}
    assert affected_nodes(view, []) == {}
