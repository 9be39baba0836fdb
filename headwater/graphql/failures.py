"""Failed runs as the schema shows them: each with what it touches, and what to tell whom."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import strawberry

from headwater.cypher import failures, replay, root_cause
from headwater.cypher.consequences import Touched as TouchedUrns
from headwater.cypher.database import Row
from headwater.cypher.failures import Downstream as DownstreamUrns
from headwater.cypher.pages import Page
from headwater.graphql.context import Info
from headwater.graphql.fields import resolved
from headwater.graphql.replays import ReplayPlan, RootCause
from headwater.graphql.results import REASON, Connection
from headwater.graphql.types import Answer, Artifact, Dataset, Job, PipelineRun


@strawberry.type(
    description="What a failed run touches: what is stale because of it, and what was made from its output."
)
class Downstream:
    truncated: bool
    truncated_by: str | None = strawberry.field(description=REASON)
    touched: strawberry.Private[DownstreamUrns]

    @resolved("Stale: its own outputs and every dataset made from them.")
    async def datasets(self, info: Info) -> list[Dataset]:
        return await Dataset.all(info, self.touched.datasets)

    @resolved("The jobs that read those.")
    async def jobs(self, info: Info) -> list[Job]:
        return await Job.all(info, self.touched.jobs)

    @resolved("Answers that cite versions of those datasets current when it started, or later ones.")
    async def answers(self, info: Info) -> list[Answer]:
        return await Answer.all(info, self.touched.answers)

    @resolved("What it did write before it failed, and every version made from that.")
    async def artifacts(self, info: Info) -> list[Artifact]:
        return [Artifact.of(row) for row in await info.context.found(self.touched.artifacts)]

    @resolved("The runs that read what it wrote, directly or not.")
    async def runs(self, info: Info) -> list[PipelineRun]:
        return [PipelineRun.of(row) for row in await info.context.found(self.touched.runs)]

    @classmethod
    def of(cls, touched: DownstreamUrns) -> Downstream:
        return cls(truncated=touched.truncated, truncated_by=touched.reason or None, touched=touched)


@strawberry.type(description="One of the two lists of what follows from a failed run, nearest first.")
class Touched:
    owners: list[str] = strawberry.field(description="Whom to tell: the owners of these jobs and datasets.")
    truncated: bool
    truncated_by: str | None = strawberry.field(description=REASON)
    touched: strawberry.Private[TouchedUrns]

    @resolved("Partial: the datasets of these versions. Stale: also those that wait for what was not written.")
    async def datasets(self, info: Info) -> list[Dataset]:
        return await Dataset.all(info, self.touched.datasets)

    @resolved("Partial: the jobs of these runs. Stale: also those downstream on the map.")
    async def jobs(self, info: Info) -> list[Job]:
        return await Job.all(info, self.touched.jobs)

    @resolved("Partial: the runs that read what it did write. Stale: those that ran anyway on the version before it.")
    async def runs(self, info: Info) -> list[PipelineRun]:
        return [PipelineRun.of(row) for row in await info.context.found(self.touched.runs)]

    @resolved("Partial: what it did write, and what these runs made. Stale: what these runs made.")
    async def artifacts(self, info: Info) -> list[Artifact]:
        return [Artifact.of(row) for row in await info.context.found(self.touched.artifacts)]

    @resolved("The answers that rest on that. Stale: also those on the version before it, until it is mended.")
    async def answers(self, info: Info) -> list[Answer]:
        return await Answer.all(info, self.touched.answers)

    @classmethod
    def of(cls, touched: TouchedUrns) -> Touched:
        return cls(
            owners=touched.owners, truncated=touched.truncated, truncated_by=touched.reason or None, touched=touched
        )


@strawberry.type(description="A failed run.")
class FailedRun(PipelineRun):
    @resolved("Who owns its job.")
    async def owners(self, info: Info) -> list[str]:
        job = (await info.context.consequences.load(self.urn)).job
        return ((await info.context.nodes.load(job)) or {}).get("owners") or [] if job else []

    @resolved("What it touches.")
    async def downstream(self, info: Info) -> Downstream:
        return Downstream.of(await info.context.downstream.load(self.urn))

    @resolved("What was built from what it did write.")
    async def partial(self, info: Info) -> Touched:
        return Touched.of((await info.context.consequences.load(self.urn)).partial)

    @resolved("What waits for what it did not write, and what ran anyway on the version before it.")
    async def stale(self, info: Info) -> Touched:
        return Touched.of((await info.context.consequences.load(self.urn)).stale)

    @resolved("Whether its job has made everything anew since, so that nothing waits any more.")
    async def mended(self, info: Info) -> bool:
        return (await info.context.consequences.load(self.urn)).mend is not None

    @resolved("Since when nothing waits any more; null while it is not mended.")
    async def mended_at(self, info: Info) -> datetime | None:
        mend = (await info.context.consequences.load(self.urn)).mend
        return mend.at if mend else None

    @resolved("The run that made it whole; null while it is not mended.")
    async def mended_by(self, info: Info) -> PipelineRun | None:
        mend = (await info.context.consequences.load(self.urn)).mend
        row = await info.context.nodes.load(mend.run) if mend else None
        return PipelineRun.of(row) if row else None


def _failed(row: Row) -> FailedRun:
    run = FailedRun.of(row)
    assert isinstance(run, FailedRun)
    return run


@strawberry.type
class FailureQueries:
    @resolved("Failed runs, newest failure first, and what each of them touches.")
    async def failed_runs(
        self,
        info: Info,
        since: Annotated[datetime | None, strawberry.argument(description="Failed then or later.")] = None,
        until: Annotated[datetime | None, strawberry.argument(description="Failed before then.")] = None,
        pipeline: Annotated[str | None, strawberry.argument(description="Only runs of this pipeline.")] = None,
        namespace: Annotated[str | None, strawberry.argument(description="Only runs of jobs in it.")] = None,
        first: Annotated[int, strawberry.argument(description="At most this many.")] = 20,
        after: Annotated[str | None, strawberry.argument(description="The cursor of the last run seen.")] = None,
    ) -> Connection[FailedRun]:
        page = await info.context.ask(
            failures.failed_runs,
            info.context.database,
            since=since,
            until=until,
            pipeline=pipeline,
            namespace=namespace,
            first=first,
            after=after,
        )
        shown = Page(page.runs, [run.cursor for run in page.runs], page.has_next)
        return Connection.of(shown, (_failed(run.properties) for run in page.runs), after)

    @resolved(
        "What may have spoiled a version, a dataset (its newest version), an answer (what it cites) or a run: runs "
        "upstream that failed, or whose data failed tests, changed schema or code, shifted its row count or was late."
    )
    async def root_cause(
        self,
        info: Info,
        urn: Annotated[str, strawberry.argument(description="Of a version, source, dataset, answer or run.")],
        since: Annotated[datetime | None, strawberry.argument(description="Only what began then or later.")] = None,
        first: Annotated[int, strawberry.argument(description="At most this many candidates.")] = 20,
    ) -> RootCause:
        found = await info.context.ask(root_cause.root_cause, info.context.database, urn, since=since, first=first)
        return RootCause.of(found)

    @resolved("Which runs to replace after one was corrupt, step by step, and which version to start from.")
    async def replay_plan(
        self,
        info: Info,
        urn: Annotated[str, strawberry.argument(description="Of the corrupt run, of a version, or of a dataset.")],
        since: Annotated[
            datetime | None, strawberry.argument(description="For a dataset: what was made then or later is corrupt.")
        ] = None,
    ) -> ReplayPlan:
        return ReplayPlan.of(await info.context.ask(replay.replay_plan, info.context.database, urn, since=since))
