"""Failed runs as the schema shows them: each with what it touches, and what to tell whom."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import strawberry

from headwater.cypher.driver.database import Row
from headwater.graphql.context import Info
from headwater.graphql.queries.root_cause import ReplayPlan, RootCause
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.nodes import Answer, Artifact, Dataset, Job, PipelineRun
from headwater.graphql.types.results import REASON, Connection
from headwater.graphql.types.scalars import ID
from headwater.lineage.pagination import Page
from headwater.lineage.questions import failures, replay, root_cause
from headwater.lineage.questions.failure_impact import AffectedEntities as AffectedUrns
from headwater.lineage.questions.failures import AffectedNodes


@strawberry.type(
    description="What a failed run touches: what is stale because of it, and what was made from its output."
)
class Downstream:
    truncated: bool
    truncated_by: str | None = strawberry.field(description=REASON)
    touched: strawberry.Private[AffectedNodes]

    @resolver("Stale: its own outputs and every dataset made from them.")
    async def datasets(self, info: Info) -> list[Dataset]:
        return await Dataset.all(info, self.touched.datasets)

    @resolver("The jobs that read those.")
    async def jobs(self, info: Info) -> list[Job]:
        return await Job.all(info, self.touched.jobs)

    @resolver(
        "Answers that cite versions of those datasets current when it started, or later ones."
    )
    async def answers(self, info: Info) -> list[Answer]:
        return await Answer.all(info, self.touched.answers)

    @resolver("What it did write before it failed, and every version made from that.")
    async def artifacts(self, info: Info) -> list[Artifact]:
        return [
            Artifact.of(row) for row in await info.context.load_existing(self.touched.artifacts)
        ]

    @resolver("The runs that read what it wrote, directly or not.")
    async def runs(self, info: Info) -> list[PipelineRun]:
        return [PipelineRun.of(row) for row in await info.context.load_existing(self.touched.runs)]

    @classmethod
    def of(cls, touched: AffectedNodes) -> Downstream:
        return cls(
            truncated=touched.truncated, truncated_by=touched.reason or None, touched=touched
        )


@strawberry.type(
    description="One of the two lists of what follows from a failed run, nearest first."
)
class AffectedEntities:
    owners: list[str] = strawberry.field(
        description="Whom to tell: the owners of these jobs and datasets."
    )
    truncated: bool
    truncated_by: str | None = strawberry.field(description=REASON)
    touched: strawberry.Private[AffectedUrns]

    @resolver(
        "Partial: the datasets of these versions. Stale: also those that wait for what was not written."
    )
    async def datasets(self, info: Info) -> list[Dataset]:
        return await Dataset.all(info, self.touched.datasets)

    @resolver("Partial: the jobs of these runs. Stale: also those downstream on the map.")
    async def jobs(self, info: Info) -> list[Job]:
        return await Job.all(info, self.touched.jobs)

    @resolver(
        "Partial: the runs that read what it did write. Stale: those that ran anyway on the version before it."
    )
    async def runs(self, info: Info) -> list[PipelineRun]:
        return [PipelineRun.of(row) for row in await info.context.load_existing(self.touched.runs)]

    @resolver("Partial: what it did write, and what these runs made. Stale: what these runs made.")
    async def artifacts(self, info: Info) -> list[Artifact]:
        return [
            Artifact.of(row) for row in await info.context.load_existing(self.touched.artifacts)
        ]

    @resolver(
        "The answers that rest on that. Stale: also those on the version before it, until it is resolved."
    )
    async def answers(self, info: Info) -> list[Answer]:
        return await Answer.all(info, self.touched.answers)

    @classmethod
    def of(cls, touched: AffectedUrns) -> AffectedEntities:
        return cls(
            owners=touched.owners,
            truncated=touched.truncated,
            truncated_by=touched.reason or None,
            touched=touched,
        )


@strawberry.type(description="A failed run.")
class FailedRun(PipelineRun):
    @resolver("Who owns its job.")
    async def owners(self, info: Info) -> list[str]:
        job = (await info.context.failure_impacts.load(self.urn)).job
        return ((await info.context.nodes.load(job)) or {}).get("owners") or [] if job else []

    @resolver("What it touches.")
    async def downstream(self, info: Info) -> Downstream:
        return Downstream.of(await info.context.downstream.load(self.urn))

    @resolver("What was built from what it did write.")
    async def partial(self, info: Info) -> AffectedEntities:
        return AffectedEntities.of((await info.context.failure_impacts.load(self.urn)).partial)

    @resolver("What waits for what it did not write, and what ran anyway on the version before it.")
    async def stale(self, info: Info) -> AffectedEntities:
        return AffectedEntities.of((await info.context.failure_impacts.load(self.urn)).stale)

    @resolver("Whether its job has made everything anew since, so that nothing waits any more.")
    async def resolved(self, info: Info) -> bool:
        return (await info.context.failure_impacts.load(self.urn)).resolution is not None

    @resolver("Since when nothing waits any more; null while it is not resolved.")
    async def resolved_at(self, info: Info) -> datetime | None:
        resolution = (await info.context.failure_impacts.load(self.urn)).resolution
        return resolution.at if resolution else None

    @resolver("The run that made it whole; null while it is not resolved.")
    async def resolved_by(self, info: Info) -> PipelineRun | None:
        resolution = (await info.context.failure_impacts.load(self.urn)).resolution
        row = await info.context.nodes.load(resolution.run) if resolution else None
        return PipelineRun.of(row) if row else None


def _failed(row: Row) -> FailedRun:
    run = FailedRun.of(row)
    assert isinstance(run, FailedRun)
    return run


@strawberry.type
class FailureQueries:
    @resolver("Failed runs, newest failure first, and what each of them touches.")
    async def failed_runs(
        self,
        info: Info,
        since: Annotated[
            datetime | None, strawberry.argument(description="Failed then or later.")
        ] = None,
        until: Annotated[
            datetime | None, strawberry.argument(description="Failed before then.")
        ] = None,
        pipeline: Annotated[
            str | None, strawberry.argument(description="Only runs of this pipeline.")
        ] = None,
        namespace: Annotated[
            str | None, strawberry.argument(description="Only runs of jobs in it.")
        ] = None,
        first: Annotated[int, strawberry.argument(description="At most this many.")] = 20,
        after: Annotated[
            str | None, strawberry.argument(description="The cursor of the last run seen.")
        ] = None,
    ) -> Connection[FailedRun]:
        page = await info.context.run_in_thread(
            failures.failed_runs,
            info.context.view,
            since=since,
            until=until,
            pipeline=pipeline,
            namespace=namespace,
            first=first,
            after=after,
        )
        shown = Page(page.runs, [run.cursor for run in page.runs], page.has_next)
        return Connection.of(shown, (_failed(run.properties) for run in page.runs), after)

    @resolver(
        "What may have spoiled a version, a dataset (its newest version), an answer (what it cites) or a run: runs "
        "upstream that failed, or whose data failed tests, changed schema or code, shifted its row count or was late."
    )
    async def root_cause(
        self,
        info: Info,
        urn: Annotated[
            ID, strawberry.argument(description="Of a version, source, dataset, answer or run.")
        ],
        since: Annotated[
            datetime | None, strawberry.argument(description="Only what began then or later.")
        ] = None,
        first: Annotated[
            int, strawberry.argument(description="At most this many candidates.")
        ] = 20,
    ) -> RootCause:
        found = await info.context.run_in_thread(
            root_cause.root_cause, info.context.view, urn, since=since, first=first
        )
        return RootCause.of(found)

    @resolver(
        "Which runs to replace after one was corrupt, step by step, and which version to start from."
    )
    async def replay_plan(
        self,
        info: Info,
        urn: Annotated[
            ID,
            strawberry.argument(description="Of the corrupt run, of a version, or of a dataset."),
        ],
        since: Annotated[
            datetime | None,
            strawberry.argument(
                description="For a dataset: what was made then or later is corrupt."
            ),
        ] = None,
    ) -> ReplayPlan:
        return ReplayPlan.of(
            await info.context.run_in_thread(
                replay.replay_plan, info.context.view, urn, since=since
            )
        )
