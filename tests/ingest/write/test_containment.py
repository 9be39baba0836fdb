"""Parents and roots in every spelling, abandoned runs, and attempts of a schedule slot."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.write.containment import ATTEMPTS_MAX, abandon_lost_heartbeats
from tests.canonical import canonical, edges, empty
from tests.event_builders import (
    dataset,
    node,
    parent,
    read_by,
    run_event,
    write_batch,
    write_in_any_order,
)
from tests.run_builders import Event, at, job, run_of, version

pytestmark = pytest.mark.neo4j

DAG = {"run": {"runId": "dag-1"}, "job": {"namespace": "etl", "name": "dag"}}
FLAT = {"jobNamespace": "etl", "jobName": "dag"}


def status(database: Database, run_id: str) -> str:
    found: str = node(database, run_of(run_id))["status"]
    return found


def part_of(database: Database) -> set[tuple[str, str]]:
    return {(source, target) for source, _, target in edges(database, "PART_OF")}


@pytest.mark.parametrize(
    "facets",
    [
        {"parent": DAG},
        {"parentRun": DAG},
        {"parent": {"run": {"run_id": "dag-1"}, "job": DAG["job"]}},
        {"parent": {"runId": "dag-1", **FLAT}},
        {"parent": {"parentRunId": "dag-1", "namespace": "etl", "name": "dag"}},
        {"parent": {"_deleted": True}, "parentRun": DAG},
    ],
)
def test_every_spelling_of_the_parent_facet_is_read(
    database: Database, facets: dict[str, Any]
) -> None:
    write_in_any_order(database, run_event("task-1", "START", 1, job="dag.task", facets=facets))
    assert part_of(database) == {(run_of("task-1"), run_of("dag-1")), (job("dag.task"), job("dag"))}
    assert (run_of("dag-1"), "RUN_OF", job("dag")) in edges(database, "RUN_OF")


@pytest.mark.parametrize(
    "root",
    [
        {"root": {"run": {"runId": "top-1"}, "job": {"namespace": "etl", "name": "top"}}},
        {"root": {"runId": "top-1", "namespace": "etl", "name": "top"}},
    ],
)
def test_the_parent_is_itself_part_of_the_root(database: Database, root: dict[str, Any]) -> None:
    write_in_any_order(
        database,
        run_event("task-1", "START", 1, job="dag.task", facets={"parent": {**DAG, **root}}),
    )
    assert part_of(database) == {
        (run_of("task-1"), run_of("dag-1")),
        (run_of("dag-1"), run_of("top-1")),
        (job("dag.task"), job("dag")),
        (job("dag"), job("top")),
    }


def test_a_root_without_a_job_is_identified_by_its_run(database: Database) -> None:
    write_in_any_order(
        database,
        run_event(
            "task-1", "START", 1, job="t", facets={"parent": {**DAG, "rootParentRunId": "top-1"}}
        ),
    )
    assert (run_of("dag-1"), run_of("top-1")) in part_of(database)


def test_a_parent_with_only_a_job_joins_the_jobs(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("task-1", "START", 1, job="dag.task", facets={"parent": {"job": DAG["job"]}}),
    )
    assert part_of(database) == {(job("dag.task"), job("dag"))}


def test_a_run_is_not_part_of_itself(database: Database) -> None:
    dag = run_event("dag-1", "START", 1, job="dag", facets=parent("dag-1", "dag", ("dag-1", "dag")))
    write_in_any_order(database, dag)
    assert part_of(database) == set()


def nested() -> list[Event]:
    """Return an Airflow DAG run, its task, the Spark application of the task, and one SQL
    execution.
    """
    root = ("dag-1", "dag")
    return [
        run_event("dag-1", "START", 1, job="dag"),
        run_event("task-1", "START", 2, job="dag.task", facets=parent("dag-1", "dag", root)),
        run_event("app-1", "START", 3, job="app", facets=parent("task-1", "dag.task", root)),
        run_event(
            "sql-1",
            "START",
            4,
            job="app.execute",
            outputs=["t"],
            facets=parent("app-1", "app", root),
        ),
        run_event(
            "sql-1",
            "COMPLETE",
            5,
            job="app.execute",
            outputs=["t"],
            facets=parent("app-1", "app", root),
        ),
        run_event("app-1", "COMPLETE", 6, job="app", facets=parent("task-1", "dag.task", root)),
        run_event("task-1", "COMPLETE", 7, job="dag.task", facets=parent("dag-1", "dag", root)),
        run_event("dag-1", "COMPLETE", 8, job="dag"),
    ]


def test_a_query_an_application_a_task_and_a_dag_are_nested(database: Database) -> None:
    write_in_any_order(database, *nested())
    chain = ["sql-1", "app-1", "task-1", "dag-1"]
    jobs = ["app.execute", "app", "dag.task", "dag"]
    pairs = list(itertools.pairwise(chain))
    assert part_of(database) == {
        *((run_of(below), run_of(above)) for below, above in pairs),
        *((job(below), job(above)) for below, above in itertools.pairwise(jobs)),
    }
    assert {status(database, run_id) for run_id in chain} == {"COMPLETE"}


def test_unfinished_runs_at_every_depth_are_abandoned_when_the_root_ends(
    database: Database,
) -> None:
    dag, task, app, query = nested()[:4]
    write_in_any_order(database, query, app, task, dag, run_event("dag-1", "FAIL", 9, job="dag"))
    assert status(database, "dag-1") == "FAIL"
    assert {status(database, run_id) for run_id in ("task-1", "app-1", "sql-1")} == {"ABANDONED"}
    made = node(database, version("t", "sql-1"))
    assert (made["status"], made["complete"]) == ("ABANDONED", False)


def test_an_ended_run_is_not_abandoned(database: Database) -> None:
    child = run_event("c", "START", 2, job="task", outputs=["t"], facets=parent("p", "dag"))
    end = run_event("c", "FAIL", 9, job="task")
    write_in_any_order(database, child, run_event("p", "COMPLETE", 5, job="dag"), end)
    assert status(database, "c") == "FAIL"
    assert node(database, version("t", "c"))["status"] == "FAIL"


RDD = {"jobType": {"jobType": "RDD_JOB", "integration": "SPARK", "processingType": "BATCH"}}


def rdd_job(minute: int = 2, state: str = "START", **datasets: list[str]) -> Event:
    """Return an event of Spark's listener for a job that lists the footers of Parquet files."""
    facets = parent("app-1", "app")
    return run_event(
        "rdd-1", state, minute, job="app.list_files", facets=facets, job_facets=RDD, **datasets
    )


