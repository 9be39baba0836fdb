"""What producers send against the specification, as the schema shows it."""

from __future__ import annotations

from datetime import datetime

import strawberry

from headwater.graphql.types.scalars import Long
from headwater.lineage.questions.conformance import Finding as CountedFinding
from headwater.lineage.questions.conformance import Producer as CountedProducer


@strawberry.type(
    description="How much later than they say they happened a producer's events are received."
)
class SkewSeconds:
    min: float = strawberry.field(
        description="Below 0 for an event that says it happened after it was received."
    )
    median: float = strawberry.field(description="To within a fifth.")
    max: float


@strawberry.type(description="A rule that a producer's events break at one field.")
class Finding:
    rule: str
    field: str = strawberry.field(description="Without indexes: inputs[].facets.dataSource.uri.")
    severity: str = strawberry.field(description="error, or info: worth knowing.")
    count: Long = strawberry.field(description="Events received that show it.")
    first_received_at: datetime = strawberry.field(
        description="When the first of them was received."
    )
    last_received_at: datetime
    sequence: Long = strawberry.field(description="The number of one of them in the spool.")
    example: str = strawberry.field(description="That event's text around the field.")
    detail: str = strawberry.field(
        description="What was expected there, or what stood there instead."
    )
    meaning: str = strawberry.field(description="What is wrong with it.")
    hint: str = strawberry.field(description="How to put it right.")

    @classmethod
    def of(cls, found: CountedFinding) -> Finding:
        return cls(**vars(found))


@strawberry.type(description="A program that sends events, by the URI it sends with them.")
class Producer:
    producer: str = strawberry.field(description="Empty for events that do not say who sent them.")
    events: Long = strawberry.field(description="Events received of it.")
    first_received_at: datetime = strawberry.field(description="When the first was received.")
    last_received_at: datetime
    skew_seconds: SkewSeconds | None = strawberry.field(
        description="Null when no event of it says when it happened."
    )
    future_events: Long = strawberry.field(
        description="Events that say they happened after they were received."
    )
    findings: list[Finding] = strawberry.field(description="The most frequent first.")

    @classmethod
    def of(cls, counted: CountedProducer) -> Producer:
        skew = counted.skew
        return cls(
            producer=counted.producer,
            events=Long(counted.events),
            first_received_at=counted.first_received_at,
            last_received_at=counted.last_received_at,
            skew_seconds=SkewSeconds(min=skew.min, median=skew.median, max=skew.max)
            if skew
            else None,
            future_events=Long(counted.future_events),
            findings=[Finding.of(found) for found in counted.findings],
        )


@strawberry.type(description="What producers send against the specification.")
class Conformance:
    producers: list[Producer] = strawberry.field(description="Those with the most events first.")
