"""Failed runs in the schema, each with the entities that it affects and their owners."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Annotated

import strawberry

from headwater.cypher.driver.database import Row
from headwater.graphql.context import Info
from headwater.graphql.queries.root_cause import ReplayPlan, RootCause
from headwater.graphql.types.fields import After, Before, First, Last, resolver
from headwater.graphql.types.nodes import Answer, Artifact, Dataset, Job, PipelineRun
from headwater.graphql.types.results import TRUNCATED_BY, Connection, counted
from headwater.graphql.types.scalars import ID
from headwater.lineage.nodes import resolve_urn
from headwater.lineage.pagination import Page, page_request
from headwater.lineage.questions import failed_checks as checks
from headwater.lineage.questions import failures, replay, root_cause
from headwater.lineage.questions.failed_checks import FailedCheckFilter
from headwater.lineage.questions.failure_impact import AffectedEntities as AffectedUrns
from headwater.lineage.questions.failures import AffectedNodes, FailureFilter


@strawberry.type(description="The entities downstream of a failed run.")
class Downstream:
    truncated: bool
    truncated_by: str | None = strawberry.field(description=TRUNCATED_BY)
    affected: strawberry.Private[AffectedNodes]

    @resolver("Its outputs and every dataset derived from them: they are stale.")
    async def datasets(self, info: Info) -> list[Dataset]:
        return await Dataset.all(info, self.affected.datasets)

    @resolver("The jobs that read those datasets.")
    async def jobs(self, info: Info) -> list[Job]:
        return await Job.all(info, self.affected.jobs)

    @resolver("Answers that cite versions of those datasets, current when it started or later.")
    async def answers(self, info: Info) -> list[Answer]:
        return await Answer.all(info, self.affected.answers)

    @resolver("The versions that it wrote before it failed, and every version derived from them.")
    async def artifacts(self, info: Info) -> list[Artifact]:
        return [
            Artifact.of(row) for row in await info.context.load_existing(self.affected.artifacts)
        ]

    @resolver("The runs that read those versions, directly or through others.")
    async def runs(self, info: Info) -> list[PipelineRun]:
        return [PipelineRun.of(row) for row in await info.context.load_existing(self.affected.runs)]

    @classmethod
    def of(cls, affected: AffectedNodes) -> Downstream:
        return cls(
            truncated=affected.truncated, truncated_by=affected.reason or None, affected=affected
        )


@strawberry.type(description="Entities that a failed run affects, nearest first.")
class AffectedEntities:
    owners: list[str] = strawberry.field(description="The owners of these jobs and datasets.")
    truncated: bool
    truncated_by: str | None = strawberry.field(description=TRUNCATED_BY)
    affected: strawberry.Private[AffectedUrns]

    @resolver(
        "Partial: the datasets of these versions. Stale: also datasets that wait for missing "
        "versions."
    )
    async def datasets(self, info: Info) -> list[Dataset]:
        return await Dataset.all(info, self.affected.datasets)

    @resolver(
        "Partial: the jobs of these runs. Stale: also the jobs downstream in the lineage graph."
    )
    async def jobs(self, info: Info) -> list[Job]:
        return await Job.all(info, self.affected.jobs)

    @resolver(
        "Partial: the runs that read its output. Stale: the runs that used the version before it."
    )
    async def runs(self, info: Info) -> list[PipelineRun]:
        return [PipelineRun.of(row) for row in await info.context.load_existing(self.affected.runs)]

    @resolver("Partial: its output and the output of these runs. Stale: the output of these runs.")
    async def artifacts(self, info: Info) -> list[Artifact]:
        return [
            Artifact.of(row) for row in await info.context.load_existing(self.affected.artifacts)
        ]

    @resolver(
        "The answers that cite these versions. Stale: also the version before it, until it is"
        " resolved."
    )
    async def answers(self, info: Info) -> list[Answer]:
        return await Answer.all(info, self.affected.answers)

    @classmethod
    def of(cls, affected: AffectedUrns) -> AffectedEntities:
        return cls(
            owners=affected.owners,
            truncated=affected.truncated,
            truncated_by=affected.reason or None,
            affected=affected,
        )


@strawberry.type(description="A failed run.")
class FailedRun(PipelineRun):
    @resolver("The owners of its job.")
    async def owners(self, info: Info) -> list[str]:
        job = (await info.context.failure_impacts.load(self.urn)).job
        return ((await info.context.nodes.load(job)) or {}).get("owners") or [] if job else []

    @resolver("The entities downstream of it.")
    async def downstream(self, info: Info) -> Downstream:
        return Downstream.of(await info.context.downstream.load(self.urn))

    @resolver("Entities built from its partial output.")
    async def partial(self, info: Info) -> AffectedEntities:
        return AffectedEntities.of((await info.context.failure_impacts.load(self.urn)).partial)

    @resolver("Entities that wait for its missing output, or were built on the version before it.")
    async def stale(self, info: Info) -> AffectedEntities:
        return AffectedEntities.of((await info.context.failure_impacts.load(self.urn)).stale)

    @resolver("The newest complete versions of its outputs from before the failure.")
    async def last_good(self, info: Info) -> list[Artifact]:
        old = (await info.context.failure_impacts.load(self.urn)).old
        versions = [urn for urn in old if urn.startswith("artifact:")]
        return [Artifact.of(row) for row in await info.context.load_existing(versions)]

    @resolver("True if its job has written all its outputs again since.")
    async def resolved(self, info: Info) -> bool:
        return (await info.context.failure_impacts.load(self.urn)).resolution is not None

    @resolver("The time of the resolution; null while it is not resolved.")
    async def resolved_at(self, info: Info) -> datetime | None:
        resolution = (await info.context.failure_impacts.load(self.urn)).resolution
        return resolution.at if resolution else None

    @resolver("The run that resolved it; null while it is not resolved.")
    async def resolved_by(self, info: Info) -> PipelineRun | None:
        resolution = (await info.context.failure_impacts.load(self.urn)).resolution
        row = await info.context.nodes.load(resolution.run) if resolution else None
        return PipelineRun.of(row) if row else None


@strawberry.type(description="A failed data quality check.")
class FailedCheck:
    name: str = strawberry.field(
        description="The name of the check, or else its assertion: not_null, unique, ..."
    )
    column: str | None = strawberry.field(
        description="Null for a check of the whole dataset and for a test of a run."
    )
    severity: str | None
    expected: str | None
    actual: str | None
    reported_at: datetime | None = strawberry.field(
        description="The end of the run that reported it, or the time of the dataset's event."
    )
    version_urn: ID | None = strawberry.field(
        description="The version that it describes; null if it describes the dataset."
    )
    dataset_urn: strawberry.Private[str | None]
    run_urn: strawberry.Private[str | None]

    @resolver("The checked dataset; null for a test of a run that read none.")
    async def dataset(self, info: Info) -> Dataset | None:
        datasets = await Dataset.all(info, [self.dataset_urn]) if self.dataset_urn else []
        return datasets[0] if datasets else None

    @resolver("The run that reported it; null if the dataset's own event did.")
    async def run(self, info: Info) -> PipelineRun | None:
        row = await info.context.nodes.load(self.run_urn) if self.run_urn else None
        return PipelineRun.of(row) if row else None

    @classmethod
    def of(cls, check: checks.FailedCheck) -> FailedCheck:
        one = check.assertion
        return cls(
            name=one.name,
            column=one.column,
            severity=one.severity,
            expected=one.expected,
            actual=one.actual,
            reported_at=one.reported_at,
            version_urn=one.version,
            dataset_urn=check.dataset,
            run_urn=one.run,
        )


@strawberry.type(description="A page of failed checks.")
class FailedCheckConnection(Connection[FailedCheck]):
    truncated: bool = strawberry.field(
        description="True if only the newest reports were read: give a shorter period."
    )

    @classmethod
    def of_checks(cls, found: checks.FailedChecks) -> FailedCheckConnection:
        nodes = map(FailedCheck.of, found.page.entries)
        return cls.of(found.page, nodes, counted(found.count), truncated=found.truncated)


def _failed(row: Row) -> FailedRun:
    run = FailedRun.of(row)
    assert isinstance(run, FailedRun)
    return run


@strawberry.type
class FailureQueries:
    @resolver("Failed runs, newest failure first, with the entities that each affects.")
    async def failed_runs(
        self,
        info: Info,
        since: Annotated[
            datetime | None, strawberry.argument(description="Only failures at this time or later.")
        ] = None,
        until: Annotated[
            datetime | None, strawberry.argument(description="Only failures before this time.")
        ] = None,
        pipeline: Annotated[
            str | None, strawberry.argument(description="Only runs of this pipeline.")
        ] = None,
        namespace: Annotated[
            str | None, strawberry.argument(description="Only runs of jobs in this namespace.")
        ] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[FailedRun] | None:
        view, run_in_thread = info.context.view, info.context.run_in_thread
        filter = FailureFilter(since, until, pipeline or "", namespace or "")
        request = page_request(first, after, last, before)
        page = await run_in_thread(failures.failed_runs, view, filter, request)
        cursors = [run.cursor for run in page.runs]
        shown = Page(page.runs, cursors, page.has_next, page.has_previous)
        runs = (_failed(run.properties) for run in page.runs)
        count = partial(run_in_thread, failures.count_failed_runs, view, filter)
        return Connection.of(shown, runs, count)

    @resolver(
        "Failed data quality checks, newest first: assertions and tests that runs reported, and "
        "assertions in events of the dataset itself."
    )
    async def failed_checks(
        self,
        info: Info,
        since: Annotated[
            datetime | None, strawberry.argument(description="Only reports at this time or later.")
        ] = None,
        until: Annotated[
            datetime | None, strawberry.argument(description="Only reports before this time.")
        ] = None,
        namespace: Annotated[
            str | None, strawberry.argument(description="Only datasets in this namespace.")
        ] = None,
        dataset: Annotated[
            ID | None, strawberry.argument(description="Only this dataset; aliases work too.")
        ] = None,
        column: Annotated[
            str | None, strawberry.argument(description="Only checks of the column of this name.")
        ] = None,
        name: Annotated[
            str | None, strawberry.argument(description="Only checks of this name.")
        ] = None,
        run_id: Annotated[
            ID | None, strawberry.argument(description="Only reports of this run.")
        ] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> FailedCheckConnection | None:
        view, run_in_thread = info.context.view, info.context.run_in_thread
        urn = await run_in_thread(resolve_urn, view, dataset) if dataset else ""
        filter = FailedCheckFilter(
            since=since,
            until=until,
            namespace=namespace or "",
            dataset=urn,
            column=column or "",
            name=name or "",
            run_id=run_id or "",
        )
        page = page_request(first, after, last, before)
        found = await run_in_thread(checks.failed_checks, view, filter, page)
        return FailedCheckConnection.of_checks(found)

    @resolver(
        "Possible root causes of a bad version, dataset (its newest version), answer (its "
        "citations) or "
        "run: upstream runs that failed, failed tests, changed schema or code, had an outlying row "
        "count, or read late inputs."
    )
    async def root_cause(
        self,
        info: Info,
        urn: Annotated[
            ID, strawberry.argument(description="A version, source, dataset, answer or run.")
        ],
        since: Annotated[
            datetime | None, strawberry.argument(description="Only causes at this time or later.")
        ] = None,
        first: Annotated[
            int, strawberry.argument(description="The most candidates to return.")
        ] = 20,
    ) -> RootCause | None:
        found = await info.context.run_in_thread(
            root_cause.root_cause, info.context.view, urn, since=since, first=first
        )
        return RootCause.of(found)

    @resolver("The runs to replace after a corrupt run, in steps, with the versions to start from.")
    async def replay_plan(
        self,
        info: Info,
        urn: Annotated[
            ID,
            strawberry.argument(description="The corrupt run, a version, or a dataset."),
        ],
        since: Annotated[
            datetime | None,
            strawberry.argument(
                description="For a dataset: versions created at this time or later are corrupt."
            ),
        ] = None,
    ) -> ReplayPlan | None:
        return ReplayPlan.of(
            await info.context.run_in_thread(
                replay.replay_plan, info.context.view, urn, since=since
            )
        )
