"""The producers of events: their counts, their clock skew and the rules that events break."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from headwater.cypher.driver.database import Row
from headwater.errors import ForbiddenError
from headwater.lineage.pagination import require_between
from headwater.lineage.view import GraphView
from headwater.schema.conformance_rules import RULES, Rule

PRODUCERS_MAX = 500
# For each producer, so that a broken one cannot make the answer arbitrarily long.
FINDINGS_MAX = 200
_UNKNOWN_RULE = Rule(
    "info",
    "A rule that this version of Headwater does not have.",
    "Run the version that wrote it, or a newer one.",
)


@dataclass(frozen=True)
class Finding:
    """A rule broken `count` times at one field.

    `sequence` is the number of an example event in the spool.
    """

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
    """The delay between the event time and the receipt of events, in seconds."""

    min: float
    median: float
    max: float


@dataclass(frozen=True)
class Producer:
    """A producer with the number of its events, the times of receipt and its findings."""

    producer: str
    events: int
    first_received_at: datetime
    last_received_at: datetime
    future_events: int
    skew: Skew | None
    findings: list[Finding]


def producers(view: GraphView, *, producer: str = "", first: int = 100) -> list[Producer]:
    """Return the producers whose name begins with `producer`, those with the most events first.

    The findings of each come with the most frequent first. Raises ForbiddenError for a restricted
    caller, because the counts cover all namespaces; QueryError for `first` outside the bounds.
    """
    if not view.visibility.is_unrestricted:
        raise ForbiddenError(
            "counts by producer cover all namespaces, but this key is restricted to some"
        )
    require_between("first", first, 0, PRODUCERS_MAX)
    rows = view.read("read/estate/event_producers", producer=producer, limit=first)
    findings = _read_findings(view, [row["producer"] for row in rows])
    return [_producer(row, findings.get(row["producer"], [])) for row in rows]


def _read_findings(view: GraphView, names: list[str]) -> dict[str, list[Finding]]:
    findings: dict[str, list[Finding]] = defaultdict(list)
    if names:
        for row in view.read(
            "read/estate/conformance_findings", producers=names, limit=FINDINGS_MAX
        ):
            findings[row["producer"]].append(_finding(row))
    return findings


def _producer(row: Row, findings: list[Finding]) -> Producer:
    skew = None
    if row["skewMedian"] is not None:
        skew = Skew(row["skewMin"], row["skewMedian"], row["skewMax"])
    return Producer(
        producer=row["producer"],
        events=row["events"],
        first_received_at=row["first"],
        last_received_at=row["last"],
        future_events=row["futureEvents"],
        skew=skew,
        findings=findings,
    )


def _finding(row: Row) -> Finding:
    rule = RULES.get(row["rule"], _UNKNOWN_RULE)
    return Finding(
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
