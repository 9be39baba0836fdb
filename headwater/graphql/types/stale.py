"""Datasets behind an answer or a version that are out of date."""

from __future__ import annotations

from datetime import datetime

import strawberry

from headwater.graphql.context import Info
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.nodes import Artifact, Dataset, PipelineRun
from headwater.lineage.questions.stale_inputs import StaleInput as FoundInput


@strawberry.type(
    description="A dataset that is out of date: a run after its newest complete version failed, or"
    " it has a newer version than the one that the answer cites."
)
class StaleInput:
    reason: str = strawberry.field(description="What happened, in words.")
    at: datetime = strawberry.field(description="The time of the failure, or of the newer version.")
    owners: list[str] = strawberry.field(
        description="The owners of the dataset and of the failed job: tell them."
    )
    entry: strawberry.Private[FoundInput]

    @resolver("The dataset.")
    async def dataset(self, info: Info) -> Dataset:
        return (await Dataset.all(info, [self.entry.dataset]))[0]

    @resolver("The newest version of it upstream; null if only a source is known.")
    async def used_version(self, info: Info) -> Artifact | None:
        return await _artifact(info, self.entry.used)

    @resolver("The newer complete version; null for a failed refresh.")
    async def newer_version(self, info: Info) -> Artifact | None:
        return await _artifact(info, self.entry.newer)

    @resolver("The run that failed; null for a newer version.")
    async def failed_run(self, info: Info) -> PipelineRun | None:
        urn = self.entry.failed_run
        row = await info.context.nodes.load(urn) if urn else None
        return PipelineRun.of(row) if row else None

    @classmethod
    def all(cls, found: list[FoundInput]) -> list[StaleInput]:
        return [
            cls(reason=entry.reason, at=entry.at, owners=entry.owners, entry=entry)
            for entry in found
        ]


async def _artifact(info: Info, urn: str | None) -> Artifact | None:
    row = await info.context.nodes.load(urn) if urn else None
    return Artifact.of(row) if row else None
