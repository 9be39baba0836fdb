"""Root causes and replays as the schema shows them."""

from __future__ import annotations

from datetime import datetime

import strawberry

from headwater.graphql.context import Info
from headwater.graphql.types.enums import RootCauseKind
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.nodes import Answer, Artifact, Dataset, Job, PipelineRun
from headwater.graphql.types.results import REASON
from headwater.graphql.types.scalars import ID
from headwater.lineage.questions.replay import Input, Output, Rerun
from headwater.lineage.questions.replay import ReplayPlan as FoundPlan
from headwater.lineage.questions.root_cause import Candidate
from headwater.lineage.questions.root_cause import RootCause as FoundCause


@strawberry.type(description="What may have gone wrong upstream, and how that shows.")
class RootCauseCandidate:
    kind: RootCauseKind
    reason: str = strawberry.field(description="In words.")
    urn: ID = strawberry.field(
        description="The urn of what shows it: a run, a version or a source."
    )
    occurred_at: datetime | None = strawberry.field(
        description="When the run began, or the source was captured."
    )
    distance: int = strawberry.field(description="How many runs upstream it is.")
    before: str | None = strawberry.field(
        description="What it was compared with: a code version, a schema, a median."
    )
    after: str | None = strawberry.field(description="What it was instead.")
    compared_with: list[ID] = strawberry.field(
        description="The urns of the runs and versions it was compared with."
    )
    run_urn: strawberry.Private[str]

    @resolver("The run to look at; null for a source.")
    async def run(self, info: Info) -> PipelineRun | None:
        row = await info.context.nodes.load(self.run_urn) if self.run_urn else None
        return PipelineRun.of(row) if row else None

    @classmethod
    def of(cls, found: Candidate) -> RootCauseCandidate:
        return cls(
            kind=RootCauseKind(found.kind),
            reason=found.reason,
            urn=found.urn,
            occurred_at=found.occurred_at,
            distance=found.distance,
            before=found.before,
            after=found.after,
            compared_with=list(found.compared_with),
            run_urn=found.run,
        )


@strawberry.type(description="What may have spoiled something, the likeliest first.")
class RootCause:
    starts: list[ID] = strawberry.field(
        description="The urns from which was searched: of a dataset its newest version."
    )
    candidates: list[RootCauseCandidate]
    omitted_count: int = strawberry.field(description="How many more candidates there are.")
    truncated: bool
    truncated_by: str | None = strawberry.field(description=REASON)

    @classmethod
    def of(cls, found: FoundCause) -> RootCause:
        return cls(
            starts=found.starts,
            candidates=[RootCauseCandidate.of(one) for one in found.candidates],
            omitted_count=found.omitted_count,
            truncated=found.truncated,
            truncated_by=found.reason or None,
        )


@strawberry.type(description="A dataset that a run to replace read.")
class ReplayInput:
    entry: strawberry.Private[Input]

    @resolver("The dataset.")
    async def dataset(self, info: Info) -> Dataset:
        return (await Dataset.all(info, [self.entry.dataset]))[0]

    @resolver("The urns of the versions that were read.")
    async def version_urns(self) -> list[ID]:
        return self.entry.versions

    @resolver("The runs that made these and are to be run again first; none when it is ready.")
    async def wait_for(self, info: Info) -> list[PipelineRun]:
        return [
            PipelineRun.of(row) for row in await info.context.load_existing(self.entry.wait_for)
        ]


@strawberry.type(description="A version to replace.")
class ReplayOutput:
    entry: strawberry.Private[Output]

    @resolver("Its dataset.")
    async def dataset(self, info: Info) -> Dataset:
        return (await Dataset.all(info, [self.entry.dataset]))[0]

    @resolver("The version to replace.")
    async def version(self, info: Info) -> Artifact | None:
        row = await info.context.nodes.load(self.entry.version)
        return Artifact.of(row) if row else None

    @resolver(
        "The version to start from: the newest complete one from before, not spoiled. Null when there is none."
    )
    async def last_good(self, info: Info) -> Artifact | None:
        row = await info.context.nodes.load(self.entry.last_good) if self.entry.last_good else None
        return Artifact.of(row) if row else None


@strawberry.type(description="A run to replace by another run of its job.")
class ReplayRun:
    owners: list[str] = strawberry.field(
        description="The owners of the job and of the datasets to replace."
    )
    inputs: list[ReplayInput]
    outputs: list[ReplayOutput]
    reads_own_output: bool = strawberry.field(
        description="Whether it reads what an earlier run of the same job made."
    )
    in_cycle: bool = strawberry.field(
        description="Whether runs of this step read from each other in a circle."
    )
    superseded: bool = strawberry.field(
        description="Whether all that it wrote was made anew since, and well."
    )
    entry: strawberry.Private[Rerun]

    @resolver("The run to replace.")
    async def run(self, info: Info) -> PipelineRun | None:
        row = await info.context.nodes.load(self.entry.run)
        return PipelineRun.of(row) if row else None

    @resolver("The job to run again; null when it is not known.")
    async def job(self, info: Info) -> Job | None:
        return (await Job.all(info, [self.entry.job]))[0] if self.entry.job else None

    @classmethod
    def of(cls, entry: Rerun) -> ReplayRun:
        return cls(
            owners=entry.owners,
            inputs=[ReplayInput(entry=one) for one in entry.inputs],
            outputs=[ReplayOutput(entry=one) for one in entry.outputs],
            reads_own_output=entry.reads_own_output,
            in_cycle=entry.in_cycle,
            superseded=entry.superseded,
            entry=entry,
        )


@strawberry.type(description="Runs that may be run again at the same time.")
class ReplayStep:
    number: int = strawberry.field(description="From 1.")
    runs: list[ReplayRun]


@strawberry.type(
    description="What to run again after a run wrote something corrupt, and in which order."
)
class ReplayPlan:
    steps: list[ReplayStep]
    owners: list[str] = strawberry.field(
        description="Whom to tell: the owners of all jobs and datasets to replace."
    )
    truncated: bool
    truncated_by: str | None = strawberry.field(description=REASON)
    plan: strawberry.Private[FoundPlan]

    @resolver("The runs that are corrupt, where it starts.")
    async def corrupt_runs(self, info: Info) -> list[PipelineRun]:
        return [
            PipelineRun.of(row) for row in await info.context.load_existing(self.plan.corrupt_runs)
        ]

    @resolver("Jobs that would read what is spoiled next, and have not done so yet.")
    async def next_jobs(self, info: Info) -> list[Job]:
        return await Job.all(info, self.plan.next_jobs)

    @resolver(
        "Jobs that feed each other, in what was built or on the map: follow the steps, not their triggers."
    )
    async def cycles(self, info: Info) -> list[list[Job]]:
        return [await Job.all(info, jobs) for jobs in self.plan.cycles]

    @resolver("Answers to give anew at the end, those that others rest on first.")
    async def answers(self, info: Info) -> list[Answer]:
        return await Answer.all(info, self.plan.answers)

    @classmethod
    def of(cls, plan: FoundPlan) -> ReplayPlan:
        return cls(
            steps=[
                ReplayStep(number=number, runs=[ReplayRun.of(entry) for entry in step])
                for number, step in enumerate(plan.steps, start=1)
            ],
            owners=plan.owners,
            truncated=plan.truncated,
            truncated_by=plan.reason or None,
            plan=plan,
        )
