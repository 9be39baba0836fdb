"""The lineage facet lists all sources of its output, and nothing else is inferred."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from headwater.schema.urns import column_urn
from tests.canonical import edges
from tests.event_builders import (
    current,
    dataset,
    dataset_event,
    deleted,
    edge,
    job_event,
    node,
    read_by,
    run_event,
    source,
    source_job,
    symlinks,
    write_in_any_order,
)
from tests.lineage_requests import lineage
from tests.run_builders import Event, ds, job, run_of, version

pytestmark = pytest.mark.neo4j


def lineage_of(*inputs: Event, **fields: list[Event]) -> Event:
    """Return the lineage facet of a dataset."""
    return {
        "lineage": {
            "inputs": list(inputs),
            "fields": {name: {"inputs": of} for name, of in fields.items()},
        }
    }


def entries(*targets: Event) -> Event:
    """Return the lineage facet of a job."""
    return {"lineage": {"entries": list(targets)}}


def upstream(view: GraphView, urn: str) -> set[str]:
    return {node.urn for node in lineage(view, urn, direction="UPSTREAM").nodes} - {urn}


def downstream(view: GraphView, urn: str) -> set[str]:
    return {node.urn for node in lineage(view, urn, direction="DOWNSTREAM").nodes} - {urn}


def test_each_output_of_a_run_comes_from_its_listed_inputs(
    database: Database, view: GraphView
) -> None:
    outputs = [dataset("x", lineage_of(source("a"))), dataset("y", lineage_of(source("b")))]
    write_in_any_order(database, run_event("r", "COMPLETE", 1, inputs=["a", "b"], outputs=outputs))
    assert (upstream(view, ds("x")), upstream(view, ds("y"))) == (
        {job("j"), ds("a")},
        {job("j"), ds("b")},
    )
    assert downstream(view, ds("a")) == {job("j"), ds("x")}
    assert edges(database, "DERIVED_FROM") == {
        (ds("x"), "DERIVED_FROM", ds("a")),
        (ds("y"), "DERIVED_FROM", ds("b")),
        (version("x", "r"), "DERIVED_FROM", "source:db:a"),
        (version("y", "r"), "DERIVED_FROM", "source:db:b"),
    }
    assert upstream(view, version("x", "r")) == {run_of("r"), "source:db:a"}
    assert downstream(view, "source:db:a") == {run_of("r"), version("x", "r")}


def test_a_source_missing_from_the_inputs_was_read(database: Database, view: GraphView) -> None:
    output = dataset("x", lineage_of(source("a"), id=[source("b", field="id")]))
    write_in_any_order(database, run_event("r", "COMPLETE", 1, outputs=[output]))
    assert read_by(database, run_of("r")) == {"source:db:a", "source:db:b"}
    assert (column_urn("db", "b", "id"), "FEEDS", column_urn("db", "x", "id")) in edges(
        database, "FEEDS"
    )
    assert upstream(view, ds("x")) == {job("j"), ds("a"), ds("b")}


def test_an_empty_list_of_inputs_means_no_source(database: Database, view: GraphView) -> None:
    write_in_any_order(
        database,
        run_event("r", "COMPLETE", 1, inputs=["a"], outputs=[dataset("x", lineage_of()), "y"]),
    )
    assert upstream(view, ds("x")) == {job("j")}
    assert upstream(view, version("x", "r")) == {run_of("r")}
    assert upstream(view, ds("y")) == {job("j"), ds("a")}, "no lineage facet describes it"
    assert downstream(view, ds("a")) == {job("j"), ds("y")}


def test_the_lineage_facet_outweighs_the_columns_of_an_earlier_event(
    database: Database, view: GraphView
) -> None:
    by_columns = {"columnLineage": {"fields": {"id": {"inputFields": [source("a", field="id")]}}}}
    write_in_any_order(
        database,
        run_event("r", "START", 1, inputs=["a"], outputs=[dataset("x", by_columns)]),
        run_event("r", "COMPLETE", 2, inputs=["a"], outputs=[dataset("x", lineage_of())]),
    )
    assert upstream(view, version("x", "r")) == {run_of("r")}
    assert upstream(view, ds("x")) == {job("j")}


def test_the_facet_of_a_job_in_a_run_event_adds_edges_and_omitted_outputs_have_no_source(
    database: Database,
    view: GraphView,
) -> None:
    facet = entries(
        {**source("x"), "inputs": [source("a")]}, {**source("z"), "inputs": [source("c")]}
    )
    write_in_any_order(
        database,
        run_event("r", "COMPLETE", 1, inputs=["a", "b"], outputs=["x", "y"], job_facets=facet),
    )
    assert upstream(view, ds("x")) == {job("j"), ds("a")}
    assert upstream(view, ds("y")) == {job("j")}
    assert upstream(view, ds("z")) == {job("j"), ds("c")}
    assert read_by(database, run_of("r")) == {"source:db:a", "source:db:b", "source:db:c"}


def test_the_facet_of_a_run_equals_that_of_a_job(database: Database, view: GraphView) -> None:
    facet = entries({**source("x"), "inputs": [source("a")]})
    write_in_any_order(
        database, run_event("r", "COMPLETE", 1, inputs=["a", "b"], outputs=["x"], facets=facet)
    )
    assert upstream(view, ds("x")) == {job("j"), ds("a")}


def test_later_runs_add_to_earlier_ones(database: Database, view: GraphView) -> None:
    first, second = (entries({**source("x"), "inputs": [source(name)]}) for name in "ab")
    # Without this word the second write might have kept the content of the first.
    overwritten = dataset("x", {"lifecycleStateChange": {"lifecycleStateChange": "OVERWRITE"}})
    write_in_any_order(
        database,
        run_event("r1", "COMPLETE", 1, outputs=["x"], job_facets=first),
        run_event("r2", "COMPLETE", 2, inputs=["a"], outputs=[overwritten], job_facets=second),
    )
    assert upstream(view, ds("x")) == {job("j"), ds("a"), ds("b")}
    assert upstream(view, version("x", "r2")) == {run_of("r2"), "source:db:b"}


def test_the_newest_job_event_replaces_the_earlier_ones(
    database: Database, view: GraphView
) -> None:
    first = entries({**source("x"), "inputs": [source("a")]}, {**source("y"), "inputs": []})
    second = entries({**source("x"), "inputs": [source("b")]})
    write_in_any_order(database, job_event("j", 1, facets=first), job_event("j", 2, facets=second))
    assert current(database) == {(ds("b"), "FEEDS", job("j")), (job("j"), "PRODUCED", ds("x"))}
    assert upstream(view, ds("x")) == {job("j"), ds("b")}
    assert edge(database, ds("x"), "DERIVED_FROM", ds("a"))["declared"] is None
    write_in_any_order(
        database, job_event("j", 1, facets=first), job_event("j", 2, facets=entries())
    )
    assert current(database) == set(), "no entries are the saying that there are none"


def test_each_output_of_a_job_event_comes_from_its_listed_inputs(
    database: Database, view: GraphView
) -> None:
    outputs: list[str | Event] = [dataset("x", lineage_of(source("a"))), "y"]
    write_in_any_order(database, job_event("j", 1, inputs=["a", "b"], outputs=outputs))
    assert upstream(view, ds("x")) == {job("j"), ds("a")}
    assert upstream(view, ds("y")) == {job("j"), ds("a"), ds("b")}


def test_the_facet_of_a_dataset_event_needs_no_job(database: Database, view: GraphView) -> None:
    write_in_any_order(
        database,
        dataset_event("view", 1, lineage_of(source("a"), id=[source("a", field="key")])),
        dataset_event("view", 2, lineage_of(source("b"))),
    )
    assert upstream(view, ds("view")) == {ds("b")}
    assert downstream(view, ds("b")) == {ds("view")}
    assert edge(database, ds("a"), "FEEDS", ds("view"))["current"] is False
    assert (column_urn("db", "a", "key"), "FEEDS", column_urn("db", "view", "id")) in edges(
        database, "FEEDS"
    )


def test_a_dataset_event_may_name_the_producing_job(database: Database) -> None:
    write_in_any_order(
        database,
        dataset_event("x", 1, lineage_of(source_job("maker"))),
        dataset_event("x", 2, lineage_of()),
    )
    assert edge(database, job("maker"), "PRODUCED", ds("x"))["assertedByDataset"] is False


def test_a_job_feeds_another_without_a_dataset_between(database: Database, view: GraphView) -> None:
    into_me = entries({"type": "JOB", "inputs": [source_job("feeder")]})
    write_in_any_order(
        database,
        run_event("f", "COMPLETE", 0, job="feeder", inputs=["a"]),
        run_event("r", "COMPLETE", 1, outputs=[dataset("x")], job_facets=into_me),
    )
    assert edge(database, job("feeder"), "FEEDS", job("j"))["current"] is True
    assert {job("feeder"), ds("a")} <= upstream(view, job("j"))


def test_a_declared_feeder_disappears_with_the_declaration(database: Database) -> None:
    into_me = entries({"type": "JOB", "inputs": [source_job("feeder"), source("a")]})
    write_in_any_order(
        database, job_event("j", 1, facets=into_me), job_event("j", 2, facets=entries())
    )
    assert current(database) == set()
    assert edge(database, job("feeder"), "FEEDS", job("j"))["current"] is False


def test_a_feeder_with_a_run_feeds_the_run(database: Database, view: GraphView) -> None:
    into_me = entries({"type": "JOB", "inputs": [source_job("feeder", runId="f")]})
    write_in_any_order(database, run_event("r", "COMPLETE", 1, outputs=["x"], job_facets=into_me))
    assert (run_of("f"), "FEEDS", run_of("r")) in edges(database, "FEEDS")
    assert (run_of("f"), "RUN_OF", job("feeder")) in edges(database, "RUN_OF")
    assert run_of("f") in upstream(view, run_of("r"))


def test_a_dataset_may_come_directly_from_a_run_of_another_job(database: Database) -> None:
    output = dataset("x", lineage_of(source("a"), source_job("helper", runId="h")))
    write_in_any_order(database, run_event("r", "COMPLETE", 1, inputs=["a"], outputs=[output]))
    assert (job("helper"), "PRODUCED", ds("x")) in edges(database, "PRODUCED")
    assert (run_of("h"), "PRODUCED", version("x", "h")) in edges(database, "PRODUCED")


def test_an_edge_of_another_kind_between_the_same_jobs_is_independent(database: Database) -> None:
    into_me = entries({"type": "JOB", "inputs": [source_job("feeder")]})
    after = {"jobDependencies": {"upstream": [{"job": {"namespace": "etl", "name": "feeder"}}]}}
    write_in_any_order(
        database,
        run_event("r", "START", 1, facets=after),
        run_event("r", "COMPLETE", 2, outputs=["x"], job_facets=into_me),
    )
    assert edge(database, job("feeder"), "TRIGGERS", job("j"))["current"] is None
    assert edge(database, job("feeder"), "FEEDS", job("j"))["current"] is True


def test_an_aliased_output_is_written_although_the_job_is_unchanged(
    database: Database,
) -> None:
    """The last event to arrive is the second in time, so the job has earlier and later events."""
    write_in_any_order(
        database,
        run_event("r2", "COMPLETE", 5, outputs=["y"]),
        run_event(
            "r1",
            "COMPLETE",
            1,
            outputs=[dataset("x", {**lineage_of(source("a")), **symlinks("y")})],
        ),
        run_event("r3", "COMPLETE", 8, inputs=["b"], outputs=["z"]),
    )
    rows = database.ask(
        "MATCH (:Job)-[e:PRODUCED]->(:Dataset {urn: $urn}) RETURN e.explicit AS e", {"urn": ds("x")}
    )
    assert [row["e"] for row in rows] == [True, True]


def test_a_deleted_facet_ends_the_declaration(database: Database) -> None:
    write_in_any_order(
        database,
        dataset_event("view", 1, lineage_of(source("a"), source_job("maker"))),
        dataset_event("view", 2, deleted("lineage")),
        job_event("j", 1, facets=entries({**source("x"), "inputs": [source("a")]})),
        job_event("j", 2, facets=deleted("lineage")),
    )
    assert current(database) == set()


def test_a_deleted_facet_has_no_values(database: Database, view: GraphView) -> None:
    deleted_facet = {"lineage": {"_deleted": True, "inputs": []}}
    write_in_any_order(
        database, run_event("r", "COMPLETE", 1, inputs=["a"], outputs=[dataset("x", deleted_facet)])
    )
    assert upstream(view, ds("x")) == {job("j"), ds("a")}
    assert node(database, version("x", "r"))["explicit"] is None
