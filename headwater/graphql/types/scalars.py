"""The scalars of the schema: instants, large counts, JSON.

`DateTime` is ISO 8601, always in UTC with a Z; a time without a zone is read as UTC. `Long` is a whole number of up
to 64 bits, because rows and bytes outgrow the 32 bits of GraphQL's Int. What cannot be read is refused by name.
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
    # Every ID of this schema is text; to the type checker it is nothing else.
    ID = str
else:
    ID = strawberry.ID

Long = NewType("Long", int)
_LONG_MAX = 2**63 - 1


def write_time(value: datetime) -> str:
    """2026-01-31T12:00:00Z, with as many decimals as it has."""
    zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
    return zoned.astimezone(UTC).isoformat().replace("+00:00", "Z")


def read_time(value: object) -> datetime:
    try:
        return to_datetime(parse_instant(str(value), field="DateTime"))
    except EventError as error:
        raise GraphQLError(error.message) from error


def read_long(value: object) -> Long:
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or not -_LONG_MAX <= value <= _LONG_MAX
    ):
        raise GraphQLError(f"Long {str(value)[:40]!r} is not a whole number of up to 64 bits")
    return Long(value)


SCALARS: dict[object, ScalarDefinition] = {
    datetime: strawberry.scalar(
        name="DateTime",
        description="An instant: ISO 8601, in UTC, for example 2026-01-31T12:00:00Z.",
        serialize=write_time,
        parse_value=read_time,
    ),
    Long: strawberry.scalar(
        name="Long",
        description="A whole number of up to 64 bits.",
        serialize=int,
        parse_value=read_long,
    ),
}
