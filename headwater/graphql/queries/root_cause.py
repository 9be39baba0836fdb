"""Root causes and replay plans in the schema."""

from __future__ import annotations

from datetime import datetime

import strawberry

from headwater.graphql.context import Info
from headwater.graphql.types.enums import RootCauseKind
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.nodes import Answer, Artifact, Dataset, Job, PipelineRun
from headwater.graphql.types.results import TRUNCATED_BY
from headwater.graphql.types.scalars import ID
from headwater.graphql.types.stale import StaleInput
from headwater.lineage.questions.candidates import Candidate
from headwater.lineage.questions.measure_changes import MeasureChange as FoundChange
from headwater.lineage.questions.replay import Input, Output, Rerun
from headwater.lineage.questions.replay import ReplayPlan as FoundPlan
from headwater.lineage.questions.root_cause import RootCause as FoundCause
from headwater.lineage.questions.stale_inputs import stale_inputs_of


@strawberry.type(description="A measure of a column that left the baseline of earlier versions.")
class MeasureChange:
    column: str
    measure: str = strawberry.field(description="mean, null share or distinct count.")
    value: float
    baseline_mean: float = strawberry.field(description="The mean of the earlier values.")
    baseline_deviation: float | None = strawberry.field(
        description="Their standard deviation; null for fewer than three values."
    )
    deviations: float | None = strawberry.field(
        description="The distance to the mean in standard deviations; null without any."
    )
    share: float | None = strawberry.field(
        description="The change as a share of the mean, or of all rows for a null share; null for "
        "a mean of 0."
    )
    version_count: int = strawberry.field(description="The number of earlier values.")

    @classmethod
    def of(cls, found: FoundChange) -> MeasureChange:
        return cls(
            column=found.column,
            measure=found.measure,
            value=found.value,
            baseline_mean=found.mean,
            baseline_deviation=found.deviation,
            deviations=found.deviations,
            share=found.share,
            version_count=found.version_count,
        )


@strawberry.type(description="A possible root cause upstream, with its sign.")
class RootCauseCandidate:
    kind: RootCauseKind
    weight: int = strawberry.field(
        description="The weight of the kind. Candidates are sorted by weight, then by time."
    )
    reason: str = strawberry.field(description="The sign in words.")
    urn: ID = strawberry.field(description="The run, version or source that shows the sign.")
    occurred_at: datetime | None = strawberry.field(
        description="The start of the run, or the capture of the source."
    )
    distance: int = strawberry.field(description="The number of runs between it and the start.")
    before: str | None = strawberry.field(
        description="The value before: a code version, a schema, a median."
    )
    after: str | None = strawberry.field(description="The value found.")
    compared_with: list[ID] = strawberry.field(
        description="The runs and versions that it was compared with."
    )
    measures: list[MeasureChange] = strawberry.field(
        description="The column measures that changed, the largest change first."
    )
    run_urn: strawberry.Private[str]

    @resolver("The run to examine; null for a source.")
    async def run(self, info: Info) -> PipelineRun | None:
        row = await info.context.nodes.load(self.run_urn) if self.run_urn else None
        return PipelineRun.of(row) if row else None

    @classmethod
    def of(cls, found: Candidate) -> RootCauseCandidate:
        return cls(
            kind=RootCauseKind(found.kind),
            weight=found.weight,
            reason=found.reason,
            urn=found.urn,
            occurred_at=found.occurred_at,
            distance=found.distance,
            before=found.before,
            after=found.after,
            compared_with=list(found.compared_with),
            measures=[MeasureChange.of(one) for one in found.measures],
            run_urn=found.run,
        )


@strawberry.type(description="Possible root causes, the likeliest first.")
class RootCause:
    starts: list[ID] = strawberry.field(
        description="The nodes where the search started: for a dataset its newest version."
    )
    candidates: list[RootCauseCandidate]
    omitted_count: int = strawberry.field(description="The number of further candidates.")
    truncated: bool
    truncated_by: str | None = strawberry.field(description=TRUNCATED_BY)

    @resolver("What is out of date behind the starts: refreshes that failed, newer versions.")
    async def stale(self, info: Info) -> list[StaleInput]:
        view = info.context.view
        found = await info.context.run_in_thread(stale_inputs_of, view, self.starts)
        return StaleInput.all(found)

    @classmethod
    def of(cls, found: FoundCause) -> RootCause:
        return cls(
            starts=found.starts,
            candidates=[RootCauseCandidate.of(one) for one in found.candidates],
            omitted_count=found.omitted_count,
            truncated=found.truncated,
            truncated_by=found.reason or None,
        )


