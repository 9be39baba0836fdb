"""A name that no event uses leaves and joins a dataset without a rewrite of the dataset's runs.

`detaches` is True if the write deleted the edges and versions of a dataset to write them again.
"""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.write.cache import WriteCache
from headwater.schema import headwater_facets as native
from headwater.schema.urns import source_urn
from tests.canonical import canonical, edges, empty
from tests.event_builders import (
    by_hand,
    columns,
    dataset,
    dataset_event,
    deleted,
    job_event,
    node,
    run_event,
    schema,
    source,
    symlinks,
    urns,
    write_batch,
    write_in_any_order,
)
from tests.run_builders import Event, answer, at, ds

pytestmark = pytest.mark.neo4j

LINKED = dataset_event("path", 30, symlinks("table"))
UNLINKED = dataset_event("path", 31, deleted("symlinks"))


def runs(count: int = 3, name: str = "path") -> list[Event]:
    return [
        run_event(f"r{number}", "COMPLETE", number, inputs=["raw"], outputs=[name])
        for number in range(count)
    ]


def detaches(database: Database, statements: list[str], before: list[Event], last: Event) -> bool:
    """Write `last` after the others, and compare the graph with that of one batch."""
    empty(database)
    cache = WriteCache()
    for event in before:
        write_batch(database, [event], cache, defer=True)
    statements.clear()
    write_batch(database, [last], cache)
    is_detached = "write/aliases/delete_versions" in statements
    graph = canonical(database)
    empty(database)
    write_batch(database, [*before, last])
    assert canonical(database) == graph
    return is_detached


@pytest.mark.parametrize(
    ("before", "last"),
    [
        ([LINKED], UNLINKED),
        ([LINKED], by_hand("path", 31, apart="table")),
        ([LINKED], by_hand("table", 31, apart="path")),
        ([by_hand("path", 30, same="table")], by_hand("table", 31, apart="path")),
        ([by_hand("table", 30, same="path")], by_hand("path", 31, apart="table")),
        # Three names: both others leave, one of them leaves, and two leave together.
        ([dataset_event("path", 30, symlinks("table", "view"))], UNLINKED),
        (
            [dataset_event("path", 30, symlinks("table", "view"))],
            by_hand("view", 31, apart="path"),
        ),
        ([LINKED, dataset_event("table", 30, symlinks("view"))], UNLINKED),
    ],
)
def test_an_unused_name_leaves_without_a_rewrite(
    database: Database, statements: list[str], before: list[Event], last: Event
) -> None:
    assert not detaches(database, statements, [*runs(), *before], last)
    # One name stays in use: the other one.
    write_in_any_order(database, *runs(), *before, last)
    assert edges(database, "VERSION_OF") >= {
        (f"artifact:db:path:r{number}", "VERSION_OF", ds("path")) for number in range(3)
    }


def test_an_unused_name_joins_without_a_rewrite(database: Database) -> None:
    before = [*runs(), LINKED, UNLINKED]
    for last in (dataset_event("path", 32, symlinks("table")), by_hand("table", 32, same="path")):
        empty(database)
        for event in before:
            write_batch(database, [event])
        versions = database.ask("MATCH (a:Artifact) RETURN elementId(a) AS id ORDER BY id", {})
        write_batch(database, [last])
        assert versions == database.ask(
            "MATCH (a:Artifact) RETURN elementId(a) AS id ORDER BY id", {}
        )
        assert edges(database, "SYMLINK_OF") == {(ds("table"), "SYMLINK_OF", ds("path"))}
        write_in_any_order(database, *before, last)


def test_an_unused_name_moves_to_another_dataset(database: Database, statements: list[str]) -> None:
    before = [*runs(), LINKED, dataset_event("lake", 35)]
    moved = by_hand("table", 41, apart="path", same="lake")
    assert not detaches(database, statements, before, moved)
    write_in_any_order(database, *before, moved)
    assert edges(database, "SYMLINK_OF") == {(ds("table"), "SYMLINK_OF", ds("lake"))}


def test_the_cost_does_not_depend_on_the_number_of_runs(
    database: Database, statements: list[str]
) -> None:
    counts = []
    for count in (2, 12):
        assert not detaches(database, statements, [*runs(count), LINKED], UNLINKED)
        empty(database)
        for event in (*runs(count), LINKED):
            write_batch(database, [event])
        statements.clear()
        write_batch(database, [UNLINKED])
        counts.append(sorted(statements))
    assert counts[0] == counts[1]
    assert len(counts[0]) < 12


def test_what_only_the_name_reported_leaves_with_it(
    database: Database, statements: list[str]
) -> None:
    """The schema, the type, the owner and the source of a name that no run uses."""
    described = dataset_event(
        "table",
        20,
        {
            **schema(id="int", name="string"),
            "datasetType": {"datasetType": "MODEL"},
            "ownership": {"owners": [{"name": "team"}]},
        },
    )
    own = dataset_event("path", 10, schema(id="bigint"))
    captured = native.source_event("table", namespace="db", origin="CRM", event_time=at(21))
    before = [*runs(), own, described, captured, LINKED]
    assert not detaches(database, statements, before, UNLINKED)
    write_in_any_order(database, *before, UNLINKED)
    assert node(database, ds("path"))["owners"] is None
    assert node(database, ds("table"))["owners"] == ["team"]
    assert urns(database, "Model") == {ds("table")}
    assert {source for source, _, _ in edges(database, "HAS_SCHEMA")} >= {ds("path"), ds("table")}
    path_schemas = [end for start, _, end in edges(database, "HAS_SCHEMA") if start == ds("path")]
    assert len(path_schemas) == 1
    assert source_urn("db", "path") not in urns(database, "Source")


DROPPED = dataset("table", {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}})
VERSIONED = {"headwater_artifact": {"runId": "copied", "createdAt": at(4)}}


@pytest.mark.parametrize(
    "use",
    [
        [run_event("w", "COMPLETE", 5, outputs=["table"])],
        [run_event("r", "COMPLETE", 5, inputs=["table"])],
        [run_event("d", "COMPLETE", 5, outputs=[DROPPED])],
        [job_event("planned", 5, inputs=["table"], outputs=["plan"])],
        [job_event("planned", 5, outputs=["table"])],
        [dataset_event("view", 5, {"lineage": {"inputs": [source("table")]}})],
        [dataset_event("table", 5, {"lineage": {"inputs": [source("raw")]}})],
        [dataset_event("view", 5, columns(id=[("table", "id")]))],
        [run_event("c", "COMPLETE", 5, outputs=[dataset("mart", columns(id=[("table", "id")]))])],
        answer("sum", "table", minute=5),
        answer("sum", {"namespace": "db", "name": "table", "field": "id"}, minute=5),
        answer("pin", {"namespace": "db", "name": "table", "runId": "r1"}, minute=5),
        [dataset_event("table", 5, {native.ARTIFACT_FACET: {"runId": "copied"}})],
    ],
)
def test_a_name_in_use_takes_its_edges_and_versions_with_it(
    database: Database, statements: list[str], use: list[Event]
) -> None:
    assert detaches(database, statements, [*runs(), *use, LINKED], UNLINKED)
    write_in_any_order(database, *runs(), *use, LINKED, UNLINKED)
    split = edges(database, "FEEDS", "PRODUCED", "CITED_BY", "DROPPED", "VERSION_OF", "HAS_COLUMN")
    write_in_any_order(database, *runs(), *use)
    whole = edges(database, "FEEDS", "PRODUCED", "CITED_BY", "DROPPED", "VERSION_OF", "HAS_COLUMN")
    assert split == whole
