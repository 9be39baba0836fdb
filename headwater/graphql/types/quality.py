"""Quality and freshness of datasets and versions in the schema."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Annotated

import strawberry

from headwater.graphql.context import Info
from headwater.graphql.types.enums import described
from headwater.graphql.types.fields import First, page_length, resolver
from headwater.graphql.types.scalars import ID, Long, long_or_none
from headwater.lineage.pagination import require_between
from headwater.lineage.questions.freshness import Freshness as KnownFreshness
from headwater.lineage.questions.freshness import SourceAge, evaluate
from headwater.lineage.questions.quality import Assertion as ReportedAssertion
from headwater.lineage.questions.quality import ColumnMeasure, Measure
from headwater.lineage.questions.quality import Quality as ReportedQuality

# The largest Int of GraphQL: 68 years in seconds.
_SECONDS_MAX = 2**31 - 1
_RUN_URN = "The run that reported it; null if the dataset's own event did."
_VERSION_URN = "The version that it describes; null if it describes the dataset."
_REPORTED_AT = "The end of the run that reported it, or the time of the dataset's event."


@strawberry.type(description="The newest result of one check.")
class Assertion:
    name: str = strawberry.field(
        description="The name of the check, or else its assertion: not_null, unique, ..."
    )
    column: str | None
    success: bool
    severity: str | None
    expected: str | None
    actual: str | None
    reported_at: datetime | None = strawberry.field(description=_REPORTED_AT)
    run_urn: ID | None = strawberry.field(description=_RUN_URN)
    version_urn: ID | None = strawberry.field(description=_VERSION_URN)

    @classmethod
    def of(cls, reported: ReportedAssertion) -> Assertion:
        return cls(
            name=reported.name,
            column=reported.column,
            success=reported.success,
            severity=reported.severity,
            expected=reported.expected,
            actual=reported.actual,
            reported_at=reported.reported_at,
            run_urn=reported.run,
            version_urn=reported.version,
        )


@strawberry.type(description="A quantile of a column.")
class Quantile:
    q: str = strawberry.field(description="For example 0.95.")
    value: float


@strawberry.type(description="The measurements of one column.")
class ColumnMetrics:
    column: str
    null_count: Long | None
    distinct_count: Long | None
    sum: float | None
    count: float | None
    min: float | None
    max: float | None
    quantiles: list[Quantile]

    @classmethod
    def of(cls, measure: ColumnMeasure) -> ColumnMetrics:
        quantiles = sorted(measure.quantiles.items())
        return cls(
            column=measure.column,
            null_count=long_or_none(measure.null_count),
            distinct_count=long_or_none(measure.distinct_count),
            sum=measure.sum,
            count=measure.count,
            min=measure.min,
            max=measure.max,
            quantiles=[Quantile(q=q, value=value) for q, value in quantiles],
        )


@strawberry.type(description="The measurements of one version at one time.")
class Metrics:
    row_count: Long | None
    bytes: Long | None
    file_count: Long | None
    columns: list[ColumnMetrics]
    reported_at: datetime | None = strawberry.field(description=_REPORTED_AT)
    run_urn: ID | None = strawberry.field(description=_RUN_URN)
    version_urn: ID | None = strawberry.field(description=_VERSION_URN)

    @classmethod
    def of(cls, measure: Measure) -> Metrics:
        return cls(
            row_count=long_or_none(measure.row_count),
            bytes=long_or_none(measure.bytes),
            file_count=long_or_none(measure.file_count),
            columns=[ColumnMetrics.of(column) for column in measure.columns],
            reported_at=measure.reported_at,
            run_urn=measure.run,
            version_urn=measure.version,
        )


@strawberry.type(description="The check results and measurements of a dataset or a version.")
class Quality:
    failed: int = strawberry.field(description="The number of checks whose newest result failed.")
    assertions: list[Assertion] = strawberry.field(
        description="The newest result of each check, failed ones first."
    )
    measures: strawberry.Private[list[Measure]]

    @resolver("The measurements, newest first.")
    def metrics(self, first: First = 1) -> list[Metrics]:
        return [Metrics.of(measure) for measure in self.measures[: page_length(first, default=1)]]

    @classmethod
    def of(cls, reported: ReportedQuality) -> Quality:
        assertions = [Assertion.of(assertion) for assertion in reported.assertions]
        return cls(failed=reported.failed, assertions=assertions, measures=reported.measures)


@strawberry.enum(
    description="Whether data meets a required age. UNKNOWN: too little is known to decide, so do "
    "not rely on the data."
)
class FreshnessState(Enum):
    FRESH = described("FRESH", "The data is young enough.")
    STALE = described("STALE", "The data, or data that went into it, is too old.")
    UNKNOWN = described("UNKNOWN", "The time of some data is unknown.")


@strawberry.type(description="The newest data of one upstream dataset without known inputs.")
class SourceFreshness:
    urn: ID = strawberry.field(description="The dataset.")
    newest_at: datetime | None = strawberry.field(
        description="The time when that data was created or captured; null if unknown. If `exact` "
        "is false, the data may be older."
    )
    exact: bool = strawberry.field(
        description="False if no capture before the reading run is known, or a later one is."
    )

    @classmethod
    def of(cls, reached: SourceAge) -> SourceFreshness:
        return cls(urn=reached.dataset, newest_at=reached.newest_at, exact=reached.exact)


@strawberry.type(
    description="Whether a dataset and its upstream data meet a required age, with the causes."
)
class FreshnessVerdict:
    state: FreshnessState
    causes: list[SourceFreshness] = strawberry.field(
        description="STALE: the data that is too old, oldest first. UNKNOWN: the data whose time "
        "is unknown."
    )
    explanation: str


@strawberry.type(
    description="The age of a dataset: of its own newest data, and of the upstream data that went "
    "into that."
)
class Freshness:
    newest_at: datetime | None = strawberry.field(
        description="The time of its newest complete version, or else of its newest capture; null "
        "if neither is known."
    )
    newest_urn: ID | None = strawberry.field(description="That version or capture.")
    age_seconds: float | None = strawberry.field(description="The age of that data.")
    effective_at: datetime | None = strawberry.field(
        description="The oldest `newestAt` of its sources; null if one is unknown."
    )
    effective_age_seconds: float | None
    exact: bool = strawberry.field(description="False if the data may be older than that.")
    sources: list[SourceFreshness] = strawberry.field(
        description="The datasets at the start of its lineage: unknown times first, then oldest "
        "first."
    )
    incomplete_reason: str | None = strawberry.field(
        description="Why sources may be missing: depth, nodes, edges, time, or visibility (the key "
        "does not see all of them). Null if none are."
    )
    known: strawberry.Private[KnownFreshness]

    @resolver("Compare the age of the dataset and of its upstream data with a limit.")
    def verdict(
        self,
        max_age_seconds: Annotated[
            int, strawberry.argument(description="The limit in seconds, for example 86400.")
        ],
    ) -> FreshnessVerdict:
        require_between("maxAgeSeconds", max_age_seconds, 1, _SECONDS_MAX)
        limit = timedelta(seconds=max_age_seconds)
        verdict = evaluate(self.known, max_age=limit, now=datetime.now(UTC))
        return FreshnessVerdict(
            state=FreshnessState(verdict.state),
            causes=[SourceFreshness.of(reached) for reached in verdict.causes],
            explanation=verdict.explanation,
        )

    @classmethod
    def of(cls, known: KnownFreshness) -> Freshness:
        now = datetime.now(UTC)
        return cls(
            newest_at=known.newest_at,
            newest_urn=known.version,
            age_seconds=_age_seconds(known.newest_at, now),
            effective_at=known.effective_at,
            effective_age_seconds=_age_seconds(known.effective_at, now),
            exact=known.exact,
            sources=[SourceFreshness.of(reached) for reached in known.sources],
            incomplete_reason=known.reason or None,
            known=known,
        )


def _age_seconds(instant: datetime | None, now: datetime) -> float | None:
    return None if instant is None else (now - instant).total_seconds()


async def quality_of(info: Info, urn: str) -> Quality:
    """Return the quality of a dataset or a version."""
    return Quality.of(await info.context.quality.load(urn))


async def freshness_of(info: Info, urn: str) -> Freshness:
    """Return the freshness of a dataset."""
    return Freshness.of(await info.context.freshness.load(urn))