@pytest.mark.parametrize("inputs", [[], ["files"]])
def test_a_job_on_rdds_without_an_end_is_complete_with_its_parent(
    database: Database, inputs: list[str]
) -> None:
    app = [
        run_event("app-1", state, at, job="app") for at, state in ((1, "START"), (3, "COMPLETE"))
    ]
    write_in_any_order(database, rdd_job(inputs=inputs), *app)
    found = node(database, run_of("rdd-1"))
    assert (found["status"], found["endUnreported"]) == ("COMPLETE", True)
    write_batch(database, [rdd_job(4, "FAIL", inputs=inputs)])
    found = node(database, run_of("rdd-1"))
    assert (found["status"], found.get("endUnreported")) == ("FAIL", None)


@pytest.mark.parametrize(
    ("ends", "status_of_job"),
    [
        ([], "RUNNING"),
        ([(3, "FAIL")], "ABANDONED"),
        ([(3, "ABORT")], "ABANDONED"),
        # The first attempt of the application failed, and only the second one is complete.
        ([(3, "FAIL"), (4, "START"), (5, "COMPLETE")], "ABANDONED"),
        # A failure stays, whatever Spark's listener sends after it.
        ([(3, "FAIL"), (3, "COMPLETE")], "ABANDONED"),
        ([(3, "FAIL"), (6, "COMPLETE")], "ABANDONED"),
    ],
)
def test_a_job_on_rdds_is_complete_only_with_its_parents_attempt(
    database: Database, ends: list[tuple[int, str]], status_of_job: str
) -> None:
    app = [run_event("app-1", state, at, job="app") for at, state in ((1, "START"), *ends)]
    write_in_any_order(database, rdd_job(), *app)
    assert status(database, "rdd-1") == status_of_job


def test_a_job_on_rdds_that_writes_has_an_end_or_is_abandoned(database: Database) -> None:
    app = [
        run_event("app-1", state, at, job="app") for at, state in ((1, "START"), (3, "COMPLETE"))
    ]
    write_in_any_order(database, rdd_job(outputs=["t"]), *app)
    assert status(database, "rdd-1") == "ABANDONED"


