"""Column lineage of fields and of whole datasets, with the transformations of each edge."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from tests.canonical import edges
from tests.event_builders import (
    columns,
    current,
    dataset,
    dataset_event,
    edge,
    job_event,
    node,
    read_by,
    run_event,
    schema,
    write_in_any_order,
)
from tests.lineage_requests import lineage
from tests.run_builders import Event, column, ds, job, run_of

pytestmark = pytest.mark.neo4j


def step(type: str, subtype: str | None = None, **more: Any) -> Event:
    return {"type": type, **({"subtype": subtype} if subtype else {}), **more}


def field(name: str, field: str, *steps: Event) -> Event:
    return {
        "namespace": "db",
        "name": name,
        "field": field,
        **({"transformations": list(steps)} if steps else {}),
    }


def facet_of(fields: Event, dataset_inputs: list[Event] | None = None) -> Event:
    return {
        "columnLineage": {
            "fields": {name: {"inputFields": of} for name, of in fields.items()},
            "dataset": dataset_inputs,
        }
    }


def test_a_column_edge_has_the_transformations_of_its_facet(database: Database) -> None:
    transformations = [
        step("DIRECT", "IDENTITY"),
        step("INDIRECT", "FILTER"),
        step("DIRECT", "TRANSFORMATION", masking=True),
    ]
    facet = facet_of(
        {
            "total": [field("a", "price", *transformations), field("b", "tax")],
            "id": [field("a", "id", step("DIRECT"))],
        }
    )
    write_in_any_order(
        database, run_event("r", "COMPLETE", 1, inputs=["a", "b"], outputs=[dataset("x", facet)])
    )
    assert {(s, t) for s, _, t in edges(database, "FEEDS") if s.startswith("column:")} == {
        (column("a", "price"), column("x", "total")),
        (column("b", "tax"), column("x", "total")),
        (column("a", "id"), column("x", "id")),
    }
    made = edge(database, column("a", "price"), "FEEDS", column("x", "total"))
    assert made["transformations"] == [
        "DIRECT:IDENTITY",
        "DIRECT:TRANSFORMATION:masked",
        "INDIRECT:FILTER",
    ]
    assert made["job"] == job("j")
    assert edge(database, column("b", "tax"), "FEEDS", column("x", "total"))["transformations"] == [
        "DIRECT"
    ]


def test_the_older_shape_is_read_as_well(database: Database) -> None:
    old = {
        "columnLineage": {
            "fields": {"id": {"inputFields": [field("a", "id")], "transformationType": "MASKED"}}
        }
    }
    write_in_any_order(
        database, run_event("r", "COMPLETE", 1, inputs=["a"], outputs=[dataset("x", old)])
    )
    assert edge(database, column("a", "id"), "FEEDS", column("x", "id"))["transformations"] == [
        "DIRECT:MASKED"
    ]


def test_dependencies_of_the_whole_dataset_are_edges_into_the_dataset(database: Database) -> None:
    facet = facet_of({"id": [field("a", "id")]}, [field("b", "flag", step("INDIRECT", "JOIN"))])
    write_in_any_order(
        database, run_event("r", "COMPLETE", 1, inputs=["a", "b"], outputs=[dataset("x", facet)])
    )
    assert edge(database, column("b", "flag"), "FEEDS", ds("x"))["transformations"] == [
        "INDIRECT:JOIN"
    ]
    assert edges(database, "DERIVED_FROM") >= {(ds("x"), "DERIVED_FROM", ds(name)) for name in "ab"}


def test_transformations_add_up_over_runs(database: Database) -> None:
    one, two = (
        facet_of({"id": [field("a", "id", step("DIRECT", way))]})
        for way in ("IDENTITY", "AGGREGATION")
    )
    write_in_any_order(
        database,
        run_event("r1", "COMPLETE", 1, inputs=["a"], outputs=[dataset("x", one)]),
        run_event("r2", "COMPLETE", 2, inputs=["a"], outputs=[dataset("x", two)]),
    )
    found = edge(database, column("a", "id"), "FEEDS", column("x", "id"))
    assert (found["transformations"], found["firstSeen"].minute) == (
        ["DIRECT:AGGREGATION", "DIRECT:IDENTITY"],
        1,
    )


def test_two_jobs_are_two_edges(database: Database) -> None:
    facet = columns(id=[("a", "id")])
    write_in_any_order(
        database,
        run_event("r1", "COMPLETE", 1, job="one", inputs=["a"], outputs=[dataset("x", facet)]),
        run_event("r2", "COMPLETE", 2, job="two", inputs=["a"], outputs=[dataset("x", facet)]),
    )
    rows = database.ask("MATCH (:Column)-[e:FEEDS]->(:Column) RETURN e.job AS job ORDER BY job", {})
    assert [row["job"] for row in rows] == [job("one"), job("two")]


def test_a_source_that_is_not_among_the_inputs_was_read(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("s", "COMPLETE", 0, job="seed", outputs=["seed"]),
        run_event("r", "COMPLETE", 2, outputs=[dataset("x", columns(id=[("seed", "id")]))]),
    )
    assert read_by(database, run_of("r")) == {"artifact:db:seed:s"}
    assert (ds("seed"), "FEEDS", job("j")) in edges(database, "FEEDS")


def test_an_output_derived_from_itself_is_not_its_own_input(database: Database) -> None:
    write_in_any_order(
        database, run_event("r", "COMPLETE", 2, outputs=[dataset("x", columns(n=[("x", "n")]))])
    )
    assert read_by(database, run_of("r")) == set()
    assert edge(database, column("x", "n"), "FEEDS", column("x", "n"))["transformations"] == [
        "DIRECT"
    ]


def test_each_output_comes_from_the_sources_of_its_own_columns(
    database: Database, view: GraphView
) -> None:
    outputs = [dataset("x", columns(id=[("a", "id")])), dataset("y", columns(id=[("b", "id")]))]
    write_in_any_order(database, run_event("r", "COMPLETE", 1, inputs=["a", "b"], outputs=outputs))
    found = {one.urn for one in lineage(view, ds("x"), direction="UPSTREAM").nodes}
    assert found == {ds("x"), job("j"), ds("a")}


def test_column_lineage_without_a_run_or_a_job(database: Database, view: GraphView) -> None:
    write_in_any_order(
        database,
        job_event("planned", 1, inputs=["a"], outputs=[dataset("x", columns(id=[("a", "id")]))]),
        dataset_event("view", 1, columns(id=[("x", "id")])),
    )
    assert edge(database, column("a", "id"), "FEEDS", column("x", "id"))["job"] == job("planned")
    assert edge(database, column("x", "id"), "FEEDS", column("view", "id"))["job"] == ""
    reached = {one.urn for one in lineage(view, column("view", "id"), direction="UPSTREAM").nodes}
    assert reached == {column(name, "id") for name in ("view", "x", "a")}


@pytest.mark.parametrize("reader", ["run", "job"])
def test_column_lineage_of_an_input_describes_that_input(
    database: Database, view: GraphView, reader: str
) -> None:
    """The job reads `v`, a view over `a`, and does not write it."""
    read = dataset("v", columns(id=[("a", "key")]), side="input")
    events = {
        "run": run_event("r", "COMPLETE", 1, inputs=[read], outputs=["x"]),
        "job": job_event("j", 1, inputs=[read], outputs=["x"]),
    }
    write_in_any_order(database, events[reader])
    assert edge(database, column("a", "key"), "FEEDS", column("v", "id"))["job"] == ""
    assert (ds("a"), "FEEDS", ds("v")) in current(database)
    reached = {one.urn for one in lineage(view, ds("x"), direction="UPSTREAM").nodes}
    assert reached == {ds("x"), job("j"), ds("v"), ds("a")}
    if reader == "run":
        assert read_by(database, run_of("r")) == {"source:db:v"}


def test_column_lineage_of_an_input_equals_that_of_a_dataset_event(database: Database) -> None:
    facets = {**columns(id=[("a", "key")]), **schema(id="int")}
    graphs = []
    for events in (
        [run_event("r", "COMPLETE", 1, inputs=[dataset("v", facets)])],
        [run_event("r", "COMPLETE", 1, inputs=["v"]), dataset_event("v", 1, facets)],
    ):
        write_in_any_order(database, *events)
        graphs.append(edges(database))
    assert graphs[0] == graphs[1]


def test_the_newest_description_of_an_input_replaces_its_sources(database: Database) -> None:
    first, second = (dataset("v", columns(id=[(name, "id")])) for name in ("a", "b"))
    write_in_any_order(
        database,
        run_event("r1", "COMPLETE", 1, inputs=[first]),
        run_event("r2", "COMPLETE", 2, inputs=[second]),
        run_event("r3", "COMPLETE", 3, inputs=["v"]),
    )
    feeding = {edge for edge in current(database) if edge[2] == ds("v")}
    assert feeding == {(ds("b"), "FEEDS", ds("v"))}


def test_a_column_named_only_by_an_edge_is_not_current(database: Database) -> None:
    write_in_any_order(
        database,
        run_event(
            "r", "COMPLETE", 1, inputs=["a"], outputs=[dataset("x", columns(id=[("a", "id")]))]
        ),
    )
    assert node(database, column("a", "id"))["current"] is False


@pytest.mark.parametrize(
    "broken", [{"namespace": "db"}, {"namespace": " ", "name": "a", "field": "id"}, 7, None]
)
def test_a_malformed_source_is_left_out_and_the_others_stay(
    database: Database, broken: Any
) -> None:
    facet = {"columnLineage": {"fields": {"id": {"inputFields": [broken, field("a", "id")]}}}}
    write_in_any_order(
        database, run_event("r", "COMPLETE", 1, inputs=["a"], outputs=[dataset("x", facet)])
    )
    assert edge(database, column("a", "id"), "FEEDS", column("x", "id"))["transformations"] == [
        "DIRECT"
    ]
