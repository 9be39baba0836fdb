"""The owners of datasets and jobs, counted and listed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.lineage.questions.owners import Owner, nodes_of_owner, owners
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset_event, job_event
from tests.run_builders import Event, ds, job, write_events

pytestmark = pytest.mark.neo4j


def of(*names: str) -> Event:
    return {"ownership": {"owners": [{"name": name} for name in names]}}


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView, graph_driver: Driver) -> Iterator[GraphView]:
    del graph_driver
    empty(database)
    dropped = {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}}
    write_events(
        database,
        [
            dataset_event("a", 0, of("ann", "bob", "ann")),
            dataset_event("b", 0, of("ann")),
            dataset_event("c", 0),
            dataset_event("d", 0, of()),
            dataset_event("gone", 0, {**of("eve"), **dropped}),
            dataset_event("page", 0, of("web-team"), namespace="web"),
            job_event("load", 0, facets=of("bob")),
            job_event("build", 0),
        ],
    )
    yield view
    empty(database)


def test_owners_of_most_nodes_come_first(history: GraphView) -> None:
    found = owners(history)
    assert found.page.entries == [Owner("ann", 2, 0), Owner("bob", 1, 1), Owner("web-team", 1, 0)]
    assert (found.count, found.unowned_datasets, found.unowned_jobs) == (3, 2, 1)


def test_in_pages(history: GraphView) -> None:
    first = owners(history, first=2)
    assert ([one.name for one in first.page.entries], first.page.has_next) == (["ann", "bob"], True)
    second = owners(history, first=2, after=first.page.cursors[-1])
    assert ([one.name for one in second.page.entries], second.page.has_next) == (
        ["web-team"],
        False,
    )


def test_nodes_of_one_owner_and_nodes_without_owner(history: GraphView) -> None:
    assert [node.urn for node in nodes_of_owner(history, "ann").entries] == [ds("a"), ds("b")]
    assert [node.urn for node in nodes_of_owner(history, "bob").entries] == [ds("a"), job("load")]
    first = nodes_of_owner(history, "", first=2)
    assert ([node.urn for node in first.entries], first.has_next) == ([ds("c"), ds("d")], True)
    second = nodes_of_owner(history, "", first=2, after=first.cursors[-1])
    assert ([(node.kind, node.name) for node in second.entries], second.has_next) == (
        [("JOB", "build")],
        False,
    )
    assert nodes_of_owner(history, "eve").entries == nodes_of_owner(history, "nobody").entries == []


def test_only_visible_nodes_count(history: GraphView) -> None:
    found = owners(history.visible_to(Visibility(("web",))))
    assert (found.page.entries, found.unowned_datasets, found.unowned_jobs) == (
        [Owner("web-team", 1, 0)],
        0,
        0,
    )
    assert nodes_of_owner(history.visible_to(Visibility(("web",))), "ann").entries == []
    nothing = owners(history.visible_to(Visibility(("nowhere",))))
    assert (nothing.page.entries, nothing.count, nothing.unowned_datasets) == ([], 0, 0)


def test_bad_arguments(history: GraphView) -> None:
    for question in (
        lambda: owners(history, first=-1),
        lambda: nodes_of_owner(history, "ann", first=201),
    ):
        with pytest.raises(QueryError, match="first"):
            question()
    with pytest.raises(QueryError, match="after"):
        nodes_of_owner(history, "ann", after="?")
