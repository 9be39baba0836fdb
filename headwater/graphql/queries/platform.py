"""The state of the platform itself in the schema: counts of events, lag and latencies."""

from __future__ import annotations

from datetime import UTC, datetime

import strawberry

from headwater.errors import UnavailableError
from headwater.graphql.context import Info
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.scalars import Long
from headwater.health import platform


@strawberry.type(
    description="The durations of one kind of work since the processes started, in seconds."
)
class Latency:
    name: str = strawberry.field(description="The query of the library, or the path of the route.")
    count: Long = strawberry.field(description="The number of observations.")
    median: float | None = strawberry.field(description="Null without observations.")
    p95: float | None = strawberry.field(description="The 95th percentile.")

    @classmethod
    def of(cls, latency: platform.Latency) -> Latency:
        return cls(
            name=latency.name, count=Long(latency.count), median=latency.median, p95=latency.p95
        )


@strawberry.type(
    description="How the platform itself does: received = folded + dead + waiting. The same numbers"
    " are in /metrics. It counts all namespaces, so it needs a key for all of them."
)
class Platform:
    as_of: datetime = strawberry.field(description="The instant of the reading.")
    received: Long = strawberry.field(description="The number of accepted events.")
    folded: Long = strawberry.field(description="The number of events in the graph.")
    dead: Long = strawberry.field(description="The number of dead letters.")
    refused: Long = strawberry.field(
        description="The number of events answered with a 4xx since the start."
    )
    waiting: Long = strawberry.field(description="The number of events that wait to be folded.")
    oldest_waiting_seconds: float = strawberry.field(
        description="The waiting time of the oldest of them."
    )
    neo4j_up: bool = strawberry.field(description="True if Neo4j answered within two seconds.")
    open_findings: Long = strawberry.field(description="The number of open findings.")
    findings_lag_seconds: float | None = strawberry.field(
        description="The time since the findings were in step with the graph; null without a"
        " detector."
    )
    lag: Latency = strawberry.field(description="From accepted to visible in the graph, per event.")
    queries: list[Latency] = strawberry.field(
        description="The queries of the library, the slowest 20 by their 95th percentile."
    )
    requests: list[Latency] = strawberry.field(
        description="The HTTP routes, the slowest 20 by their 95th percentile."
    )

    @classmethod
    def of(cls, state: platform.PlatformState) -> Platform:
        return cls(
            as_of=datetime.now(UTC),
            received=Long(state.received),
            folded=Long(state.folded),
            dead=Long(state.dead),
            refused=Long(state.refused),
            waiting=Long(state.waiting),
            oldest_waiting_seconds=state.oldest_waiting_seconds,
            neo4j_up=state.is_neo4j_up,
            open_findings=Long(state.open_findings),
            findings_lag_seconds=state.findings_lag_seconds,
            lag=Latency.of(state.lag),
            queries=[Latency.of(one) for one in state.queries],
            requests=[Latency.of(one) for one in state.requests],
        )


@strawberry.type
class PlatformQueries:
    @resolver("How the platform itself does: events received and waiting, lag and latencies.")
    async def platform(self, info: Info) -> Platform | None:
        info.context.principal.require_every_namespace("platform")
        read = info.context.read_platform
        if read is None:
            raise UnavailableError(
                "this process has no spool to count events in", hint="Ask the API of the server."
            )
        return Platform.of(await info.context.run_in_thread(read))
