"""The overviews of nodes on the real Neo4j; every state worked out by hand from its history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.questions.node_overviews import (
    ABORTED,
    FAILED,
    NO_NEWS,
    OK,
    PARTIAL,
    RUNNING,
    SKIPPED,
    STALE,
    UNKNOWN,
    UPSTREAM_FAILED,
    NodeOverview,
    NodeState,
    node_overviews,
)
from headwater.lineage.view import GraphView
from headwater.schema.urns import answer_urn
from headwater.schema.visibility import Visibility
from tests.counted_database import CountedDatabase
from tests.run_builders import FACET, Event, answer, at, ds, job, run, run_of, version, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

ALL = [ds("raw"), job("load"), ds("a"), job("build"), ds("b"), job("report"), ds("c")]


def minute(number: float) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)


def states(view: GraphView, *urns: str, as_of: datetime | None = None) -> dict[str, NodeState]:
    found = node_overviews(view, urns or ALL, as_of)
    return {urn: overview.state for urn, overview in found.items() if overview.state}


def of(view: GraphView, urn: str) -> NodeOverview:
    return node_overviews(view, [urn])[urn]


@pytest.fixture
def chain(database: Database, view: GraphView) -> GraphView:
    """Build load: raw -> a; build: a -> b; report: b -> c. Each run takes a minute and succeeds."""
    write_events(
        database,
        run("load-1", "load", ["raw"], ["a"], minute=0, rows=100),
        run("build-1", "build", ["a"], ["b"], minute=10, rows=90),
        run("report-1", "report", ["b"], ["c"], minute=20, rows=7),
    )
    return view


def test_everything_succeeded(chain: GraphView) -> None:
    assert states(chain) == {
        ds("raw"): NodeState(UNKNOWN),
        job("load"): NodeState(OK, minute(1)),
        ds("a"): NodeState(OK, minute(1)),
        job("build"): NodeState(OK, minute(11)),
        ds("b"): NodeState(OK, minute(11)),
        job("report"): NodeState(OK, minute(21)),
        ds("c"): NodeState(OK, minute(21)),
    }


def test_a_failure_that_wrote_nothing(chain: GraphView, database: Database) -> None:
    """Its output is stale, and all that lies downstream waits for the job that failed."""
    write_events(database, run("build-2", "build", ["a"], [], minute=39, status="FAIL"))
    waiting = NodeState(UPSTREAM_FAILED, minute(40), job("build"))
    assert states(chain) == {
        ds("raw"): NodeState(UNKNOWN),
        job("load"): NodeState(OK, minute(1)),
        ds("a"): NodeState(OK, minute(1)),
        job("build"): NodeState(FAILED, minute(40)),
        ds("b"): NodeState(STALE, minute(40), job("build")),
        job("report"): waiting,
        ds("c"): waiting,
    }


def test_the_failure_may_lie_outside_of_the_picture(chain: GraphView, database: Database) -> None:
    write_events(database, run("load-2", "load", ["raw"], [], minute=39, status="FAIL"))
    assert states(chain, ds("c")) == {ds("c"): NodeState(UPSTREAM_FAILED, minute(40), job("load"))}


def test_the_nearest_failure_upstream_is_the_cause(chain: GraphView, database: Database) -> None:
    write_events(
        database,
        run("load-2", "load", ["raw"], [], minute=30, status="FAIL"),
        run("build-2", "build", ["a"], [], minute=39, status="FAIL"),
    )
    found = states(chain)
    assert found[job("build")] == NodeState(FAILED, minute(40))
    assert found[ds("a")] == NodeState(STALE, minute(31), job("load"))
    assert found[job("report")] == NodeState(UPSTREAM_FAILED, minute(40), job("build"))


def test_a_failure_that_left_a_version(chain: GraphView, database: Database) -> None:
    write_events(database, run("build-2", "build", ["a"], ["b"], minute=39, status="FAIL", rows=3))
    found = states(chain)
    assert found[ds("b")] == NodeState(PARTIAL, minute(40))
    assert found[ds("c")] == NodeState(UPSTREAM_FAILED, minute(40), job("build"))
    # Rows and time are those of the newest complete version.
    assert of(chain, ds("b")).row_count == 90
    assert of(chain, ds("b")).updated_at == minute(11)


def test_an_aborted_run(chain: GraphView, database: Database) -> None:
    write_events(database, run("build-2", "build", ["a"], [], minute=39, status="ABORT"))
    found = states(chain)
    assert found[job("build")] == NodeState(ABORTED, minute(40))
    assert found[ds("c")] == NodeState(UPSTREAM_FAILED, minute(40), job("build"))


def test_the_latest_state_decides(chain: GraphView, database: Database) -> None:
    write_events(
        database,
        run("build-2", "build", ["a"], ["b"], minute=39, status="FAIL"),
        run("build-3", "build", ["a"], ["b"], minute=50),
    )
    found = states(chain)
    assert found[job("build")] == NodeState(OK, minute(51))
    assert found[ds("b")] == NodeState(OK, minute(51))
    assert found[ds("c")] == NodeState(OK, minute(21))


def test_a_running_job_and_its_output(chain: GraphView, database: Database) -> None:
    write_events(database, run("build-2", "build", ["a"], ["b"], minute=39)[:1])
    found = states(chain)
    assert found[job("build")] == NodeState(RUNNING, minute(39))
    assert found[ds("b")] == NodeState(RUNNING, minute(39))
    assert found[job("report")] == NodeState(OK, minute(21))


def test_another_writer_refreshed_the_output(chain: GraphView, database: Database) -> None:
    write_events(
        database,
        run("build-2", "build", ["a"], [], minute=39, status="FAIL"),
        run("patch-1", "patch", ["a"], ["b"], minute=45),
    )
    assert states(chain, ds("b"))[ds("b")].state == UPSTREAM_FAILED


def test_what_derives_from_another_input_does_not_wait(view: GraphView, database: Database) -> None:
    """`split` writes x from a and y from z; the job that writes a failed."""
    write_events(
        database,
        run("load-1", "load", ["raw"], ["a"], minute=0),
        run("split-1", "split", ["a", "z"], ["x", "y"], minute=5, derived={"x": ["a"], "y": ["z"]}),
        run("load-2", "load", ["raw"], ["a"], minute=30, status="FAIL"),
    )
    found = states(view, ds("x"), ds("y"))
    assert found[ds("x")].state == UPSTREAM_FAILED
    assert found[ds("y")] == NodeState(OK, minute(6))


def test_a_job_that_never_ran(database: Database, view: GraphView) -> None:
    declared = {"eventTime": at(0), "producer": "p", "job": {"namespace": "etl", "name": "new"}}
    outputs = [{"namespace": "db", "name": "planned"}]
    write_events(database, [{**declared, "outputs": outputs}])
    assert states(view, job("new"), ds("planned")) == {
        job("new"): NodeState(UNKNOWN),
        ds("planned"): NodeState(UNKNOWN),
    }
    assert of(view, job("new")).last_run_at is None


def dag_run(run_id: str, minute: int, status: str = "COMPLETE") -> list[Event]:
    """Return a run of the DAG that contains `task`."""
    events = run(run_id, "dag", minute=minute, status=status)
    kind = {**FACET, "processingType": "BATCH", "integration": "AIRFLOW", "jobType": "DAG"}
    for event in events:
        event["job"]["facets"] = {"jobType": kind}
    return events


@pytest.mark.parametrize(
    ("status", "state"), [("COMPLETE", SKIPPED), ("FAIL", UPSTREAM_FAILED), ("RUNNING", OK)]
)
def test_a_job_that_its_dag_left_out(
    database: Database, view: GraphView, status: str, state: str
) -> None:
    second = dag_run("dag-2", 60, "COMPLETE" if status == "RUNNING" else status)
    write_events(
        database,
        dag_run("dag-1", 0),
        run("task-1", "task", ["raw"], ["a"], minute=0, parent="dag-1"),
        second[:1] if status == "RUNNING" else second,
    )
    found = states(view, job("task"), ds("a"))
    if state == OK:
        assert found[job("task")] == NodeState(OK, minute(1))
    else:
        assert found[job("task")] == NodeState(state, minute(61), job("dag"))
    stale = NodeState(STALE, minute(61), job("task"))
    assert found[ds("a")] == (stale if state == SKIPPED else NodeState(OK, minute(1)))


def test_an_instant_before_the_failure(chain: GraphView, database: Database) -> None:
    write_events(database, run("build-2", "build", ["a"], ["b"], minute=39, status="FAIL"))
    before = states(chain, as_of=minute(30))
    assert before[job("build")] == NodeState(OK, minute(11))
    assert before[ds("b")] == NodeState(OK, minute(11))
    assert before[ds("c")] == NodeState(OK, minute(21))
    during = states(chain, job("build"), as_of=minute(39.5))
    assert during[job("build")] == NodeState(RUNNING, minute(39))


def test_an_abandoned_run(database: Database, view: GraphView) -> None:
    """The parent ended, and its child never did."""
    write_events(
        database,
        run("parent", "dag", minute=0),
        run("child", "task", ["raw"], ["a"], minute=0, parent="parent")[:1],
    )
    found = states(view, job("task"), ds("a"))
    assert found[job("task")].state == NO_NEWS
    assert found[ds("a")].state == NO_NEWS


def test_people_size_and_neighbours(chain: GraphView, database: Database) -> None:
    facets = {
        "ownership": {**FACET, "owners": [{"name": "team:b"}]},
        "tags": {
            **FACET,
            "tags": [
                {"key": "certified", "value": "true", "source": "test"},
                {"key": "pii", "value": "mail", "field": "mail", "source": "test"},
            ],
        },
        "schema": {
            **FACET,
            "fields": [{"name": "id", "type": "int"}, {"name": "mail", "type": "text"}],
        },
    }
    named = {"namespace": "db", "name": "b", "facets": facets}
    write_events(
        database,
        [{"eventTime": at(30), "producer": "p", "dataset": named}],
        run("other-1", "other", ["b"], ["x", "y"], minute=40),
    )
    b = of(chain, ds("b"))
    assert b.owners == ["team:b"]
    assert sorted(b.tags) == ["certified", "mail:pii=mail"]
    assert (b.column_count, b.row_count, b.updated_at) == (2, 90, minute(11))
    assert (b.upstream_count, b.downstream_count) == (1, 2)
    other = of(chain, job("other"))
    assert (other.upstream_count, other.downstream_count) == (1, 2)
    assert (other.last_run_at, other.last_run_id) == (minute(40), "other-1")


def test_the_run_history(chain: GraphView, database: Database) -> None:
    write_events(
        database,
        run("build-2", "build", ["a"], ["b"], minute=39, status="FAIL"),
        answer("best", "c", minute=41),
    )
    found = node_overviews(
        chain, [run_of("build-2"), version("b", "build-2"), version("a", "load-1"), "answer:best"]
    )
    assert found[run_of("build-2")].state == NodeState(FAILED, minute(40))
    assert found[run_of("build-2")].last_run_id == "build-2"
    assert found[version("b", "build-2")].state == NodeState(PARTIAL, minute(40))
    assert found[version("a", "load-1")].state == NodeState(OK, minute(1))
    assert found[version("a", "load-1")].row_count == 100
    assert found[answer_urn("best")].state is None
    assert found[answer_urn("best")].updated_at == minute(41)


def test_unknown_nodes_are_left_out(chain: GraphView) -> None:
    assert node_overviews(chain, [ds("nowhere"), job("nothing"), run_of("never")]) == {}


def test_hidden_nodes_disclose_nothing(chain: GraphView, database: Database) -> None:
    """A key that does not see the jobs learns neither their failures nor their number."""
    write_events(database, run("build-2", "build", ["a"], [], minute=39, status="FAIL"))
    found = node_overviews(chain.visible_to(Visibility(("db",))), ALL)
    assert set(found) == {ds("raw"), ds("a"), ds("b"), ds("c")}
    assert found[ds("b")].state == NodeState(OK, minute(11))
    assert found[ds("c")].state == NodeState(OK, minute(21))
    assert (found[ds("b")].upstream_count, found[ds("b")].downstream_count) == (0, 0)


@pytest.mark.usefixtures("chain")
def test_statements_do_not_grow_with_the_nodes(database: Database) -> None:
    counted = CountedDatabase(database)
    node_overviews(GraphView(counted), [ds("c"), job("report")])
    few = len(counted.queries)
    counted.queries.clear()
    node_overviews(GraphView(counted), ALL)
    assert len(counted.queries) <= few + 1
