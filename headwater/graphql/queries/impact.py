"""The impact of planned changes in the schema: affected assets with evidence."""

from __future__ import annotations

from typing import Annotated, Any

import strawberry

from headwater.graphql.context import Info
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.results import TRUNCATED_BY
from headwater.graphql.types.scalars import ID
from headwater.impact.assess import assess
from headwater.impact.changes import CHANGES, parse_changes
from headwater.impact.report import Affected, Report
from headwater.impact.report import Evidence as FoundEvidence


@strawberry.input(
    description="A planned change, with the same fields as in REST. Its type decides which fields"
    " it needs."
)
class ChangeInput:
    type: str = strawberry.field(description=f"One of {', '.join(CHANGES)}.")
    urn: ID = strawberry.field(description="The dataset to change; for job_delete the job.")
    column: str | None = strawberry.field(
        default=None, description="The column to change or to add."
    )
    from_: str | None = strawberry.field(
        default=None, name="from", description="The name before column_rename, the type before "
        "column_type_change."
    )  # fmt: skip
    to: str | None = strawberry.field(default=None, description="The new name or type.")
    data_type: str | None = strawberry.field(
        default=None, name="data_type", description="The type of a new column."
    )
    nullable: bool | None = strawberry.field(
        default=None, description="Whether a new column may be null; true by default."
    )
    description: str | None = strawberry.field(
        default=None, description="How the meaning of the values changes."
    )

    def as_json(self) -> dict[str, Any]:
        given = {key.rstrip("_"): value for key, value in vars(self).items()}
        return {key: value for key, value in given.items() if value is not None}


@strawberry.type(description="Why an asset is affected.")
class Evidence:
    kind: str = strawberry.field(
        description="COLUMN_PATH: column lineage connects it. SQL_LINE: its code references the "
        "column. READS_ONLY: "
        "it reads the dataset, and nothing shows which columns it uses."
    )
    path: list[ID] = strawberry.field(
        description="The connected nodes in order: columns, or the dataset and its reader."
    )
    file: str = strawberry.field(description="The file of the line; empty for code in an event.")
    line: int = strawberry.field(
        description="The line number in the file or in the code; 0 without one."
    )
    text: str = strawberry.field(description="The text of that line.")
    unknown: list[str] = strawberry.field(
        description="The parts of its code that could not be analysed."
    )

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
    description="A job, an answer, a file, or a dataset without a known job that a change affects."
)
class AffectedAsset:
    urn: ID | None = strawberry.field(
        description="Null for a file that is not the code of a known job."
    )
    kind: str = strawberry.field(description="JOB, DATASET, ANSWER or FILE.")
    namespace: str | None
    name: str
    asset_type: str = strawberry.field(
        description="The type that its producer reports: dbt_model, dag, spark_job, ..."
    )
    severity: str = strawberry.field(
        description="breaking: it references the changed column or table. unknown: it reads the "
        "dataset, and its code is not known. warning: it may be affected, and nothing is shown to "
        "break."
    )
    references: list[str] = strawberry.field(description="The columns that it references.")
    evidence: list[Evidence]
    distance: int = strawberry.field(
        description="The number of assets from the change to it, itself included; 0 for a writer."
    )
    owners: list[str]
    certified: bool = strawberry.field(
        description="True if it, or a dataset that it writes, has the tag certified or canonical."
    )
    outputs: list[ID] = strawberry.field(description="The urns of the datasets that it writes.")

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


@strawberry.type(description="The assets that planned changes affect together.")
class ImpactReport:
    risk_level: str = strawberry.field(
        description="high: an asset breaks, the effect on it is unknown, or a certified asset is "
        "affected. medium: only "
        "warnings or hidden "
        "assets. low: no asset is affected."
    )
    affected_count: int
    breaking_count: int
    unknown_count: int
    warning_count: int
    certified_count: int
    affected: list[AffectedAsset] = strawberry.field(description="Nearest first.")
    owners: list[str] = strawberry.field(description="The owners of the affected assets.")
    hidden_affected: bool = strawberry.field(
        description="True if assets are affected that are not visible to the key."
    )
    truncated: bool
    truncated_by: str | None = strawberry.field(description=TRUNCATED_BY)
    notes: list[str] = strawberry.field(
        description="Remarks on the changes, for example an unknown column."
    )

    @classmethod
    def of(cls, found: Report) -> ImpactReport:
        return cls(
            risk_level=found.risk_level,
            affected_count=found.affected_count,
            breaking_count=found.breaking_count,
            unknown_count=found.unknown_count,
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
    @resolver("The assets that planned changes would affect, with severity and evidence.")
    async def impact(
        self,
        info: Info,
        changes: Annotated[
            list[ChangeInput],
            strawberry.argument(description="At most 200 changes, assessed together."),
        ],
        include_stale: Annotated[
            bool, strawberry.argument(description="Include former readers.")
        ] = False,
    ) -> ImpactReport | None:
        parsed = parse_changes([change.as_json() for change in changes])
        view = info.context.view
        return ImpactReport.of(
            await info.context.run_in_code_thread(assess, view, parsed, include_stale=include_stale)
        )
