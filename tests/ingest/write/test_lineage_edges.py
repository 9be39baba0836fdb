"""Current edges of the lineage graph: by the newest successful run of a job and by declarations."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from tests.event_builders import (
    current,
    dataset_event,
    edge,
    job_event,
    parent,
    run_event,
    source,
    write_in_any_order,
)
from tests.lineage_requests import lineage
from tests.run_builders import ds, job

pytestmark = pytest.mark.neo4j


def reads(name: str, job_name: str = "j") -> tuple[str, str, str]:
    return (ds(name), "FEEDS", job(job_name))


def produces(name: str, job_name: str = "j") -> tuple[str, str, str]:
    return (job(job_name), "PRODUCED", ds(name))


def test_the_newest_successful_run_determines_current_edges(
    database: Database, view: GraphView
) -> None:
    write_in_any_order(
        database,
        run_event("r2", "COMPLETE", 2, inputs=["b"], outputs=["y"]),
        run_event("r1", "COMPLETE", 1, inputs=["a"], outputs=["x"]),
    )
    assert current(database) == {reads("b"), produces("y")}
    assert edge(database, ds("a"), "FEEDS", job("j"))["current"] is False
    assert {one.urn for one in lineage(view, job("j")).nodes} == {
        job("j"),
        ds("b"),
        ds("y"),
    }


@pytest.mark.parametrize("state", ["FAIL", "ABORT", "START", "RUNNING"])
def test_a_run_that_did_not_succeed_changes_nothing(database: Database, state: str) -> None:
    write_in_any_order(
        database,
        run_event("r1", "COMPLETE", 1, inputs=["a"], outputs=["x"]),
        run_event("r2", state, 2, inputs=["b"], outputs=["y"]),
    )
    assert current(database) == {reads("a"), produces("x")}


def test_an_abandoned_run_changes_nothing(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("r1", "COMPLETE", 1, inputs=["a"], outputs=["x"]),
        run_event("r2", "START", 2, inputs=["b"], outputs=["y"], facets=parent("p", "dag")),
        run_event("p", "COMPLETE", 3, job="dag"),
    )
    assert current(database) == {reads("a"), produces("x")}


def test_a_run_that_names_no_datasets_changes_nothing(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("r1", "COMPLETE", 1, inputs=["a"], outputs=["x"]),
        run_event("r2", "COMPLETE", 2),
        run_event("r3", "COMPLETE", 3, inputs=["b"]),
    )
    assert current(database) == {reads("b"), produces("x")}, (
        "inputs and outputs are judged by themselves"
    )


def test_all_edges_are_current_until_a_run_succeeds(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("r1", "START", 1, inputs=["a"], outputs=["x"]),
        run_event("r2", "FAIL", 2, inputs=["b"], outputs=["y"]),
    )
    assert current(database) == {reads("a"), reads("b"), produces("x"), produces("y")}


def test_a_restarted_run_no_longer_counts_as_successful(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("r1", "COMPLETE", 1, inputs=["a"], outputs=["x"]),
        run_event("r2", "COMPLETE", 2, inputs=["b"], outputs=["y"]),
        run_event("r2", "START", 3, inputs=["b"], outputs=["y"]),
    )
    assert current(database) == {reads("a"), produces("x")}


def test_a_declaration_is_current_until_another_replaces_it(database: Database) -> None:
    write_in_any_order(
        database,
        job_event("j", 1, inputs=["a"], outputs=["x"]),
        job_event("j", 2, inputs=["b"], outputs=["x"]),
    )
    assert current(database) == {reads("b"), produces("x")}
    assert edge(database, ds("a"), "FEEDS", job("j"))["declared"] is False


def test_a_job_event_that_names_no_datasets_declares_nothing(database: Database) -> None:
    write_in_any_order(database, job_event("j", 1, inputs=["a"], outputs=["x"]), job_event("j", 2))
    assert current(database) == {reads("a"), produces("x")}


def test_declared_and_observed_edges_are_both_current(database: Database) -> None:
    write_in_any_order(
        database,
        job_event("j", 1, inputs=["a"], outputs=["x"]),
        run_event("r1", "COMPLETE", 2, inputs=["b"], outputs=["x"]),
        run_event("r2", "COMPLETE", 3, inputs=["c"], outputs=["x"]),
    )
    assert current(database) == {reads("a"), reads("c"), produces("x")}


def test_a_failed_run_of_a_declared_job_adds_nothing(database: Database) -> None:
    write_in_any_order(
        database,
        job_event("j", 1, inputs=["a"], outputs=["x"]),
        run_event("r", "FAIL", 2, inputs=["b"], outputs=["y"]),
    )
    assert current(database) == {reads("a"), produces("x")}


def test_one_of_two_runs_with_the_same_end_counts_in_any_order(
    database: Database,
) -> None:
    write_in_any_order(
        database,
        run_event("r1", "COMPLETE", 1, inputs=["a"]),
        run_event("r2", "COMPLETE", 1, inputs=["b"]),
    )
    assert current(database) == {reads("b")}


def test_a_renamed_table_declared_later_still_comes_from_its_old_name(
    database: Database,
) -> None:
    renamed = {
        "lifecycleStateChange": {
            "lifecycleStateChange": "RENAME",
            "previousIdentifier": source("old"),
        }
    }
    write_in_any_order(
        database,
        dataset_event("new", 1, {**renamed, "lineage": {"inputs": [source("old")]}}),
        dataset_event("new", 2, {"lineage": {"inputs": [source("feed")]}}),
    )
    assert current(database) == {(ds("old"), "FEEDS", ds("new")), (ds("feed"), "FEEDS", ds("new"))}
