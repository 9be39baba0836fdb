"""Two names of one dataset give the same graph, whenever the symlink arrives."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from headwater.schema.urns import column_urn, source_urn
from tests.canonical import canonical, edges, empty
from tests.event_builders import (
    by_hand,
    columns,
    current,
    dataset,
    dataset_event,
    deleted,
    edge,
    job_event,
    node,
    read_by,
    run_event,
    schema,
    source,
    symlinks,
    urns,
    write_batch,
    write_in_any_order,
)
from tests.lineage_requests import lineage
from tests.run_builders import Event, answer, at, ds, job, run_of, version

pytestmark = pytest.mark.neo4j

# `path` is the location of the table, `table` its name in the catalog.
LINKED = dataset_event("path", 30, symlinks("table"))
TYPES = (
    "FEEDS",
    "PRODUCED",
    "CITED_BY",
    "DERIVED_FROM",
    "HAS_COLUMN",
    "VERSION_OF",
    "HAS_SCHEMA",
    "RUN_OF",
)


def story() -> list[Event]:
    """Return a run history with every kind of event about a table, under either name."""
    made = dataset("table", {**schema(id="int"), **columns(id=[("raw", "id")])})
    return [
        run_event("w1", "COMPLETE", 1, job="load", inputs=["raw"], outputs=[made]),
        run_event(
            "w2",
            "COMPLETE",
            5,
            job="fix",
            inputs=["raw"],
            outputs=[dataset("path", schema(id="string"))],
        ),
        run_event("r1", "COMPLETE", 3, job="report", inputs=["table"], outputs=["mart"]),
        run_event("r2", "COMPLETE", 7, job="report", inputs=["path"], outputs=["mart"]),
        job_event(
            "planned", 8, inputs=["table"], outputs=[dataset("plan", columns(id=[("table", "id")]))]
        ),
        dataset_event("view", 9, {"lineage": {"inputs": [source("table", field="id")]}}),
        *answer("sum", "table", {"namespace": "db", "name": "path", "field": "id"}, minute=10),
        *answer("pin", {"namespace": "db", "name": "table", "runId": "w2"}, minute=11),
        native.source_event("path", namespace="db", origin="CRM", event_time=at(2)),
    ]


def test_both_names_are_one_dataset_with_one_run_history(database: Database) -> None:
    write_in_any_order(database, *story(), LINKED)
    assert {"dataset:db:path", "dataset:db:table"} & urns(database, "Dataset") == {ds("path")}
    assert edges(database, "SYMLINK_OF") == {(ds("table"), "SYMLINK_OF", ds("path"))}
    assert read_by(database, run_of("r1")) == {version("path", "w1")}
    assert read_by(database, run_of("r2")) == {version("path", "w2")}
    assert read_by(database, "answer:sum") == {
        version("path", "w2"),
        column_urn("db", "path", "id"),
    }
    assert read_by(database, "answer:pin") == {version("path", "w2")}
    assert {name for name in urns(database, "Artifact") if "table" in name} == set()
    assert source_urn("db", "path") in urns(database, "Source")
    assert {
        (job("load"), "PRODUCED", ds("path")),
        (job("fix"), "PRODUCED", ds("path")),
        (ds("path"), "FEEDS", job("report")),
        (ds("path"), "FEEDS", job("planned")),
        (ds("path"), "FEEDS", ds("view")),
    } <= current(database)
    assert (column_urn("db", "path", "id"), "FEEDS", column_urn("db", "plan", "id")) in edges(
        database, "FEEDS"
    )
    assert (ds("plan"), "DERIVED_FROM", ds("path")) in edges(database, "DERIVED_FROM")
    assert (ds("path"), "DERIVED_FROM", ds("raw")) in edges(database, "DERIVED_FROM")
    drifted = node(database, version("path", "w2"))["drift"]
    assert drifted == ["retyped: id from int to string"], "two names have one row of schemas"


def test_a_late_symlink_and_an_early_one_make_one_graph(database: Database) -> None:
    write_in_any_order(database, LINKED, *story())
    early = canonical(database)
    write_in_any_order(database, *story(), LINKED)
    assert canonical(database) == early


def test_split_names_leave_no_trace_of_the_merge(database: Database) -> None:
    unlinked = dataset_event("path", 31, deleted("symlinks"))
    write_in_any_order(database, *story(), LINKED, unlinked)
    assert edges(database, "SYMLINK_OF") == set()
    assert read_by(database, run_of("r1")) == {version("table", "w1")}
    assert read_by(database, run_of("r2")) == {version("path", "w2")}
    assert (ds("table"), "FEEDS", ds("view")) in edges(database, "FEEDS")
    parted = edges(database, *TYPES)
    write_in_any_order(database, *story(), dataset_event("path", 30), dataset_event("path", 31))
    assert edges(database, *TYPES) == parted


def test_a_deleted_symlink_stays_deleted_when_other_symlinks_arrive(database: Database) -> None:
    write_in_any_order(
        database,
        dataset_event("path", 1, symlinks("table")),
        dataset_event("path", 2, deleted("symlinks")),
        dataset_event("path", 3, symlinks("other")),
        dataset_event("table", 4),
    )
    assert edges(database, "SYMLINK_OF") == {(ds("other"), "SYMLINK_OF", ds("path"))}


def test_a_symlink_repeated_after_its_deletion_holds_again(database: Database) -> None:
    decisions = [(1, symlinks("table")), (2, deleted("symlinks")), (3, symlinks("table"))]
    write_in_any_order(
        database, *(dataset_event("path", minute, facets) for minute, facets in decisions)
    )
    assert edges(database, "SYMLINK_OF") == {(ds("table"), "SYMLINK_OF", ds("path"))}


def test_chained_symlinks_are_one_dataset(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("w", "COMPLETE", 1, outputs=["c"]),
        dataset_event("a", 2, symlinks("b")),
        dataset_event("b", 3, symlinks("c")),
        run_event("r", "COMPLETE", 4, job="report", inputs=["a"]),
    )
    assert edges(database, "SYMLINK_OF") == {
        (ds("b"), "SYMLINK_OF", ds("a")),
        (ds("c"), "SYMLINK_OF", ds("a")),
    }
    assert read_by(database, run_of("r")) == {version("a", "w")}


def test_deleting_the_middle_name_of_a_chain_splits_the_others(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("w", "COMPLETE", 1, outputs=["c"]),
        dataset_event("a", 2, symlinks("b")),
        dataset_event("b", 3, symlinks("c")),
        run_event("r", "COMPLETE", 4, job="report", inputs=["c", "a"]),
        dataset_event("b", 5, deleted("symlinks")),
    )
    assert edges(database, "SYMLINK_OF") == {(ds("b"), "SYMLINK_OF", ds("a"))}
    assert read_by(database, run_of("r")) == {version("c", "w"), source_urn("db", "a")}


def test_a_decision_by_hand_outweighs_every_facet(database: Database) -> None:
    write_in_any_order(database, *story()[:4], by_hand("path", same="table"))
    assert read_by(database, run_of("r1")) == {version("path", "w1")}
    write_in_any_order(database, *story()[:4], LINKED, by_hand("table", 20, apart="path"))
    assert edges(database, "SYMLINK_OF") == set()
    assert read_by(database, run_of("r1")) == {version("table", "w1")}


def test_the_newest_of_two_decisions_counts(database: Database) -> None:
    write_in_any_order(
        database, by_hand("path", 3, same="table"), by_hand("table", 2, apart="path")
    )
    assert len(edges(database, "SYMLINK_OF")) == 1
    write_in_any_order(
        database, by_hand("path", 2, same="table"), by_hand("table", 3, apart="path")
    )
    assert edges(database, "SYMLINK_OF") == set()


def test_equal_names_in_two_namespaces_are_two_datasets(database: Database) -> None:
    write_in_any_order(
        database,
        dataset_event("path", 1, symlinks("t", namespace="one")),
        run_event("r", "COMPLETE", 2, inputs=[dataset("t", namespace="two")]),
    )
    assert "dataset:two:t" in urns(database, "Dataset")
    assert {target for _, _, target in edges(database, "SYMLINK_OF")} == {ds("path")}


def test_a_declaration_that_drops_an_aliased_name_is_applied(
    database: Database,
) -> None:
    write_in_any_order(
        database,
        dataset_event("path", 0, symlinks("table")),
        job_event("planned", 1, inputs=["table", "raw"], outputs=["plan"]),
        job_event("planned", 3, inputs=["raw"], outputs=["plan"]),
        dataset_event("view", 1, {"lineage": {"inputs": [source("table")]}}),
        dataset_event("view", 3, {"lineage": {"inputs": [source("raw")]}}),
    )
    assert current(database) == {
        (ds("raw"), "FEEDS", job("planned")),
        (job("planned"), "PRODUCED", ds("plan")),
        (ds("raw"), "FEEDS", ds("view")),
    }


def test_a_declaration_in_the_batch_of_its_symlink_is_applied(database: Database) -> None:
    write_in_any_order(database, job_event("planned", 1, inputs=["table"], outputs=["plan"]))
    write_batch(database, [job_event("planned", 3, inputs=["raw"], outputs=["plan"]), LINKED])
    batch = canonical(database)
    write_in_any_order(
        database,
        job_event("planned", 1, inputs=["table"], outputs=["plan"]),
        job_event("planned", 3, inputs=["raw"], outputs=["plan"]),
        LINKED,
    )
    assert canonical(database) == batch


def test_an_edge_between_two_renamed_datasets_is_not_lost(
    database: Database,
) -> None:
    write_in_any_order(
        database,
        run_event(
            "w", "COMPLETE", 1, inputs=["in"], outputs=[dataset("out", columns(id=[("in", "id")]))]
        ),
        dataset_event("view", 1, {"lineage": {"inputs": [source("in", field="id")]}}),
        dataset_event("in-path", 2, symlinks("in")),
        dataset_event("out-path", 3, symlinks("out")),
        dataset_event("view-path", 4, symlinks("view")),
    )
    assert (ds("out-path"), "DERIVED_FROM", ds("in-path")) in edges(database, "DERIVED_FROM")
    assert {
        (column_urn("db", "in-path", "id"), "FEEDS", column_urn("db", "out-path", "id")),
        (ds("in-path"), "FEEDS", ds("view-path")),
        (column_urn("db", "in-path", "id"), "FEEDS", ds("view-path")),
    } <= edges(database, "FEEDS")


def test_a_lineage_facet_under_one_name_applies_to_the_other(
    database: Database, view: GraphView
) -> None:
    upstream_facets = dataset("table", {"lineage": {"inputs": [source("raw")]}})
    write_in_any_order(
        database,
        run_event(
            "w", "COMPLETE", 1, job="load", inputs=["raw", "noise"], outputs=[upstream_facets]
        ),
        job_event("load", 2, inputs=["raw", "noise"], outputs=["path"]),
        LINKED,
    )
    found = {node.urn for node in lineage(view, ds("path"), direction="UPSTREAM").nodes}
    assert found == {ds("path"), job("load"), ds("raw")}


def test_a_drop_under_one_name_drops_the_dataset(database: Database) -> None:
    dropped = dataset("table", {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}})
    write_in_any_order(database, run_event("d", "COMPLETE", 1, outputs=[dropped]), LINKED)
    assert edges(database, "DROPPED") == {(run_of("d"), "DROPPED", ds("path"))}
    assert node(database, ds("path"))["droppedAt"] is not None


def test_a_version_requested_by_one_name_is_found_by_the_other(database: Database) -> None:
    minute_seven = {"version": {"datasetVersion": "7"}}
    write_in_any_order(
        database,
        run_event("w7", "COMPLETE", 1, job="load", outputs=[dataset("path", minute_seven)]),
        run_event(
            "w8",
            "COMPLETE",
            2,
            job="load",
            outputs=[dataset("path", {"version": {"datasetVersion": "8"}})],
        ),
        run_event("r", "COMPLETE", 3, job="report", inputs=[dataset("table", minute_seven)]),
        LINKED,
    )
    assert read_by(database, run_of("r")) == {version("path", "w7")}
    assert (
        edge(database, version("path", "w7"), "FEEDS", run_of("r"))["requestedVersion"]
        == f"{ds('path')}@7"
    )


def test_a_refuted_version_disappears_when_its_source_is_renamed_in_the_same_batch(
    database: Database,
) -> None:
    """The run seems successful at first. The event that joins the names of its source refutes that,
    and so its version.
    """
    events = [
        run_event("w", "START", 9),
        run_event("w", "COMPLETE", 1, inputs=["table"], outputs=["mart"]),
        run_event("w", "FAIL", 1, inputs=[dataset("path", symlinks("table"))], outputs=["mart"]),
    ]
    empty(database)
    write_batch(database, events[:1])
    write_batch(database, events[1:2])
    earlier = {urn for urn in urns(database, "Artifact") if urn != version("mart", "w")}
    assert len(earlier) == 1
    write_batch(database, events[2:])
    assert urns(database, "Artifact") == {version("mart", "w")}
    apart = canonical(database)
    empty(database)
    write_batch(database, events)
    assert canonical(database) == apart