def test_an_older_listener_of_spark_sends_no_job_type(database: Database) -> None:
    app = [
        run_event("app-1", state, at, job="app") for at, state in ((1, "START"), (3, "COMPLETE"))
    ]
    spark = {"producer": "https://github.com/OpenLineage/OpenLineage/tree/1.4.1/integration/spark"}
    listing = {**rdd_job(), **spark}
    listing["job"] = {**listing["job"], "facets": {}}
    write_in_any_order(database, listing, *app)
    assert status(database, "rdd-1") == "COMPLETE"


def test_a_run_with_events_after_the_end_of_its_parent_is_running(database: Database) -> None:
    child = run_event("c", "START", 2, job="task", facets=parent("p", "dag"))
    write_in_any_order(
        database,
        child,
        run_event("p", "COMPLETE", 5, job="dag"),
        run_event("c", "RUNNING", 6, job="task"),
    )
    assert status(database, "c") == "RUNNING"


def test_an_event_at_the_end_of_the_parent_is_not_after_it(
    database: Database,
) -> None:
    child = run_event("c", "START", 5, job="task", facets=parent("p", "dag"))
    write_in_any_order(database, child, run_event("p", "COMPLETE", 5, job="dag"))
    assert status(database, "c") == "ABANDONED"


def test_a_restarted_parent_abandons_the_runs_of_its_first_attempt(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("p", "START", 1, job="dag"),
        run_event("old", "START", 2, job="task", facets=parent("p", "dag")),
        run_event("p", "FAIL", 3, job="dag"),
        run_event("p", "START", 10, job="dag"),
        run_event("new", "START", 11, job="task", facets=parent("p", "dag")),
    )
    assert [status(database, run_id) for run_id in ("p", "old", "new")] == [
        "RUNNING",
        "ABANDONED",
        "RUNNING",
    ]


def test_an_abandoned_version_is_not_current(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("w", "COMPLETE", 1, job="load", outputs=["t"]),
        run_event("c", "START", 2, job="load", outputs=["t"], facets=parent("p", "dag")),
        run_event("p", "COMPLETE", 3, job="dag"),
        run_event("r", "START", 4, job="report", inputs=["t"]),
    )
    assert read_by(database, run_of("r")) == {version("t", "w"), version("t", "c")}, (
        "it may have written data"
    )


def test_a_silent_run_is_abandoned_and_a_later_event_revives_it(database: Database) -> None:
    begun = run_event("r", "START", 1, outputs=["t"])
    done = run_event("done", "COMPLETE", 1, job="other")
    write_in_any_order(database, begun, done)
    # Received at 0, in 1970.
    day = datetime(1970, 1, 2, tzinfo=UTC)
    assert (
        abandon_lost_heartbeats(
            database, now=day, heartbeat_timeout_seconds=2 * 86_400, holder="tests"
        )
        == 0
    )
    assert (
        abandon_lost_heartbeats(database, now=day, heartbeat_timeout_seconds=3_600, holder="tests")
        == 1
    )
    assert (
        abandon_lost_heartbeats(database, now=day, heartbeat_timeout_seconds=3_600, holder="tests")
        == 0
    ), "once is enough"
    assert status(database, "r") == node(database, version("t", "r"))["status"] == "ABANDONED"
    assert status(database, "done") == "COMPLETE"
    write_batch(database, [begun])
    assert status(database, "r") == "ABANDONED", "a repeated event changes nothing"
    write_batch(database, [run_event("r", "RUNNING", 2, outputs=["t"])])
    assert status(database, "r") == node(database, version("t", "r"))["status"] == "RUNNING"
    write_batch(database, [run_event("r", "COMPLETE", 3, outputs=["t"])])
    settled = canonical(database)
    ended = run_event("r", "COMPLETE", 3, outputs=["t"])
    write_in_any_order(database, begun, done, run_event("r", "RUNNING", 2, outputs=["t"]), ended)
    assert canonical(database) == settled, "nothing is left of its silence"


def tried(run_id: str, begin: int, end: int, state: str, **facets: Any) -> list[Event]:
    slot = {"nominalTime": {"nominalStartTime": at(0)}, **facets}
    return [
        run_event(run_id, "START", begin, job="task", facets=slot),
        run_event(run_id, state, end, job="task", facets=slot),
    ]


def attempt(database: Database, run_id: str) -> tuple[Any, Any]:
    found = node(database, run_of(run_id))
    return found["attempt"], found["retried"]


