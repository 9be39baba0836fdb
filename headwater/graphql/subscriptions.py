"""The subscriptions: runs that change, runs that fail, and findings that change.

They deliver states (`headwater.graphql.feed`): a changed run or finding at least once, as it is
then. A failure is delivered once for each time that the run failed, as far as this subscription
remembers.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Annotated, Any

import strawberry
from strawberry.types.field import StrawberryField

from headwater.cypher.driver.database import Row
from headwater.graphql.context import Info
from headwater.graphql.queries.failures import FailedRun
from headwater.graphql.queries.findings import OfNamespace, OfTier, Rule, known_rule
from headwater.graphql.types.enums import RunStatus
from headwater.graphql.types.finding_changes import FindingChange
from headwater.graphql.types.nodes import PipelineRun

FAILURES_REMEMBERED_MAX = 10_000

Namespace = Annotated[
    str | None, strawberry.argument(description="Only runs of jobs in this namespace.")
]
Pipeline = Annotated[str | None, strawberry.argument(description="Only runs of this pipeline.")]
Status = Annotated[
    RunStatus | None, strawberry.argument(description="Only runs with this status now.")
]


def subscription_field(description: str) -> Callable[[Callable[..., Any]], StrawberryField]:
    """Return a decorator that makes a resolver a described field of `Subscription`."""

    def decorate(resolver: Callable[..., Any]) -> StrawberryField:
        field: StrawberryField = strawberry.subscription(resolver=resolver, description=description)
        return field

    return decorate


@strawberry.type
class Subscription:
    """The root type of subscriptions."""

    @subscription_field(
        "Runs that change from now on. Each change is delivered at least once, as the state of the "
        "run at that time. Of two changes within a second only the newer state may be delivered."
    )
    async def run_events(
        self,
        info: Info,
        namespace: Namespace = None,
        pipeline: Pipeline = None,
        status: Status = None,
    ) -> AsyncGenerator[PipelineRun, None]:
        """Yield each changed run."""
        async with aclosing(_changed_runs(info, namespace, pipeline, status)) as changes:
            async for row in changes:
                yield PipelineRun.of(row)

    @subscription_field("Runs that fail from now on, each with the entities it affects.")
    async def failures(
        self, info: Info, namespace: Namespace = None, pipeline: Pipeline = None
    ) -> AsyncGenerator[FailedRun, None]:
        """Yield each failed run, once for each failure."""
        delivered: dict[tuple[str, object], None] = {}
        async with aclosing(_changed_runs(info, namespace, pipeline, RunStatus.FAIL)) as changes:
            async for row in changes:
                failure = (row["urn"], row.get("failedAt"))
                if failure in delivered:
                    continue
                delivered[failure] = None
                if len(delivered) > FAILURES_REMEMBERED_MAX:
                    del delivered[next(iter(delivered))]
                run = FailedRun.of(row)
                assert isinstance(run, FailedRun)
                yield run

    @subscription_field(
        "Findings that open, change their severity, resolve or are withdrawn from now on. Of two "
        "changes within a second only the newer state may be delivered."
    )
    async def finding_changes(
        self,
        info: Info,
        rule: Rule = None,
        tier: OfTier = None,
        namespace: OfNamespace = None,
    ) -> AsyncGenerator[FindingChange, None]:
        """Yield each changed finding."""
        rule = known_rule(rule)
        async with aclosing(_finding_states(info)) as states:
            async for state in states:
                change = await FindingChange.of(info, state)
                if change is not None and change.matches(rule, tier, namespace):
                    yield change


async def _changed_runs(
    info: Info, namespace: str | None, pipeline: str | None, status: RunStatus | None
) -> AsyncGenerator[Row, None]:
    """Yield changed runs that match the arguments and are visible to the principal."""
    context, subscription = info.context, info.context.subscription
    assert subscription is not None, "subscriptions need a WebSocket connection"
    arguments = {
        "namespace": namespace,
        "pipelineName": pipeline,
        "status": status.value if status else None,
    }
    filters = {key: value for key, value in arguments.items() if value is not None}

    def accepts(run: Row) -> bool:
        is_visible = context.view.visibility.includes(run.get("namespace"))
        return is_visible and all(run.get(key) == value for key, value in filters.items())

    async with subscription.feed.subscribe(accepts) as subscriber:
        while True:
            subscription.set_working(False)
            row = await subscriber.next()
            subscription.set_working(True)
            context.reset_loaders()
            # Jobs of other namespaces may claim the run too.
            if await context.visible_urns([row["urn"]]):
                yield row


async def _finding_states(info: Info) -> AsyncGenerator[Row, None]:
    """Yield the changed states of findings on nodes that the principal may see."""
    context, subscription = info.context, info.context.subscription
    assert subscription is not None, "subscriptions need a WebSocket connection"
    async with subscription.finding_feed.subscribe(lambda _: True) as subscriber:
        while True:
            subscription.set_working(False)
            state = await subscriber.next()
            subscription.set_working(True)
            context.reset_loaders()
            yield state
