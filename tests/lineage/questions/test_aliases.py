"""Aliases of datasets: who declared each, since when, and through which name."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.lineage.questions.aliases import list_aliases
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from headwater.schema.facts import Name
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset_event, symlinks
from tests.run_builders import at, ds, write_events

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    by_hand = native.symlinks_event(
        {"namespace": "db", "name": "table"},
        same=[{"namespace": "db", "name": "view"}],
        event_time=at(9),
    )
    write_events(
        database,
        # `table` refers to `path` by facet; `view` is joined to `table` by hand, so to `path` too.
        [dataset_event("path", 0), dataset_event("table", 3, symlinks("path")), by_hand],
    )
    yield view
    empty(database)


def test_each_alias_names_its_declaration(history: GraphView) -> None:
    found = {alias.name.name: alias for alias in list_aliases(history)}
    canonical = {alias.dataset_urn for alias in found.values()}
    assert canonical == {ds("table")}
    assert found.keys() == {"path", "view"}
    declared = {name: (alias.declared_by, alias.since, alias.via) for name, alias in found.items()}
    assert declared == {
        "path": ("facet", datetime(2026, 1, 1, 0, 3, tzinfo=UTC), None),
        "view": ("manual", datetime(2026, 1, 1, 0, 9, tzinfo=UTC), None),
    }
    assert found["view"].dataset == Name("db", "table")


def test_aliases_are_read_in_pages_by_urn(history: GraphView) -> None:
    [first] = list_aliases(history, first=1)
    [second] = list_aliases(history, first=1, after=first.urn)
    assert (first.urn, second.urn) == (ds("path"), ds("view"))
    assert list_aliases(history, after=second.urn) == list_aliases(history, first=0) == []
    with pytest.raises(QueryError, match="first"):
        list_aliases(history, first=1_001)


def test_hidden_aliases_are_left_out(history: GraphView) -> None:
    assert list_aliases(history.visible_to(Visibility(("web",)))) == []