@strawberry.type(description="An input of a run to replace.")
class ReplayInput:
    entry: strawberry.Private[Input]

    @resolver("The dataset.")
    async def dataset(self, info: Info) -> Dataset:
        return (await Dataset.all(info, [self.entry.dataset]))[0]

    @resolver("The versions that the run read.")
    async def version_urns(self) -> list[ID]:
        return self.entry.versions

    @resolver(
        "The runs that created these versions and must be replaced first; empty if none must."
    )
    async def wait_for(self, info: Info) -> list[PipelineRun]:
        return [
            PipelineRun.of(row) for row in await info.context.load_existing(self.entry.wait_for)
        ]


@strawberry.type(description="A version to replace.")
class ReplayOutput:
    entry: strawberry.Private[Output]

    @resolver("The dataset of the version.")
    async def dataset(self, info: Info) -> Dataset:
        return (await Dataset.all(info, [self.entry.dataset]))[0]

    @resolver("The version to replace.")
    async def version(self, info: Info) -> Artifact | None:
        row = await info.context.nodes.load(self.entry.version)
        return Artifact.of(row) if row else None

    @resolver(
        "The newest complete, unaffected version before it: the one to start from. Null if "
        "there is none."
    )
    async def last_good(self, info: Info) -> Artifact | None:
        row = await info.context.nodes.load(self.entry.last_good) if self.entry.last_good else None
        return Artifact.of(row) if row else None


@strawberry.type(description="A run to replace by a new run of its job.")
class ReplayRun:
    owners: list[str] = strawberry.field(
        description="The owners of the job and of the datasets to replace."
    )
    inputs: list[ReplayInput]
    outputs: list[ReplayOutput]
    reads_own_output: bool = strawberry.field(
        description="True if it reads the output of an earlier run of the same job."
    )
    in_cycle: bool = strawberry.field(
        description="True if runs of this step read from each other in a cycle."
    )
    superseded: bool = strawberry.field(
        description="True if later successful runs have replaced all its outputs."
    )
    entry: strawberry.Private[Rerun]

    @resolver("The run to replace.")
    async def run(self, info: Info) -> PipelineRun | None:
        row = await info.context.nodes.load(self.entry.run)
        return PipelineRun.of(row) if row else None

    @resolver("The job to run; null if it is unknown.")
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


@strawberry.type(description="Runs that can be replaced in parallel.")
class ReplayStep:
    number: int = strawberry.field(description="The position of the step, from 1.")
    runs: list[ReplayRun]

    @classmethod
    def of(cls, number: int, entries: list[Rerun]) -> ReplayStep:
        return cls(number=number, runs=[ReplayRun.of(entry) for entry in entries])


@strawberry.type(description="The runs to replace after a corrupt run, in order.")
class ReplayPlan:
    steps: list[ReplayStep]
    owners: list[str] = strawberry.field(
        description="The owners of all jobs and datasets to replace."
    )
    truncated: bool
    truncated_by: str | None = strawberry.field(description=TRUNCATED_BY)
    plan: strawberry.Private[FoundPlan]

    @resolver("The corrupt runs where the plan starts.")
    async def corrupt_runs(self, info: Info) -> list[PipelineRun]:
        return [
            PipelineRun.of(row) for row in await info.context.load_existing(self.plan.corrupt_runs)
        ]

    @resolver("Jobs that read the affected datasets and have not run on them yet.")
    async def next_jobs(self, info: Info) -> list[Job]:
        return await Job.all(info, self.plan.next_jobs)

    @resolver("Jobs that feed each other. Follow the steps, because their triggers may not end.")
    async def cycles(self, info: Info) -> list[list[Job]]:
        return [await Job.all(info, jobs) for jobs in self.plan.cycles]

    @resolver("Answers to create again at the end, those that others cite first.")
    async def answers(self, info: Info) -> list[Answer]:
        return await Answer.all(info, self.plan.answers)

    @classmethod
    def of(cls, plan: FoundPlan) -> ReplayPlan:
        return cls(
            steps=[ReplayStep.of(*step) for step in enumerate(plan.steps, start=1)],
            owners=plan.owners,
            truncated=plan.truncated,
            truncated_by=plan.reason or None,
            plan=plan,
        )
