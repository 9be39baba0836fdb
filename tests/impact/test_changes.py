"""Changes as JSON: read, written, refused with the field and the expected form."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from headwater.errors import QueryError
from headwater.impact.changes import (
    CHANGES,
    ColumnAdd,
    ColumnDrop,
    ColumnRename,
    ColumnTypeChange,
    JobDelete,
    SemanticsChange,
    parse_change,
    parse_changes,
)

ORDERS = "dataset:db:orders"


def test_the_changes_of_the_seed_are_read() -> None:
    body = [
        {"type": "column_rename", "from": "order_total", "to": "total_amount"},
        {"type": "column_drop", "column": "legacy_discount_code"},
    ]
    assert parse_changes(body, ORDERS) == [
        ColumnRename(urn=ORDERS, column="order_total", to="total_amount"),
        ColumnDrop(urn=ORDERS, column="legacy_discount_code"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"type": "column_rename", "urn": ORDERS, "from": "a", "to": "b"},
        {"type": "column_drop", "urn": ORDERS, "column": "a"},
        {"type": "column_type_change", "urn": ORDERS, "column": "a", "to": "int"},
        {"type": "column_type_change", "urn": ORDERS, "column": "a", "from": "string", "to": "int"},
        {"type": "column_add", "urn": ORDERS, "column": "a", "nullable": False},
        {"type": "table_drop", "urn": ORDERS},
        {"type": "table_rename", "urn": ORDERS, "to": "orders_v2"},
        {"type": "job_delete", "urn": "job:etl:load"},
        {"type": "semantics_change", "urn": ORDERS, "description": "net"},
    ],
)
def test_json_there_and_back(body: dict[str, Any]) -> None:
    assert msgspec.to_builtins(parse_change(body)) == body


def test_a_missing_field_has_its_default() -> None:
    assert parse_change({"type": "column_add", "column": "a"}, ORDERS) == ColumnAdd(
        urn=ORDERS, column="a"
    )
    changed = parse_change(
        {"type": "column_type_change", "column": "a", "from": None, "to": "int"}, ORDERS
    )
    assert changed == ColumnTypeChange(urn=ORDERS, column="a", to="int", before=None)
    assert parse_change({"type": "semantics_change"}, ORDERS) == SemanticsChange(urn=ORDERS)
    assert parse_change({"type": "job_delete"}, "job:etl:load") == JobDelete(urn="job:etl:load")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "type None is not a type of change"),
        ({"type": "column_move"}, "type 'column_move' is not a type of change"),
        ({"type": ["column_drop"]}, "is not a type of change"),
        ({"type": "column_rename", "from": "a"}, "column_rename: 'to' is missing"),
        ({"type": "column_rename", "to": "a"}, "column_rename: 'from' is missing"),
        ({"type": "column_rename", "from": "a", "to": "a"}, "'from' and 'to' are both 'a'"),
        (
            {"type": "column_drop", "column": "  "},
            "column_drop: 'column' must be a text that is not empty, not '  '",
        ),
        (
            {"type": "column_drop", "column": 3},
            "column_drop: 'column' must be a text that is not empty, not 3",
        ),
        ({"type": "column_drop", "column": "a", "to": "b"}, "column_drop has no field 'to'"),
        (
            {"type": "column_add", "column": "a", "nullable": "no"},
            "'nullable' must be true or false, not 'no'",
        ),
        (
            {"type": "table_drop", "urn": "job:etl:load"},
            "'urn' must be of a dataset, not 'job:etl:load'",
        ),
        ({"type": "job_delete"}, "must be of a job"),
    ],
)
def test_an_error_names_the_field(body: dict[str, Any], message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_change(body, ORDERS)
    assert message in caught.value.message
    assert caught.value.hint


def test_without_a_urn_it_is_about_nothing() -> None:
    with pytest.raises(QueryError, match="'urn' is missing"):
        parse_change({"type": "table_drop"})


def test_the_wrong_one_of_several_is_numbered() -> None:
    with pytest.raises(QueryError, match=r"changes\[1\]: column_drop: 'column' is missing"):
        parse_changes([{"type": "table_drop"}, {"type": "column_drop"}], ORDERS)


@pytest.mark.parametrize("nothing", [[], None, "text", {}])
def test_no_change_at_all_is_refused(nothing: Any) -> None:
    with pytest.raises(QueryError, match="at least one change"):
        parse_changes(nothing, ORDERS)


def test_every_example_of_an_error_is_itself_a_change() -> None:
    for kind, struct in CHANGES.items():
        with pytest.raises(QueryError) as caught:
            parse_change({"type": kind, "urn": 5})
        example = caught.value.hint.removeprefix("For example ").partition(", with the urn")[0]
        assert isinstance(parse_change(json.loads(example), f"{struct.about}:a:b"), struct)
