"""The scalars of the schema: instants, large counts and identifiers.

`DateTime` is ISO 8601 in UTC with a Z; a time without a zone is read as UTC. `Long` is a whole
number of up to 64 bits, because row and byte counts exceed the 32 bits of GraphQL's Int.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NewType

import strawberry
from graphql import GraphQLError
from strawberry.types.scalar import ScalarDefinition

from headwater.errors import EventError
from headwater.schema.events import parse_instant, to_datetime

if TYPE_CHECKING:
    # Every ID of this schema is text, so the type checker sees a str.
    ID = str
else:
    ID = strawberry.ID

Long = NewType("Long", int)
_LONG_MAX = 2**63 - 1
_CHARACTERS_SHOWN = 40


def format_datetime(value: datetime) -> str:
    """Return an instant as text: 2026-01-31T12:00:00Z, with the decimals that it has."""
    zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
    return zoned.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_datetime(value: object) -> datetime:
    """Return the instant of a text. Raises GraphQLError if it is none."""
    try:
        return to_datetime(parse_instant(str(value), field="DateTime"))
    except EventError as error:
        example = "write ISO 8601, for example 2026-01-31T12:00:00Z"
        raise GraphQLError(f"{error.message}; {example}") from error


def parse_long(value: object) -> Long:
    """Return a whole number of up to 64 bits. Raises GraphQLError for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LONG_MAX:
        return Long(value)
    shown = str(value)[:_CHARACTERS_SHOWN]
    raise GraphQLError(f"Long {shown!r} must be a whole number of up to 64 bits")


def long_or_none(count: int | None) -> Long | None:
    """Return a count as a Long, None as it is."""
    return None if count is None else Long(count)


SCALARS: dict[object, ScalarDefinition] = {
    datetime: strawberry.scalar(
        name="DateTime",
        description="An instant: ISO 8601, in UTC, for example 2026-01-31T12:00:00Z.",
        specified_by_url="https://www.rfc-editor.org/rfc/rfc3339",
        serialize=format_datetime,
        parse_value=parse_datetime,
    ),
    Long: strawberry.scalar(
        name="Long",
        description="A whole number of up to 64 bits.",
        specified_by_url="https://ibm.github.io/graphql-specs/custom-scalars/long.html",
        serialize=int,
        parse_value=parse_long,
    ),
}
