"""Lifecycle changes of datasets: drop, rename, truncate, alter, overwrite, create."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from tests.canonical import edges
from tests.event_builders import (
    dataset,
    dataset_event,
    node,
    read_by,
    run_event,
    symlinks,
    urns,
    write_in_any_order,
)
from tests.lineage_requests import lineage
from tests.run_builders import Event, ds, job, run_of, version

pytestmark = pytest.mark.neo4j


def change(kind: str, previous: str | None = None) -> Event:
    was = {"previousIdentifier": {"namespace": "db", "name": previous}} if previous else {}
    return {"lifecycleStateChange": {"lifecycleStateChange": kind, **was}}


def reached(view: GraphView, urn: str, direction: str) -> set[str]:
    return {node.urn for node in lineage(view, urn, direction=direction).nodes} - {urn}


def test_a_drop_produces_no_version(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("w", "COMPLETE", 1, job="load", outputs=["t"]),
        run_event("d", "START", 3, job="drop", outputs=[dataset("t", change("DROP"))]),
        run_event("d", "COMPLETE", 4, job="drop", outputs=[dataset("t", change("DROP"))]),
        run_event("r", "START", 5, job="report", inputs=["t"]),
    )
    assert edges(database, "DROPPED") == {(run_of("d"), "DROPPED", ds("t"))}
    assert urns(database, "Artifact") == {version("t", "w")}
    assert (job("drop"), "PRODUCED", ds("t")) not in edges(database, "PRODUCED")
    assert read_by(database, run_of("r")) == {version("t", "w")}
    dropped = node(database, ds("t"))
    assert (dropped["lifecycle"], dropped["droppedAt"].minute) == ("DROP", 4)


def test_a_recreated_dataset_is_not_dropped(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("d", "COMPLETE", 1, job="drop", outputs=[dataset("t", change("DROP"))]),
        run_event("c", "COMPLETE", 2, job="make", outputs=[dataset("t", change("CREATE"))]),
    )
    assert (node(database, ds("t"))["lifecycle"], node(database, ds("t"))["droppedAt"]) == (
        "CREATE",
        None,
    )
    assert node(database, version("t", "c"))["lifecycle"] == "CREATE"


def test_one_run_may_drop_and_create_a_table(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("b", "START", 1, outputs=[dataset("t", change("DROP"))]),
        run_event("b", "COMPLETE", 2, outputs=[dataset("t", change("CREATE"))]),
    )
    assert edges(database, "DROPPED") == {(run_of("b"), "DROPPED", ds("t"))}
    assert urns(database, "Artifact") == {version("t", "b")}


@pytest.mark.parametrize("kind", ["ALTER", "CREATE", "OVERWRITE", "TRUNCATE", "overwrite"])
def test_every_other_change_makes_a_version_with_that_change(database: Database, kind: str) -> None:
    write_in_any_order(
        database,
        run_event("w", "COMPLETE", 1, job="load", outputs=["t"]),
        run_event("c", "COMPLETE", 2, job="change", outputs=[dataset("t", change(kind))]),
        run_event("r", "START", 3, job="report", inputs=["t"]),
    )
    assert (
        node(database, version("t", "c"))["lifecycle"]
        == node(database, ds("t"))["lifecycle"]
        == kind.upper()
    )
    assert node(database, version("t", "w"))["lifecycle"] is None
    assert read_by(database, run_of("r")) == {version("t", "c")}
    assert node(database, ds("t"))["droppedAt"] is None


def test_a_rename_by_a_run_keeps_the_lineage_of_the_old_name(
    database: Database,
    view: GraphView,
) -> None:
    write_in_any_order(
        database,
        run_event("w", "COMPLETE", 1, job="load", inputs=["raw"], outputs=["old"]),
        run_event(
            "n", "COMPLETE", 3, job="rename", outputs=[dataset("new", change("RENAME", "old"))]
        ),
        run_event("r", "COMPLETE", 5, job="report", inputs=["new"], outputs=["mart"]),
    )
    assert {ds("old"), ds("raw"), job("load")} <= reached(view, ds("new"), "UPSTREAM")
    assert {ds("new"), ds("mart")} <= reached(view, ds("old"), "DOWNSTREAM")
    assert read_by(database, run_of("n")) == {version("old", "w")}
    assert version("old", "w") in reached(view, version("mart", "r"), "UPSTREAM")


def test_a_rename_by_a_run_with_column_lineage_keeps_the_old_name(
    database: Database,
    view: GraphView,
) -> None:
    lineage_of_columns = {
        "columnLineage": {"fields": {"a": {"inputFields": [_field("other", "a")]}}}
    }
    renamed = dataset("new", {**change("RENAME", "old"), **lineage_of_columns})
    write_in_any_order(
        database, run_event("n", "COMPLETE", 3, job="rename", inputs=["other"], outputs=[renamed])
    )
    assert reached(view, ds("new"), "UPSTREAM") == {
        ds("old"),
        ds("other"),
        job("rename"),
    }


def test_after_a_rename_without_a_run_the_old_name_always_feeds_the_new(
    database: Database, view: GraphView
) -> None:
    declared = {"lineage": {"inputs": [{**_field("feed", "id"), "type": "DATASET"}]}}
    write_in_any_order(
        database,
        run_event("w", "COMPLETE", 1, job="load", inputs=["raw"], outputs=["old"]),
        dataset_event(
            "new", 3, {**change("RENAME", "old"), "lineage": {"inputs": [{**_field("old", "id")}]}}
        ),
        dataset_event("new", 5, declared),
    )
    assert reached(view, ds("new"), "UPSTREAM") == {
        ds("old"),
        job("load"),
        ds("raw"),
        ds("feed"),
    }
    assert ds("new") in reached(view, ds("raw"), "DOWNSTREAM")


def test_a_rename_to_the_same_name_is_ignored(database: Database) -> None:
    write_in_any_order(
        database,
        run_event("n", "COMPLETE", 3, outputs=[dataset("t", change("RENAME", "t"))]),
        dataset_event("u", 3, change("RENAME", "u")),
    )
    assert edges(database, "FEEDS") == set()


def test_the_invented_path_of_a_missing_table_is_not_merged_with_the_real_one(
    database: Database,
) -> None:
    """Spark invents a path for a table that it does not find, and adds the name of the table as a
    symlink.
    """
    real = dataset("/lake/shop/t", symlinks("shop.t", namespace="catalog"), namespace="file")
    phantom = dataset(
        "/spark-warehouse/t", {**symlinks("shop.t", namespace="catalog"), **change("DROP")}
    )
    elsewhere = dataset("/other/t", symlinks("shop.t", namespace="other-catalog"), namespace="file")
    write_in_any_order(
        database,
        run_event("d", "COMPLETE", 1, job="drop", outputs=[phantom]),
        run_event("w", "COMPLETE", 2, job="load", outputs=[real]),
        run_event("x", "COMPLETE", 3, job="other", outputs=[elsewhere]),
    )
    expected = {
        "dataset:file:/lake/shop/t",
        "dataset:db:/spark-warehouse/t",
        "dataset:file:/other/t",
    }
    assert urns(database, "Dataset") == expected
    assert edges(database, "SYMLINK_OF") == {
        ("dataset:catalog:shop.t", "SYMLINK_OF", "dataset:file:/lake/shop/t"),
        ("dataset:other-catalog:shop.t", "SYMLINK_OF", "dataset:file:/other/t"),
    }
    assert node(database, "dataset:file:/lake/shop/t")["droppedAt"] is None


def _field(name: str, field: str) -> Event:
    return {"namespace": "db", "name": name, "field": field}
