"""Schemas are shared by hash; drift compares each version with the one before."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.schema.urns import column_urn
from tests.canonical import edges
from tests.event_builders import (
    dataset,
    dataset_event,
    deleted,
    node,
    run_event,
    schema,
    urns,
    write_in_any_order,
)
from tests.run_builders import Event, ds, version

pytestmark = pytest.mark.neo4j


def write(run_id: str, minute: int, state: str = "COMPLETE", **types: str) -> Event:
    return run_event(
        run_id,
        state,
        minute,
        job="load",
        outputs=[dataset("t", schema(**types) if types else None)],
    )


def drift(database: Database, run_id: str) -> list[str] | None:
    found: list[str] | None = node(database, version("t", run_id))["drift"]
    return found


def test_equal_schemas_of_several_datasets_are_one_node(database: Database) -> None:
    write_in_any_order(
        database,
        write("w1", 1, id="int"),
        write("w2", 2, id="int"),
        dataset_event("other", 3, schema(id="int")),
    )
    (shared,) = urns(database, "SchemaVersion")
    assert edges(database, "HAS_SCHEMA") == {
        (urn, "HAS_SCHEMA", shared)
        for urn in (version("t", "w1"), version("t", "w2"), ds("t"), ds("other"))
    }
    assert node(database, shared)["columns"] == ["id"]
    assert drift(database, "w2") is None


def test_another_order_or_type_is_another_schema(database: Database) -> None:
    write_in_any_order(
        database,
        dataset_event("t", 1, schema(a="int", b="int")),
        dataset_event("t", 2, schema(b="int", a="int")),
        dataset_event("t", 3, schema(a="int", b="long")),
    )
    assert len(urns(database, "SchemaVersion")) == 3


def test_drift_lists_added_dropped_and_retyped_columns(database: Database) -> None:
    write_in_any_order(
        database,
        write("w1", 1, a="int", b="int", c="int"),
        write("w2", 2, b="long", c="int", d="date"),
    )
    assert drift(database, "w1") is None
    assert drift(database, "w2") == ["dropped: a", "retyped: b from int to long", "added: d"]


def test_a_late_version_is_compared_in_its_place(database: Database) -> None:
    write_in_any_order(
        database,
        write("w1", 1, a="int"),
        write("w3", 3, a="int", b="int", c="int"),
        write("w2", 2, a="int", b="int"),
    )
    assert (drift(database, "w2"), drift(database, "w3")) == (["added: b"], ["added: c"])


def test_only_complete_versions_are_compared(database: Database) -> None:
    write_in_any_order(
        database,
        write("w1", 1, a="int"),
        write("bad", 2, "FAIL", a="int", x="int"),
        write("w2", 3, a="int", b="int"),
    )
    assert (drift(database, "bad"), drift(database, "w2")) == (None, ["added: b"])


def test_versions_without_a_schema_are_passed_over(database: Database) -> None:
    write_in_any_order(
        database, write("w1", 1, a="int"), write("w2", 2), write("w3", 3, a="int", b="int")
    )
    assert (drift(database, "w2"), drift(database, "w3")) == (None, ["added: b"])


def test_a_schema_after_the_end_is_that_of_the_version(database: Database) -> None:
    write_in_any_order(
        database,
        write("w1", 1, a="int"),
        write("w2", 2),
        write("w2", 1, "RUNNING", b="int"),
        write("w3", 3, b="int"),
    )
    assert drift(database, "w2") == ["dropped: a", "added: b"]
    assert drift(database, "w3") is None


def test_the_last_schema_of_a_run_is_that_of_its_version(database: Database) -> None:
    write_in_any_order(database, write("w", 1, "START", a="int"), write("w", 2, a="int", b="int"))
    (has,) = {
        target for source, _, target in edges(database, "HAS_SCHEMA") if source == version("t", "w")
    }
    assert node(database, has)["columns"] == ["a", "b"]
    assert (
        len({target for source, _, target in edges(database, "HAS_SCHEMA") if source == ds("t")})
        == 2
    )


def test_nested_fields_are_columns_by_their_path(database: Database) -> None:
    def nested(*inner: str) -> Event:
        fields = [{"name": name, "type": "string"} for name in inner]
        return {"schema": {"fields": [{"name": "who", "type": "struct", "fields": fields}]}}

    write_in_any_order(
        database,
        run_event("w1", "COMPLETE", 1, outputs=[dataset("t", nested("name"))]),
        run_event("w2", "COMPLETE", 2, outputs=[dataset("t", nested("name", "mail"))]),
    )
    assert node(database, ds("t"))["columns"] == ["who", "who.name", "who.mail"]
    assert drift(database, "w2") == ["added: who.mail"]
    assert node(database, column_urn("db", "t", "who.mail"))["current"] is True


def test_a_deleted_schema_leaves_no_columns_and_the_earlier_versions(database: Database) -> None:
    write_in_any_order(database, write("w", 1, a="int"), dataset_event("t", 2, deleted("schema")))
    assert node(database, ds("t"))["columns"] is None
    assert urns(database, "Column") == set()
    assert len(edges(database, "HAS_SCHEMA")) == 2


def test_a_version_that_failed_after_all_is_not_compared(database: Database) -> None:
    write_in_any_order(
        database,
        write("w1", 1, a="int"),
        write("w2", 2, a="int", b="int"),
        write("w3", 3, a="int", c="int"),
        write("w2", 2, "FAIL", a="int", b="int"),
    )
    assert (drift(database, "w2"), drift(database, "w3")) == (None, ["added: c"])
