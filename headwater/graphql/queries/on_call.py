"""What is wrong now: failing pipelines, changed schemas, and runs that take longer than usual."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import strawberry

from headwater.graphql.context import Info
from headwater.graphql.types.fields import After, First, page_length, resolver
from headwater.graphql.types.nodes import Artifact, Dataset, Job, PipelineRun
from headwater.graphql.types.results import Connection, counted
from headwater.graphql.types.scalars import ID
from headwater.lineage.pagination import page_request
from headwater.lineage.questions import failing_pipelines as failing
from headwater.lineage.questions import overdue_runs as overdue
from headwater.lineage.questions import schema_changes as schemas
from headwater.schema.urns import job_urn

Namespace = Annotated[
    str | None, strawberry.argument(description="Only this namespace; null for all.")
]


@strawberry.type(description="A pipeline with failed runs.")
class FailingPipeline:
    namespace: str
    name: str
    failed_runs: int = strawberry.field(
        description="The number of its runs that failed in the window, each counted once."
    )
    runs: int = strawberry.field(
        description="The number of its runs that started in the window or failed in it."
    )
    first_failed_at: datetime = strawberry.field(description="The first failure in the window.")
    last_failed_at: datetime = strawberry.field(description="The last failure in the window.")
    last_run_urn: strawberry.Private[str]

    @resolver("Its job; null if no event names it.")
    async def job(self, info: Info) -> Job | None:
        jobs = await Job.all(info, [job_urn(self.namespace, self.name)])
        return jobs[0] if jobs else None

    @resolver("The run that failed last.")
    async def last_run(self, info: Info) -> PipelineRun | None:
        row = await info.context.nodes.load(self.last_run_urn)
        return PipelineRun.of(row) if row else None

    @classmethod
    def of(cls, pipeline: failing.FailingPipeline) -> FailingPipeline:
        return cls(
            namespace=pipeline.namespace,
            name=pipeline.name,
            failed_runs=pipeline.failed,
            runs=pipeline.runs,
            first_failed_at=pipeline.first_at,
            last_failed_at=pipeline.last_at,
            last_run_urn=pipeline.last_run,
        )


@strawberry.type(description="The pipelines with the most failed runs, and the numbers of all.")
class FailingPipelines:
    nodes: list[FailingPipeline] = strawberry.field(
        description="The pipelines, those with the most failed runs first."
    )
    total_count: int = strawberry.field(description="The number of pipelines with a failed run.")
    failed_runs: int = strawberry.field(description="The number of failed runs of all of them.")


@strawberry.type(description="A version with another schema than the version before it.")
class SchemaChange:
    occurred_at: datetime = strawberry.field(description="The instant at which it was written.")
    differences: list[str] = strawberry.field(description="The added, dropped and retyped columns.")
    hash_before: str | None = strawberry.field(description="The hash of the schema before.")
    hash_after: str | None = strawberry.field(description="The hash of its schema.")
    dataset_urn: strawberry.Private[str]
    version_urn: ID = strawberry.field(description="The version.")

    @resolver("The dataset.")
    async def dataset(self, info: Info) -> Dataset:
        [dataset] = await Dataset.all(info, [self.dataset_urn])
        return dataset

    @resolver("The version.")
    async def version(self, info: Info) -> Artifact | None:
        row = await info.context.nodes.load(self.version_urn)
        return Artifact.of(row) if row else None

    @classmethod
    def of(cls, change: schemas.SchemaChange) -> SchemaChange:
        return cls(
            occurred_at=change.at,
            differences=change.differences,
            hash_before=change.before,
            hash_after=change.after,
            dataset_urn=change.dataset,
            version_urn=ID(change.version),
        )


@strawberry.type(description="A page of changes of schemas.")
class SchemaChangeConnection(Connection[SchemaChange]):
    truncated: bool = strawberry.field(
        description="True if only the newest changes were read: give a shorter period."
    )

    @classmethod
    def of_changes(cls, found: schemas.SchemaChanges) -> SchemaChangeConnection:
        nodes = map(SchemaChange.of, found.page.entries)
        return cls.of(found.page, nodes, counted(found.count), truncated=found.truncated)


@strawberry.type(description="A run under way that takes longer than usual.")
class OverdueRun:
    run: PipelineRun = strawberry.field(description="The run.")
    elapsed_seconds: float = strawberry.field(description="The seconds since its start.")
    median_seconds: float = strawberry.field(
        description="The median duration of the newest complete runs of its pipeline."
    )
    longest_seconds: float = strawberry.field(description="The longest of these durations.")
    compared_runs: int = strawberry.field(description="The number of these runs: 3 to 20.")

    @classmethod
    def of(cls, one: overdue.OverdueRun) -> OverdueRun:
        return cls(
            run=PipelineRun.of(one.run),
            elapsed_seconds=one.elapsed_seconds,
            median_seconds=one.median_seconds,
            longest_seconds=one.longest_seconds,
            compared_runs=one.compared,
        )


@strawberry.type(
    description="The runs under way that take longer than each of up to 20 complete runs before "
    "them, and over twice the median of these."
)
class OverdueRuns:
    nodes: list[OverdueRun] = strawberry.field(
        description="The runs, the one furthest beyond the median first."
    )
    running: int = strawberry.field(description="The number of runs under way that were examined.")
    truncated: bool = strawberry.field(
        description="True if only the 200 runs under way for the longest time were examined."
    )


@strawberry.type
class OnCallQueries:
    @resolver("The pipelines with the most failed runs in a window, each run counted once.")
    async def failing_pipelines(
        self,
        info: Info,
        since: Annotated[
            datetime | None, strawberry.argument(description="Only failures at this time or later.")
        ] = None,
        until: Annotated[
            datetime | None, strawberry.argument(description="Only failures before this time.")
        ] = None,
        namespace: Namespace = None,
        first: First = failing.FIRST_DEFAULT,
    ) -> FailingPipelines | None:
        found = await info.context.run_in_thread(
            failing.failing_pipelines,
            info.context.view,
            since=since,
            until=until,
            namespace=namespace or "",
            first=page_length(first, failing.FIRST_DEFAULT),
        )
        return FailingPipelines(
            nodes=[FailingPipeline.of(one) for one in found.pipelines],
            total_count=found.count,
            failed_runs=found.failed_runs,
        )

    @resolver(
        "Versions of datasets whose schema differs from that of the version before, newest first."
    )
    async def schema_changes(
        self,
        info: Info,
        since: Annotated[
            datetime | None, strawberry.argument(description="Only versions of this time or later.")
        ] = None,
        until: Annotated[
            datetime | None, strawberry.argument(description="Only versions before this time.")
        ] = None,
        namespace: Namespace = None,
        first: First = None,
        after: After = None,
    ) -> SchemaChangeConnection | None:
        found = await info.context.run_in_thread(
            schemas.schema_changes,
            info.context.view,
            page_request(first, after),
            since=since,
            until=until,
            namespace=namespace or "",
        )
        return SchemaChangeConnection.of_changes(found)

    @resolver("Runs under way that take longer than usual.")
    async def overdue_runs(self, info: Info, namespace: Namespace = None) -> OverdueRuns | None:
        found = await info.context.run_in_thread(
            overdue.overdue_runs, info.context.view, namespace=namespace or ""
        )
        return OverdueRuns(
            nodes=[OverdueRun.of(one) for one in found.runs],
            running=found.running,
            truncated=found.truncated,
        )
