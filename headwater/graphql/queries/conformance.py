"""The conformance of producers to the OpenLineage specification in the schema."""

from __future__ import annotations

from datetime import datetime

import strawberry

from headwater.graphql.types.scalars import Long
from headwater.lineage.questions.conformance import Finding as CountedFinding
from headwater.lineage.questions.conformance import Producer as CountedProducer


@strawberry.type(
    description="The delay between the time of a producer's events and their arrival, in seconds."
)
class SkewSeconds:
    min: float = strawberry.field(
        description="Negative if an event has a later time than its arrival."
    )
    median: float = strawberry.field(description="The median, accurate to 20%.")
    max: float


@strawberry.type(description="A rule that a producer's events break in one field.")
class ConformanceFinding:
    rule: str
    field: str = strawberry.field(
        description="The path without indexes: inputs[].facets.dataSource.uri."
    )
    severity: str = strawberry.field(description="error or info.")
    count: Long = strawberry.field(description="The number of events that break it.")
    first_received_at: datetime = strawberry.field(
        description="The arrival of the first such event."
    )
    last_received_at: datetime
    sequence: Long = strawberry.field(
        description="The sequence number of one such event in the spool."
    )
    example: str = strawberry.field(description="The text of that event around the field.")
    detail: str = strawberry.field(description="The expected value, or the value that was sent.")
    meaning: str = strawberry.field(description="The problem.")
    hint: str = strawberry.field(description="How to fix it.")

    @classmethod
    def of(cls, found: CountedFinding) -> ConformanceFinding:
        return cls(**vars(found))


@strawberry.type(
    description="A program that sends events, identified by the `producer` URI of its events."
)
class Producer:
    producer: str = strawberry.field(description="Empty for events without a producer.")
    events: Long = strawberry.field(description="The number of its events.")
    first_received_at: datetime = strawberry.field(description="The arrival of its first event.")
    last_received_at: datetime
    skew_seconds: SkewSeconds | None = strawberry.field(description="Null if no event has a time.")
    future_events: Long = strawberry.field(
        description="The number of events with a later time than their arrival."
    )
    findings: list[ConformanceFinding] = strawberry.field(
        description="The broken rules, most frequent first."
    )

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
            findings=[ConformanceFinding.of(found) for found in counted.findings],
        )


@strawberry.type(description="The conformance of producers to the OpenLineage specification.")
class Conformance:
    producers: list[Producer] = strawberry.field(
        description="The producers, those with the most events first."
    )
