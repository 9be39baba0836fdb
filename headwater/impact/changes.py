"""Planned changes to datasets and jobs, validated.

A change is read from JSON. The urn of its dataset or job may be a field of it or be given
separately:

    {"type": "column_rename", "from": "order_total", "to": "total_amount"}
    {"type": "column_drop", "column": "legacy_discount_code"}
    {"type": "column_type_change", "column": "amount", "from": "decimal(10,2)", "to": "int"}
    {"type": "column_add", "column": "tenant", "data_type": "string", "nullable": false}
    {"type": "table_drop"}    {"type": "table_rename", "to": "orders_v2"}    {"type": "job_delete"}
    {"type": "semantics_change", "column": "amount", "description": "now without tax"}

`job_delete` is about a job, all others are about a dataset.
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
    """A new type; `before` is looked up in the graph if it is not given."""

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
    """A new meaning of the values of one column, or of the whole dataset."""

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
CHANGES: dict[str, type[_Change]] = {str(type.__struct_config__.tag): type for type in _TYPES}


def parse_change(body: Mapping[str, Any], urn: str | None = None) -> Change:
    """Parse a change from JSON. `urn` is used if the JSON has none.

    Raises QueryError with the field and its expected form."""
    if not isinstance(body, Mapping):
        raise QueryError("a change must be a JSON object", hint=_example_sentence("column_rename"))
    kind = _parse_type(body)
    fields = {key: value for key, value in body.items() if value is not None}
    if "urn" not in fields and urn is not None:
        fields["urn"] = urn
    _validate_names(kind, fields)
    for name, value in fields.items():
        _validate_value(kind, name, value)
    change: Change = msgspec.convert(fields, cast(Any, CHANGES[kind]))
    _validate_urn(kind, change)
    if isinstance(change, ColumnRename) and change.column == change.to:
        raise QueryError(
            f"{kind}: 'from' and 'to' are both {change.to!r}", hint="Rename it to another name."
        )
    return change


def parse_changes(bodies: Any, urn: str | None = None) -> list[Change]:
    """Parse a JSON array of changes.

    Raises QueryError with the position, also for an empty array."""
    if not isinstance(bodies, list | tuple) or not bodies:
        raise QueryError(
            "changes must be a list of at least one change", hint=f"For example [{_example()}]."
        )
    changes = []
    for number, body in enumerate(bodies):
        try:
            changes.append(parse_change(body, urn))
        except QueryError as error:
            raise QueryError(f"changes[{number}]: {error.message}", hint=error.hint) from error
    return changes


def _parse_type(body: Mapping[str, Any]) -> str:
    kind = body.get("type")
    if not isinstance(kind, str) or kind not in CHANGES:
        raise QueryError(
            f"type {kind!r} is not a type of change", hint=f"Use one of {', '.join(CHANGES)}."
        )
    return kind


def _validate_names(kind: str, fields: Mapping[str, Any]) -> None:
    allowed = msgspec.structs.fields(CHANGES[kind])
    names = ["type", *(field.encode_name for field in allowed)]
    for name in fields:
        if name not in names:
            raise QueryError(
                f"{kind} has no field {name!r}", hint=f"Use the fields {', '.join(names)}."
            )
    for field in allowed:
        if field.required and field.encode_name not in fields:
            raise QueryError(
                f"{kind}: {field.encode_name!r} is missing", hint=_example_sentence(kind)
            )


def _validate_value(kind: str, name: str, value: Any) -> None:
    if name == "nullable":
        if not isinstance(value, bool):
            raise QueryError(
                f"{kind}: 'nullable' must be true or false, not {value!r}",
                hint=_example_sentence(kind),
            )
    elif not isinstance(value, str) or not value.strip():
        raise QueryError(
            f"{kind}: {name!r} must be a text that is not empty, not {value!r}",
            hint=_example_sentence(kind),
        )


def _validate_urn(kind: str, change: Change) -> None:
    if parse_urn(change.urn).kind != change.about:
        raise QueryError(
            f"{kind}: 'urn' must be of a {change.about}, not {change.urn!r}",
            hint=f"Give the {change.about} that changes, {change.about}:<namespace>:<name>.",
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


def _example_sentence(kind: str) -> str:
    return f"For example {_example(kind)}, with the urn of the {CHANGES[kind].about}."


def _example(kind: str = "column_drop") -> str:
    sample = _SAMPLES[kind]
    return f'{{"type": "{kind}"' + (f", {sample}" if sample else "") + "}"
