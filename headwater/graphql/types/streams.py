"""The topics of a run, with partitions and offsets, in the schema."""

from __future__ import annotations

import strawberry

from headwater.graphql.types.scalars import Long, long_or_none
from headwater.schema.stream_offsets import PartitionReport


@strawberry.type(description="How far a run came in one partition of a topic.")
class StreamPartition:
    partition: int = strawberry.field(description="Its number.")
    begin: Long | None = strawberry.field(description="The first offset that it read or wrote.")
    end: Long | None = strawberry.field(description="The offset of the next record.")
    latest: Long | None = strawberry.field(
        description="The offset at which the partition ended when it reported."
    )
    lag: Long | None = strawberry.field(description="`latest` minus `end`, at least 0.")

    @classmethod
    def of(cls, row: PartitionReport) -> StreamPartition:
        return cls(
            partition=row.partition,
            begin=long_or_none(row.begin),
            end=long_or_none(row.end),
            latest=long_or_none(row.latest),
            lag=long_or_none(row.lag),
        )
