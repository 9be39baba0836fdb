"""Assets by id, by urn and by name; ambiguous and hidden names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import AmbiguousError, NotFoundError
from headwater.lineage.questions.assets import (
    asset_id,
    assets_by_name,
    find_asset,
    registered_urn,
    resolve_upstream,
)
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset_event
from tests.run_builders import ds, job, run, write_events

OWN, OTHER = "dataset:default:t", "dataset:db:t"


def test_an_upstream_name_means_the_own_namespace_first() -> None:
    assert registered_urn("t") == OWN
    assert resolve_upstream("t", {OWN: True, OTHER: True}, "default") == OWN
    assert resolve_upstream("t", {OTHER: True}, "default") == OTHER
    assert resolve_upstream("t", {"job:etl:t": True}, "default") == OWN
    assert resolve_upstream("t", {OTHER: False}, "default") == OWN


def test_two_namesakes_elsewhere_are_ambiguous() -> None:
    with pytest.raises(AmbiguousError, match="2 assets have the name 't'") as refusal:
        resolve_upstream("t", {OTHER: True, "dataset:web:t": True}, "default")
    assert refusal.value.status == 409


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    write_events(
        database,
        run("r", "load", ["a"], ["b"]),
        [dataset_event("a", 5), dataset_event("a", 5, namespace="web")],
    )
    yield view
    empty(database)


@pytest.mark.neo4j
def test_an_asset_is_found_by_id_urn_and_name(history: GraphView) -> None:
    for reference in (asset_id(ds("b")), ds("b"), "b"):
        assert find_asset(history, reference) == ds("b")
    assert find_asset(history, "load") == job("load")
    assert find_asset(history, "dataset:web:a") == "dataset:web:a"


@pytest.mark.neo4j
def test_an_unclear_or_unknown_asset_is_refused(history: GraphView) -> None:
    with pytest.raises(AmbiguousError):
        find_asset(history, "a")
    for reference in ("missing", ds("missing"), asset_id(ds("missing")), "dataset:no parts"):
        with pytest.raises(NotFoundError, match="there is no asset"):
            find_asset(history, reference)


@pytest.mark.neo4j
def test_a_hidden_asset_is_as_good_as_missing(history: GraphView) -> None:
    web = history.visible_to(Visibility(("web",)))
    assert find_asset(web, "a") == "dataset:web:a"
    assert assets_by_name(web, ["a", "b"]) == {"a": {"dataset:web:a": True}, "b": {}}
    for reference in (asset_id(ds("b")), ds("b"), "b"):
        with pytest.raises(NotFoundError):
            find_asset(web, reference)
