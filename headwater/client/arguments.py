"""Arguments of questions as people give them, in the form that the API takes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Protocol

from headwater.client.times import instant_of
from headwater.errors import QueryError

Direction = Literal["upstream", "downstream", "both"]
Kind = Literal["dataset", "job", "answer", "pipeline_run", "source", "artifact", "column"]
Status = Literal["running", "complete", "fail", "abort", "abandoned"]
Tier = Literal["P1", "P2", "P3"]
# An age (`2h`), `yesterday` or ISO 8601; an instant; or an age.
Time = str | datetime | timedelta


class HasUrn(Protocol):
    """A record of a node."""

    @property
    def urn(self) -> str: ...


# A node by its urn, by a name that only one node has, or as another answer returned it.
NodeName = str | HasUrn


def text_of_node(node: NodeName) -> str:
    """Return the urn or the name of a node."""
    return node if isinstance(node, str) else node.urn


def choice(name: str, value: str | None, choices: Any) -> str | None:
    """Return a value as GraphQL spells it. Raises QueryError if it is none of the choices."""
    if value is None:
        return None
    allowed: tuple[str, ...] = choices.__args__
    if value.lower() not in map(str.lower, allowed):
        raise QueryError(f"{name} {value!r} is none of {', '.join(allowed)}")
    return value.upper()


def iso(name: str, time: Time | None) -> str | None:
    """Return an instant as ISO 8601; a `datetime` without a zone is in local time."""
    if isinstance(time, timedelta):
        time = datetime.now(UTC) - time
    instant = time.astimezone(UTC) if isinstance(time, datetime) else instant_of(name, time)
    return instant.isoformat() if instant else None


def times(name: str, pair: tuple[Time, Time] | None) -> dict[str, str | None] | None:
    """Return two instants as ISO 8601."""
    if pair is None:
        return None
    since, until = pair
    return {"from": iso(name, since), "to": iso(name, until)}
