"""Who sends what, how far off its clock is, and what is found in its events, with what each rule means."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from headwater.cypher.driver.database import Row
from headwater.errors import ForbiddenError, QueryError
from headwater.lineage.view import GraphView
from headwater.schema.conformance_rules import RULES, Rule

PRODUCERS_MAX = 500
# Of one producer; a sender of nonsense must not make the answer endless.
FINDINGS_MAX = 200
# A rule of another version of Headwater than this one.
_UNKNOWN = Rule(
    "info",
    "A rule that this version does not know.",
    "Run the version that wrote it, or a newer one.",
)


@dataclass(frozen=True)
class Found:
    """One rule broken at one field, so many times. `sequence` is the number of an event of it in the spool."""

    rule: str
    field: str
    severity: str
    count: int
    first_received_at: datetime
    last_received_at: datetime
    sequence: int
    example: str
    detail: str
    meaning: str
    hint: str


@dataclass(frozen=True)
class Skew:
    """How much later than they say they happened events are received, in seconds."""

    min: float
    median: float
    max: float


@dataclass(frozen=True)
class Producer:
    """What one producer sent: how many events, received from when to when, and what was found in them."""

    producer: str
    events: int
    first_received_at: datetime
    last_received_at: datetime
    future_events: int
    skew: Skew | None
    findings: list[Found]


def producers(view: GraphView, *, producer: str = "", first: int = 100) -> list[Producer]:
    """Producers whose name begins so, those with the most events first, with their findings, most frequent first.

    Raises ForbiddenError for whoever does not see everything: what is counted of a producer is of all namespaces.
    """
    if not view.visibility.is_unrestricted:
        raise ForbiddenError(
            "what producers send is told of all namespaces at once, and this key is for some"
        )
    if not 0 <= first <= PRODUCERS_MAX:
        raise QueryError(f"first {first} is not between 0 and {PRODUCERS_MAX}")
    rows = view.read("read/estate/event_producers", producer=producer, limit=first)
    names = [row["producer"] for row in rows]
    found: dict[str, list[Found]] = defaultdict(list)
    for row in (
        view.read("read/estate/findings", producers=names, limit=FINDINGS_MAX) if names else []
    ):
        found[row["producer"]].append(_found(row))
    return [_producer(row, found[row["producer"]]) for row in rows]


def _producer(row: Row, found: list[Found]) -> Producer:
    known = row["skewMedian"] is not None
    skew = Skew(row["skewMin"], row["skewMedian"], row["skewMax"]) if known else None
    return Producer(
        row["producer"], row["events"], row["first"], row["last"], row["futureEvents"], skew, found
    )


def _found(row: Row) -> Found:
    rule = RULES.get(row["rule"], _UNKNOWN)
    return Found(
        rule=row["rule"],
        field=row["field"],
        severity=rule.severity,
        count=row["count"],
        first_received_at=row["first"],
        last_received_at=row["last"],
        sequence=row["sequence"],
        example=row["example"],
        detail=row["detail"],
        meaning=rule.meaning,
        hint=rule.hint,
    )
