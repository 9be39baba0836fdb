"""Changes of schemas that break a reader, and changes that nobody need hear of."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.health.findings.datasets.history import Citation, Producer, Schema
from headwater.health.findings.datasets.schema_drift import detect_schema_drift
from headwater.health.findings.models import Episode
from headwater.schema.drift import Fields
from tests.health.findings.datasets.histories import day, history, reader, with_schema

OLD: Fields = {"id": "int", "mail": "string", "note": "varchar(20)"}
MAIL = frozenset({"mail"})


def drift(new: Fields, *later: Fields, **more: Any) -> list[Episode]:
    schemas = [OLD, OLD, new, *later]
    versions = tuple(with_schema(number, one) for number, one in enumerate(schemas))
    return list(detect_schema_drift(history(versions=versions, **more), day(100)))


def without(name: str) -> Fields:
    return {key: value for key, value in OLD.items() if key != name}


def test_a_column_that_a_job_uses_vanished() -> None:
    [found] = drift(without("mail"), readers=(reader("letters", 0, 1, columns=MAIL),))
    assert (found.rule, found.key) == ("schema-drift", "artifact:db:orders:2")
    assert (found.first_seen, found.resolved_at) == (day(2), None)
    [column] = found.evidence["columns"]
    assert column == {
        "column": "mail",
        "before": "string",
        "after": None,
        "usedBy": ["job:etl:letters"],
    }


def test_it_ends_when_every_reader_succeeded_since() -> None:
    letters = reader("letters", 1, 3, 4, columns=MAIL)
    [found] = drift(without("mail"), readers=(letters, reader("all", 1)))
    assert found.resolved_at is None
    [found] = drift(without("mail"), readers=(letters, reader("all", 1, 5)))
    assert found.resolved_by == "run:all-5"


def test_it_ends_when_the_column_is_back() -> None:
    [found] = drift(without("mail"), without("mail"), OLD, readers=(reader("all", 1),))
    assert (found.last_seen, found.resolved_at) == (day(3), day(4))
    assert found.resolved_by == "artifact:db:orders:4"


@pytest.mark.parametrize(
    "new",
    [
        {**OLD, "more": "int"},
        {**OLD, "id": "bigint"},
        {**OLD, "id": "INT"},
        {**OLD, "note": "varchar(50)"},
        {**OLD, "id": None},
        {**OLD, "mail": "text"},
    ],
)
def test_benign_changes(new: Fields) -> None:
    assert drift(new, readers=(reader("all", 0, 1),)) == []


@pytest.mark.parametrize(
    ("name", "kind"), [("id", "smallint"), ("id", "string"), ("note", "varchar(5)")]
)
def test_a_type_that_cannot_hold_each_value(name: str, kind: str) -> None:
    [found] = drift({**OLD, name: kind}, readers=(reader("all", 0, 1),))
    assert found.evidence["columns"][0]["after"] == kind


def test_a_column_that_nobody_uses() -> None:
    assert drift(without("note"), readers=(reader("letters", 0, columns=MAIL),)) == []
    assert drift(without("note")) == []
    # A job that began to read later never used it, and the job that writes it changed it.
    assert drift(without("note"), readers=(reader("new", 3, first_seen=day(3)),)) == []
    load = Producer("job:etl:load", day(0))
    assert drift(without("note"), readers=(reader("load", 0),), producers=(load,)) == []


def test_a_renamed_column_is_gone_and_a_cited_one_is_used() -> None:
    renamed = {**without("mail"), "email": "string"}
    cited = Citation("answer:a", "mail", day(1))
    [found] = drift(renamed, citations=(cited,))
    assert found.evidence["columns"][0]["usedBy"] == ["answer:a"]
    newer = Citation("answer:b", "", day(3))
    [found] = drift(renamed, citations=(cited, newer))
    assert (found.resolved_at, found.resolved_by) == (day(3), "answer:b")


def test_a_structure_changes_by_its_fields() -> None:
    old: Fields = {"who": "struct<a:int>", "who.a": "int"}
    new: Fields = {"who": "struct<a:int,b:int>", "who.a": "int", "who.b": "int"}
    versions = (with_schema(0, old), with_schema(1, new))
    given = history(versions=versions, readers=(reader("all", 0),))
    assert list(detect_schema_drift(given, day(9))) == []


def schema(name: str, fields: Fields, first: int, last: int) -> Schema:
    return Schema(f"schema:{name}", fields, day(first), day(last))


def test_a_source_has_the_schemas_that_its_readers_saw() -> None:
    readers = (reader("clean", 0, 1),)
    old, new = schema("old", OLD, 0, 1), schema("new", without("mail"), 2, 3)
    [found] = detect_schema_drift(history(schemas=(new, old), readers=readers), day(9))
    assert (found.key, found.first_seen, found.resolved_at) == ("schema:new", day(2), None)
    back = schema("old", OLD, 0, 5)
    [found] = detect_schema_drift(history(schemas=(back, new), readers=readers), day(9))
    assert (found.resolved_at, found.resolved_by) == (day(3), "schema:old")
    in_turns = schema("new", without("mail"), 2, 6)
    given = history(schemas=(back, in_turns), readers=readers)
    assert list(detect_schema_drift(given, day(9))) == []
