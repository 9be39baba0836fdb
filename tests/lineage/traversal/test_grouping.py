"""Lineage at a level of containment, and the lineage graph at an instant."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.questions.lineage import Lineage
from headwater.lineage.view import GraphView
from headwater.schema.urns import job_urn, run_urn
from headwater.schema.visibility import Visibility
from tests.lineage_requests import lineage
from tests.run_builders import FACET, Event, ds, job, run, version, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


def within(events: list[Event], run_id: str, name: str, kind: str) -> list[Event]:
    """Return the same events as part of a parent run, of a job of that type."""
    for event in events:
        event["run"]["facets"]["parent"] = {
            **FACET,
            "run": {"runId": run_id},
            "job": {"namespace": "etl", "name": name},
        }
    facets = {
        "jobType": {**FACET, "jobType": kind, "integration": "AIRFLOW", "processingType": "BATCH"}
    }
    above: dict[str, Any] = {
        "eventTime": events[0]["eventTime"],
        "job": {"namespace": "etl", "name": name},
    }
    above["job"]["facets"] = facets
    return [*events, above]


def shop(database: Database) -> None:
    """Build a DAG of two tasks, raw -> a -> b, and a Spark application within the second; another
    DAG reads b.
    """
    write_events(
        database,
        within(run("load-1", "shop.load", ["raw"], ["a"], minute=1), "dag-1", "shop", "DAG"),
        within(run("spark-1", "app.query", ["a"], ["b"], minute=5), "app-1", "app", "APPLICATION"),
        within(run("app-1", "app", minute=4), "task-1", "shop.sum", "TASK"),
        within(run("task-1", "shop.sum", minute=3), "dag-1", "shop", "DAG"),
        within(
            run("report-1", "report.print", ["b"], ["page"], minute=9), "dag-2", "report", "DAG"
        ),
    )


def names(found: Lineage) -> set[str]:
    return {node.urn for node in found.nodes}


def test_a_dag_replaces_its_members(database: Database, view: GraphView) -> None:
    shop(database)
    found = lineage(view, ds("page"), direction="UPSTREAM", level="dag")
    assert set(found.edges) == {
        Edge(ds("raw"), job("shop"), "FEEDS"),
        Edge(job("shop"), ds("a"), "PRODUCED"),
        Edge(job("shop"), ds("b"), "PRODUCED"),
        Edge(ds("b"), job("report"), "FEEDS"),
        Edge(job("report"), ds("page"), "PRODUCED"),
    }, "what the DAG makes for itself is no input of it"
    assert set(lineage(view, ds("page"), direction="UPSTREAM", level="TOP").edges) == set(
        found.edges
    )


def test_any_level_between(database: Database, view: GraphView) -> None:
    shop(database)
    task = lineage(view, ds("b"), direction="UPSTREAM", level="TASK")
    assert Edge(job("shop.sum"), ds("b"), "PRODUCED") in task.edges
    assert job("shop.load") in names(task), (
        "nothing that contains it is a task, so it is shown as itself"
    )
    application = lineage(view, ds("b"), direction="UPSTREAM", level="APPLICATION")
    assert Edge(job("app"), ds("b"), "PRODUCED") in application.edges
    plain = lineage(view, ds("b"), direction="UPSTREAM")
    assert Edge(job("app.query"), ds("b"), "PRODUCED") in plain.edges


def test_lineage_starts_at_the_container_of_the_start(database: Database, view: GraphView) -> None:
    shop(database)
    found = lineage(view, job("app.query"), level="TOP")
    assert found.start == job("shop")
    assert job("shop") in names(found)
    assert job("app.query") not in names(found)


def test_runs_are_lifted_to_runs(database: Database, view: GraphView) -> None:
    shop(database)
    found = lineage(view, version("page", "report-1"), direction="UPSTREAM", level="DAG")
    assert {urn for urn in names(found) if urn.startswith("run:")} == {
        run_urn("dag-1"),
        run_urn("dag-2"),
    }
    assert Edge(run_urn("dag-1"), version("b", "spark-1"), "PRODUCED") in found.edges


def test_a_hidden_container_is_passed_over(database: Database, view: GraphView) -> None:
    above = within(run("over-1", "over", minute=2), "top-1", "top", "DAG")
    for event in above:
        if event["job"]["name"] == "top":
            event["job"]["namespace"] = "secret"
        else:
            event["run"]["facets"]["parent"]["job"]["namespace"] = "secret"
    write_events(database, above)
    visible = view.visible_to(Visibility(("etl", "db")))
    assert lineage(view, job("over"), level="TOP").start == job_urn("secret", "top")
    for level in ("TOP", "DAG"):
        found = lineage(visible, job("over"), level=level)
        assert (found.start, names(found)) == (job("over"), {job("over")})


def at(minute: int) -> datetime:
    return datetime(2026, 1, 1, 0, minute, tzinfo=UTC)


def test_the_lineage_graph_at_an_instant(database: Database, view: GraphView) -> None:
    write_events(
        database,
        run("r1", "j", ["a", "b"], ["t"], minute=1),
        run("r2", "j", ["a", "c"], ["t", "u"], minute=10),
    )
    assert names(lineage(view, ds("t"), direction="UPSTREAM")) == {
        ds("t"),
        job("j"),
        ds("a"),
        ds("c"),
    }
    then = lineage(view, ds("t"), direction="UPSTREAM", as_of=at(5))
    assert names(then) == {ds("t"), job("j"), ds("a"), ds("b")}
    assert names(lineage(view, ds("t"), direction="UPSTREAM", as_of=at(20))) == {
        ds("t"),
        job("j"),
        ds("a"),
        ds("c"),
    }
    assert names(lineage(view, ds("b"), direction="DOWNSTREAM")) == {ds("b")}, (
        "no job reads it any more"
    )
    assert names(lineage(view, ds("b"), direction="DOWNSTREAM", as_of=at(5))) == {
        ds("b"),
        job("j"),
        ds("t"),
    }
    assert names(lineage(view, ds("t"), as_of=at(0))) == {ds("t")}, "nothing was known then"


def test_derivations_are_as_of_the_instant(database: Database, view: GraphView) -> None:
    """After an event names the inputs of an output, a traversal at an instant uses the derivations
    of that instant.
    """
    early = run("r1", "j", ["a", "b"], ["t"], minute=1, derived={"t": ["a", "b"]})
    late = run("r2", "j", ["a", "c"], ["t"], minute=10, derived={"t": ["a", "c"]})
    write_events(database, early, late)
    assert names(lineage(view, ds("t"), direction="UPSTREAM")) == {
        ds("t"),
        job("j"),
        ds("a"),
        ds("c"),
    }
    then = lineage(view, ds("t"), direction="UPSTREAM", as_of=at(5))
    assert names(then) == {ds("t"), job("j"), ds("a"), ds("b")}
    assert names(lineage(view, ds("c"), direction="DOWNSTREAM", as_of=at(5))) == {ds("c")}


def test_an_output_without_current_derivations_derives_from_all_inputs(
    database: Database,
    view: GraphView,
) -> None:
    write_events(
        database,
        run("r1", "j", ["a"], ["t"], minute=1, derived={"t": ["a"]}),
        run("r2", "j", ["b"], ["t"], minute=10),
    )
    assert names(lineage(view, ds("t"), direction="UPSTREAM")) == {
        ds("t"),
        job("j"),
        ds("b"),
    }
    assert names(lineage(view, ds("b"), direction="DOWNSTREAM")) == {
        ds("b"),
        job("j"),
        ds("t"),
    }
    assert names(lineage(view, ds("t"), direction="UPSTREAM", as_of=at(5))) == {
        ds("t"),
        job("j"),
        ds("a"),
    }


def test_only_the_lineage_graph_has_instants(database: Database, view: GraphView) -> None:
    write_events(database, run("r1", "j", ["a"], ["t"], minute=1))
    with pytest.raises(QueryError, match="asOf"):
        lineage(view, run_urn("r1"), as_of=at(5))


def test_a_dataset_is_found_by_any_of_its_names(database: Database, view: GraphView) -> None:
    event = run("r1", "j", ["a"], [], minute=1)
    for one in event:
        symlinks = [{"namespace": "hive://meta:9083", "name": "shop.t", "type": "TABLE"}]
        one["outputs"] = [
            {
                "namespace": "s3a://lake/",
                "name": "warehouse/t/",
                "facets": {"symlinks": {**FACET, "identifiers": symlinks}},
            }
        ]
    write_events(database, event)
    location = "dataset:s3%3A//lake:warehouse/t"
    for urn in (
        location,
        "dataset:s3a%3A//lake:/warehouse/t/",
        "dataset:hive%3A//META%3A9083:shop.t",
    ):
        found = lineage(view, urn, direction="UPSTREAM")
        assert (found.start, names(found)) == (location, {location, job_urn("etl", "j"), ds("a")})
