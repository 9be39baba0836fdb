"""The overview of a node in the schema: what a picture of the lineage shows of it."""

from __future__ import annotations

from datetime import datetime

import strawberry

from headwater.governance.personal_data.marks import PersonalDataMark
from headwater.graphql.context import Info
from headwater.graphql.types.enums import NodeState, PersonalDataState, Tier
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.scalars import ID, Long, long_or_none
from headwater.lineage.questions.node_overviews import NodeOverview as KnownOverview
from headwater.lineage.questions.node_overviews import NodeState as KnownState

_CHECKED = ("dataset:", "artifact:")


@strawberry.type(
    description="What a picture of the lineage shows of a node. The overviews of all nodes of an "
    "answer are read together. With `asOf`, or at the second instant of `between`, runs and "
    "versions count up to that instant."
)
class NodeOverview:
    state: NodeState | None = strawberry.field(
        description="The state; null for a kind of node without one, such as a column."
    )
    state_since: datetime | None = strawberry.field(
        description="The instant at which the state began."
    )
    state_cause: ID | None = strawberry.field(
        description="The urn of the nearest job elsewhere that causes the state, as for STALE and "
        "UPSTREAM_FAILED; null if the node itself does."
    )
    last_run_at: datetime | None = strawberry.field(
        description="The start of the newest run of a job; of a run its own start."
    )
    last_run_id: ID | None = strawberry.field(description="The id of that run.")
    updated_at: datetime | None = strawberry.field(
        description="The time of the newest complete version of a dataset, or else of its newest "
        "capture."
    )
    row_count: Long | None = strawberry.field(description="The rows of that version.")
    owners: list[str]
    tags: list[str] = strawberry.field(
        description="The tags as key=value, or as the key alone if the value is true; those of a "
        "column of a dataset after its name and a colon."
    )
    type: str | None = strawberry.field(
        description="The type that the producer reports: TABLE, VIEW, DAG, TASK, ..."
    )
    column_count: int | None = strawberry.field(
        description="The number of current columns of a dataset."
    )
    upstream_count: int | None = strawberry.field(
        description="The number of datasets and jobs directly upstream in the current lineage "
        "graph, hidden ones excluded, at most 1000; null in the run history."
    )
    downstream_count: int | None = strawberry.field(description="The same downstream.")
    urn: strawberry.Private[str]
    is_past: strawberry.Private[bool]

    @resolver("The number of checks whose newest result is a failure; null for a job or a run.")
    async def failed_checks(self, info: Info) -> int | None:
        if not self.urn.startswith(_CHECKED):
            return None
        return (await info.context.quality.load(self.urn)).failed

    @resolver("The number of its open findings; null at an earlier instant.")
    async def open_findings(self, info: Info) -> int | None:
        return None if self.is_past else (await info.context.open_findings.load(self.urn)).count

    @resolver("The severity of the most urgent of them; null without one.")
    async def finding_tier(self, info: Info) -> Tier | None:
        found = None if self.is_past else await info.context.open_findings.load(self.urn)
        return Tier(found.tier) if found and found.tier else None

    @resolver(
        "The most severe state of the personal data at a dataset, column or answer; null without "
        "any, and at an earlier instant."
    )
    async def personal_data(self, info: Info) -> PersonalDataState | None:
        mark = await self._mark(info)
        return PersonalDataState[mark.state.name] if mark else None

    @resolver("The classes of personal data that have this state there; none at earlier instants.")
    async def personal_data_classes(self, info: Info) -> list[str]:
        mark = await self._mark(info)
        return list(mark.classes) if mark else []

    async def _mark(self, info: Info) -> PersonalDataMark | None:
        return None if self.is_past else await info.context.personal_data_marks.load(self.urn)

    @classmethod
    def of(cls, urn: str, known: KnownOverview, *, is_past: bool = False) -> NodeOverview:
        state = known.state or KnownState("")
        return cls(
            urn=urn,
            is_past=is_past,
            state=NodeState(state.state) if state.state else None,
            state_since=state.since,
            state_cause=state.cause,
            last_run_at=known.last_run_at,
            last_run_id=known.last_run_id,
            updated_at=known.updated_at,
            row_count=long_or_none(known.row_count),
            owners=known.owners,
            tags=known.tags,
            type=known.type,
            column_count=known.column_count,
            upstream_count=known.upstream_count,
            downstream_count=known.downstream_count,
        )