def test_runs_of_one_slot_are_attempts_of_one_another(database: Database) -> None:
    write_in_any_order(
        database,
        *tried("a", 1, 2, "FAIL"),
        *tried("b", 3, 4, "FAIL"),
        *tried("c", 5, 6, "COMPLETE"),
        *[
            {**event, "run": {"runId": "elsewhen", "facets": {}}}
            for event in tried("d", 7, 8, "COMPLETE")
        ],
    )
    assert [attempt(database, run_id) for run_id in "abc"] == [(1, True), (2, True), (3, None)]
    assert edges(database, "RETRY_OF") == {
        (run_of("b"), "RETRY_OF", run_of("a")),
        (run_of("c"), "RETRY_OF", run_of("b")),
    }
    assert attempt(database, "elsewhen") == (None, None)


def test_mapped_tasks_have_separate_slots(database: Database) -> None:
    first, second = (
        tried(
            f"mapped-{index}",
            1 + index * 10,
            5 + index * 10,
            "COMPLETE",
            airflow_mappedTask={"mapIndex": index},
        )
        for index in range(2)
    )
    write_in_any_order(database, *first, *second)
    assert edges(database, "RETRY_OF") == set()
    assert [attempt(database, f"mapped-{index}") for index in range(2)] == [(1, None), (1, None)]


def test_overlapping_runs_are_not_attempts_of_one_another(database: Database) -> None:
    write_in_any_order(database, *tried("a", 1, 9, "COMPLETE"), *tried("b", 2, 8, "COMPLETE"))
    assert edges(database, "RETRY_OF") == set()
    assert [attempt(database, run_id) for run_id in "ab"] == [(1, None), (1, None)]


def test_a_run_that_moves_to_another_slot_leaves_the_first_in_order(database: Database) -> None:
    later_slot = {"nominalTime": {"nominalStartTime": at(60)}}
    write_in_any_order(
        database,
        *tried("a", 1, 2, "FAIL"),
        *tried("b", 3, 4, "FAIL"),
        *tried("c", 5, 6, "COMPLETE"),
        run_event("b", "OTHER", 7, job="task", facets=later_slot),
    )
    assert [attempt(database, run_id) for run_id in "abc"] == [(1, True), (1, None), (2, None)]
    assert edges(database, "RETRY_OF") == {(run_of("c"), "RETRY_OF", run_of("a"))}


def test_a_restarted_run_keeps_its_successful_version_and_its_readers(
    database: Database,
) -> None:
    out = [dataset("t", usage={"outputStatistics": {"rowCount": 7}})]
    write_in_any_order(
        database,
        run_event("w", "START", 1, outputs=["t"]),
        run_event("w", "COMPLETE", 2, outputs=out),
        run_event("r", "START", 3, job="report", inputs=["t"]),
        run_event("w", "START", 10, outputs=["t"]),
        run_event("late", "START", 12, job="report", inputs=["t"]),
    )
    (earlier,) = read_by(database, run_of("r"))
    assert earlier.startswith(f"{version('t', 'w')}:")
    old_version, now = node(database, earlier), node(database, version("t", "w"))
    assert (old_version["complete"], old_version["status"], old_version["createdAt"].minute) == (
        True,
        "COMPLETE",
        2,
    )
    assert (now["complete"], now["status"]) == (False, "RUNNING")
    assert read_by(database, run_of("late")) == {earlier, version("t", "w")}
    assert node(database, run_of("w"))["attempts"] == 2


def test_an_abandoned_second_attempt_leaves_the_first_version_complete(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("w", "START", 1, outputs=["t"], facets=parent("p", "dag")),
        run_event("w", "COMPLETE", 2, outputs=["t"]),
        run_event("w", "START", 3),
        run_event("p", "COMPLETE", 4, job="dag"),
    )
    rows = database.ask(
        "MATCH (a:Artifact) RETURN a.complete AS complete, a.status AS status ORDER BY status", {}
    )
    assert rows == [
        {"complete": False, "status": "ABANDONED"},
        {"complete": True, "status": "COMPLETE"},
    ]


def test_the_attempts_of_a_slot_are_bounded(database: Database) -> None:
    runs = []
    for n in range(ATTEMPTS_MAX + 2):
        runs += tried(f"r{n:03}", 2 * n, 2 * n + 1, "COMPLETE")
    found = []
    for cut in (40, -40):
        empty(database)
        write_batch(database, runs[cut:])
        write_batch(database, runs[:cut])
        found.append(canonical(database))
        assert attempt(database, f"r{ATTEMPTS_MAX - 1:03}") == (ATTEMPTS_MAX, None)
        assert attempt(database, f"r{ATTEMPTS_MAX:03}") == (None, None)
    assert found[0] == found[1]
