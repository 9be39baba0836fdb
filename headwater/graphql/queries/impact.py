"""What a change would break, as the schema shows it: changes in, affected assets with their evidence out."""

from __future__ import annotations

from typing import Annotated, Any

import strawberry

from headwater.graphql.context import Info
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.results import REASON
from headwater.graphql.types.scalars import ID
from headwater.impact.assess import assess
from headwater.impact.changes import CHANGES, parse_changes
from headwater.impact.report import Affected, Report
from headwater.impact.report import Evidence as FoundEvidence


@strawberry.input(
    description="A change that somebody means to make, with the fields that the same change has in REST. Which of them "
    "it takes goes by its type."
)
class ChangeInput:
    type: str = strawberry.field(description=f"One of {', '.join(CHANGES)}.")
    urn: ID = strawberry.field(description="The dataset that changes; for job_delete the job.")
    column: str | None = strawberry.field(
        default=None, description="The column that changes or is new."
    )
    from_: str | None = strawberry.field(
        default=None, name="from", description="The column's name before column_rename, its type before "
        "column_type_change."
    )  # fmt: skip
    to: str | None = strawberry.field(default=None, description="The name or type afterwards.")
    data_type: str | None = strawberry.field(
        default=None, name="data_type", description="The type of a new column."
    )
    nullable: bool | None = strawberry.field(
        default=None, description="Whether a new column may be null: by default."
    )
    description: str | None = strawberry.field(
        default=None, description="In what way values mean something else."
    )

    def as_json(self) -> dict[str, Any]:
        given = {key.rstrip("_"): value for key, value in vars(self).items()}
        return {key: value for key, value in given.items() if value is not None}


@strawberry.type(description="Why an asset is affected.")
class Evidence:
    kind: str = strawberry.field(
        description="COLUMN_PATH: column lineage leads to it. SQL_LINE: its code says so. READS_ONLY: it reads what "
        "changes, and nothing shows or rules out that it uses what changes there."
    )
    path: list[ID] = strawberry.field(
        description="By urn, in order: the columns that lead there, or what is read and who reads it."
    )
    file: str = strawberry.field(
        description="The file of the line; empty for code that its producer sent."
    )
    line: int = strawberry.field(
        description="The line in the file, or in the code that was sent; 0 without one."
    )
    text: str = strawberry.field(description="That line.")
    unknown: list[str] = strawberry.field(description="What of its code cannot be told.")

    @classmethod
    def of(cls, found: FoundEvidence) -> Evidence:
        return cls(
            kind=found.kind,
            path=list(found.path),
            file=found.file,
            line=found.line,
            text=found.text,
            unknown=list(found.unknown),
        )


@strawberry.type(
    description="A job, a dataset without a known job, or an answer that a change reaches."
)
class AffectedAsset:
    urn: ID | None = strawberry.field(
        description="Null for a file that is the code of no known job."
    )
    kind: str = strawberry.field(description="JOB, DATASET, ANSWER or FILE.")
    namespace: str | None
    name: str
    asset_type: str = strawberry.field(
        description="In its producer's words: dbt_model, dag, spark_job, ..."
    )
    severity: str = strawberry.field(
        description="breaking: a reference is shown. warning: it may be affected."
    )
    references: list[str] = strawberry.field(
        description="The columns of what it reads that it is affected by."
    )
    evidence: list[Evidence]
    distance: int = strawberry.field(
        description="Assets from the change to it, itself included; 0 for a writer."
    )
    owners: list[str]
    certified: bool = strawberry.field(
        description="Whether it, or a dataset it makes, has a tag that says so."
    )
    outputs: list[ID] = strawberry.field(description="The datasets it makes, by urn.")

    @classmethod
    def of(cls, found: Affected) -> AffectedAsset:
        return cls(
            urn=found.urn,
            kind=found.kind,
            namespace=found.namespace,
            name=found.name,
            asset_type=found.asset_type,
            severity=found.severity,
            references=list(found.references),
            evidence=[Evidence.of(one) for one in found.evidence],
            distance=found.distance,
            owners=list(found.owners),
            certified=found.certified,
            outputs=list(found.outputs),
        )


@strawberry.type(description="Who some changes would affect, all together.")
class ImpactReport:
    risk_level: str = strawberry.field(
        description="high: something breaks, or something certified is affected. medium: warnings, or something out of "
        "sight. low: nothing."
    )
    affected_count: int
    breaking_count: int
    warning_count: int
    certified_count: int
    affected: list[AffectedAsset] = strawberry.field(description="Nearest first.")
    owners: list[str] = strawberry.field(description="Whom to tell.")
    hidden_affected: bool = strawberry.field(
        description="Something that may not be seen is affected too."
    )
    truncated: bool
    truncated_by: str | None = strawberry.field(description=REASON)
    notes: list[str] = strawberry.field(description="What is odd about the changes.")

    @classmethod
    def of(cls, found: Report) -> ImpactReport:
        return cls(
            risk_level=found.risk_level,
            affected_count=found.affected_count,
            breaking_count=found.breaking_count,
            warning_count=found.warning_count,
            certified_count=found.certified_count,
            affected=[AffectedAsset.of(one) for one in found.affected],
            owners=found.owners,
            hidden_affected=found.hidden_affected,
            truncated=bool(found.truncated),
            truncated_by=found.truncated or None,
            notes=found.notes,
        )


@strawberry.type
class ImpactQueries:
    @resolver(
        "Who would be affected by changes that somebody means to make, how badly, and how one knows."
    )
    async def impact(
        self,
        info: Info,
        changes: Annotated[
            list[ChangeInput], strawberry.argument(description="At most 200, judged together.")
        ],
        include_stale: Annotated[
            bool, strawberry.argument(description="Count who read once and reads no more.")
        ] = False,
    ) -> ImpactReport:
        wanted = parse_changes([change.as_json() for change in changes])
        view = info.context.view
        return ImpactReport.of(
            await info.context.run_in_thread(assess, view, wanted, include_stale=include_stale)
        )
