"""What can be subscribed to: runs that change, and runs that fail.

What is told are states (`headwater.graphql.run_feed`): a run that changes is told at least once, as it is by then. A
failure is told once for every time that the run failed, as far as this subscription remembers.
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
from headwater.graphql.types.enums import RunStatus
from headwater.graphql.types.nodes import PipelineRun

FAILURES_REMEMBERED_MAX = 10_000

Namespace = Annotated[
    str | None, strawberry.argument(description="Only runs of jobs in this namespace.")
]
Pipeline = Annotated[str | None, strawberry.argument(description="Only runs of this pipeline.")]
Status = Annotated[
    RunStatus | None, strawberry.argument(description="Only runs that stand so now.")
]


def subscribed(description: str) -> Callable[[Callable[..., Any]], StrawberryField]:
    """A field of the schema that tells what this resolver yields."""

    def decorate(resolver: Callable[..., Any]) -> StrawberryField:
        field: StrawberryField = strawberry.subscription(resolver=resolver, description=description)
        return field

    return decorate


@strawberry.type
class Subscription:
    @subscribed(
        "Runs that change from now on, each as it is by then: at least once for every change, but of two in quick "
        "succession only the newest state."
    )
    async def run_events(
        self,
        info: Info,
        namespace: Namespace = None,
        pipeline: Pipeline = None,
        status: Status = None,
    ) -> AsyncGenerator[PipelineRun, None]:
        async with aclosing(_changes(info, namespace, pipeline, status)) as changes:
            async for row in changes:
                yield PipelineRun.of(row)

    @subscribed("Runs that fail from now on, and what each of them touches.")
    async def failures(
        self, info: Info, namespace: Namespace = None, pipeline: Pipeline = None
    ) -> AsyncGenerator[FailedRun, None]:
        told: dict[tuple[str, object], None] = {}
        async with aclosing(_changes(info, namespace, pipeline, RunStatus.FAIL)) as changes:
            async for row in changes:
                failure = (row["urn"], row.get("failedAt"))
                if failure not in told:
                    told[failure] = None
                    if len(told) > FAILURES_REMEMBERED_MAX:
                        del told[next(iter(told))]
                    found = FailedRun.of(row)
                    assert isinstance(found, FailedRun)
                    yield found


async def _changes(
    info: Info, namespace: str | None, pipeline: str | None, status: RunStatus | None
) -> AsyncGenerator[Row, None]:
    """Runs that change, of those that may be seen and are asked for."""
    context, told = info.context, info.context.told
    assert told is not None, "subscriptions are for sockets"
    wanted = {
        "namespace": namespace,
        "pipelineName": pipeline,
        "status": status.value if status else None,
    }
    filters = {key: value for key, value in wanted.items() if value is not None}

    def is_wanted(run: Row) -> bool:
        seen = context.view.visibility.includes(run.get("namespace"))
        return seen and all(run.get(key) == value for key, value in filters.items())

    async with told.news.listening(is_wanted) as listener:
        while True:
            told.works(False)
            row = await listener.next()
            told.works(True)
            context.forget()
            # Other jobs than the one by whose namespace it goes may claim it.
            if await context.seen([row["urn"]]):
                yield row
