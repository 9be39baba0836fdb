"""Changes to datasets and jobs that somebody means to make, as values that cannot be wrong.

A change is read from JSON as seed 001 writes it, with the urn of what it is about beside it or apart from it:

    {"type": "column_rename", "from": "order_total", "to": "total_amount"}
    {"type": "column_drop", "column": "legacy_discount_code"}
    {"type": "column_type_change", "column": "amount", "from": "decimal(10,2)", "to": "int"}
    {"type": "column_add", "column": "tenant", "data_type": "string", "nullable": false}
    {"type": "table_drop"}    {"type": "table_rename", "to": "orders_v2"}    {"type": "job_delete"}
    {"type": "semantics_change", "column": "amount", "description": "now without tax"}

All but `job_delete`, which is about a job, are about a dataset.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias, cast

import msgspec

from headwater.errors import QueryError
from headwater.schema.urns import parse_urn


class _Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    urn: str

    about: ClassVar[str] = "dataset"


class ColumnRename(_Change, frozen=True, kw_only=True, tag="column_rename"):
    column: str = msgspec.field(name="from")
    to: str


class ColumnDrop(_Change, frozen=True, kw_only=True, tag="column_drop"):
    column: str


class ColumnTypeChange(_Change, frozen=True, kw_only=True, tag="column_type_change"):
    """`before` is looked up in the graph when it is not told."""

    column: str
    before: str | None = msgspec.field(name="from", default=None)
    to: str


class ColumnAdd(_Change, frozen=True, kw_only=True, tag="column_add"):
    column: str
    data_type: str | None = None
    nullable: bool = True


class TableDrop(_Change, frozen=True, kw_only=True, tag="table_drop"):
    pass


class TableRename(_Change, frozen=True, kw_only=True, tag="table_rename"):
    to: str


class JobDelete(_Change, frozen=True, kw_only=True, tag="job_delete"):
    about: ClassVar[str] = "job"


class SemanticsChange(_Change, frozen=True, kw_only=True, tag="semantics_change"):
    """What the values mean: of one column, or of the whole dataset."""

    column: str | None = None
    description: str | None = None


Change: TypeAlias = (
    ColumnRename
    | ColumnDrop
    | ColumnTypeChange
    | ColumnAdd
    | TableDrop
    | TableRename
    | JobDelete
    | SemanticsChange
)
_TYPES: tuple[type[_Change], ...] = (
    ColumnRename,
    ColumnDrop,
    ColumnTypeChange,
    ColumnAdd,
    TableDrop,
    TableRename,
    JobDelete,
    SemanticsChange,
)
CHANGES: dict[str, type[_Change]] = {str(one.__struct_config__.tag): one for one in _TYPES}


def parse_change(given: Mapping[str, Any], urn: str | None = None) -> Change:
    """A change from its JSON. `urn` says what it is about where the JSON does not.

    Raises QueryError that names the field and says how to put it right."""
    if not isinstance(given, Mapping):
        raise QueryError("a change is not an object", hint=_example("column_rename"))
    kind = _kind(given)
    fields = {key: value for key, value in given.items() if value is not None}
    if "urn" not in fields and urn is not None:
        fields["urn"] = urn
    _check_names(kind, fields)
    for name, value in fields.items():
        _check_value(kind, name, value)
    change: Change = msgspec.convert(fields, cast(Any, CHANGES[kind]))
    _check_urn(kind, change)
    if isinstance(change, ColumnRename) and change.column == change.to:
        raise QueryError(
            f"{kind}: 'to' is {change.to!r}, as 'from' is", hint="Rename it to another name."
        )
    return change


def parse_changes(given: Any, urn: str | None = None) -> list[Change]:
    """Changes from a JSON array. Raises QueryError, also for none at all; the message says which one is wrong."""
    if not isinstance(given, list | tuple) or not given:
        raise QueryError(
            "changes is not a list of at least one change", hint=f"For example [{_example_of()}]."
        )
    changes = []
    for number, one in enumerate(given):
        try:
            changes.append(parse_change(one, urn))
        except QueryError as error:
            raise QueryError(f"changes[{number}]: {error.message}", hint=error.hint) from error
    return changes


def change_json(change: Change) -> dict[str, Any]:
    """The JSON that `parse_change` reads."""
    found: dict[str, Any] = msgspec.to_builtins(change)
    return found


def _kind(given: Mapping[str, Any]) -> str:
    kind = given.get("type")
    if not isinstance(kind, str) or kind not in CHANGES:
        raise QueryError(
            f"type {kind!r} is no change", hint=f"'type' is one of {', '.join(CHANGES)}."
        )
    return kind


def _check_names(kind: str, fields: Mapping[str, Any]) -> None:
    known = msgspec.structs.fields(CHANGES[kind])
    names = ["type", *(field.encode_name for field in known)]
    for name in fields:
        if name not in names:
            raise QueryError(
                f"{kind} has no field {name!r}", hint=f"Its fields are {', '.join(names)}."
            )
    for field in known:
        if field.required and field.encode_name not in fields:
            raise QueryError(f"{kind}: {field.encode_name!r} is missing", hint=_example(kind))


def _check_value(kind: str, name: str, value: Any) -> None:
    if name == "nullable":
        if not isinstance(value, bool):
            raise QueryError(
                f"{kind}: 'nullable' is {value!r}, not true or false", hint=_example(kind)
            )
    elif not isinstance(value, str) or not value.strip():
        raise QueryError(
            f"{kind}: {name!r} is {value!r}, not a text that says something", hint=_example(kind)
        )


def _check_urn(kind: str, change: Change) -> None:
    if parse_urn(change.urn).kind != change.about:
        raise QueryError(
            f"{kind}: 'urn' {change.urn!r} is not of a {change.about}",
            hint=f"Name the {change.about} that changes, {change.about}:<namespace>:<name>.",
        )


_SAMPLES: dict[str, str] = {
    "column_rename": '"from": "order_total", "to": "total_amount"',
    "column_drop": '"column": "discount"',
    "column_type_change": '"column": "amount", "from": "decimal(10,2)", "to": "int"',
    "column_add": '"column": "tenant", "data_type": "string", "nullable": false',
    "table_drop": "",
    "table_rename": '"to": "orders_v2"',
    "job_delete": "",
    "semantics_change": '"column": "amount", "description": "now without tax"',
}


def _example(kind: str) -> str:
    return f"For example {_example_of(kind)}, with the urn of the {CHANGES[kind].about}."


def _example_of(kind: str = "column_drop") -> str:
    sample = _SAMPLES[kind]
    return f'{{"type": "{kind}"' + (f", {sample}" if sample else "") + "}"
