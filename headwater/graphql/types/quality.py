"""Quality and freshness as the schema shows them, on datasets and versions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Annotated

import strawberry

from headwater.errors import QueryError
from headwater.graphql.context import Info
from headwater.graphql.types.fields import checked_first, resolver
from headwater.graphql.types.scalars import ID, Long
from headwater.lineage.questions.freshness import Freshness as KnownFreshness
from headwater.lineage.questions.freshness import SourceAge, evaluate
from headwater.lineage.questions.quality import Assertion as SaidAssertion
from headwater.lineage.questions.quality import ColumnMeasure, Measure
from headwater.lineage.questions.quality import Quality as SaidQuality

# What an Int holds: 68 years.
_SECONDS_MAX = 2**31 - 1
_RUN = "The run that said it, by urn; null where it was said of the dataset itself."
_VERSION = "The version that it was said of, by urn; null where it was said of the dataset itself."


@strawberry.type(description="The newest result of one check.")
class Assertion:
    name: str = strawberry.field(
        description="The name of the check, or else what it asserts: not_null, unique, ..."
    )
    column: str | None
    success: bool
    severity: str | None
    expected: str | None
    actual: str | None
    reported_at: datetime | None = strawberry.field(
        description="When the run that said it ended, or when it was sent."
    )
    run_urn: ID | None = strawberry.field(description=_RUN)
    version_urn: ID | None = strawberry.field(description=_VERSION)

    @classmethod
    def of(cls, said: SaidAssertion) -> Assertion:
        return cls(
            name=said.name,
            column=said.column,
            success=said.success,
            severity=said.severity,
            expected=said.expected,
            actual=said.actual,
            reported_at=said.reported_at,
            run_urn=said.run,
            version_urn=said.version,
        )


@strawberry.type(description="A quantile of a column.")
class Quantile:
    q: str = strawberry.field(description="For example 0.95.")
    value: float


@strawberry.type(description="What was measured in one column.")
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
    def of(cls, said: ColumnMeasure) -> ColumnMetrics:
        return cls(
            column=said.column,
            null_count=_long(said.null_count),
            distinct_count=_long(said.distinct_count),
            sum=said.sum,
            count=said.count,
            min=said.min,
            max=said.max,
            quantiles=[Quantile(q=q, value=value) for q, value in sorted(said.quantiles.items())],
        )


@strawberry.type(description="What was measured in one version at one time.")
class Metrics:
    row_count: Long | None
    bytes: Long | None
    file_count: Long | None
    columns: list[ColumnMetrics]
    reported_at: datetime | None = strawberry.field(
        description="When the run that said it ended, or when it was sent."
    )
    run_urn: ID | None = strawberry.field(description=_RUN)
    version_urn: ID | None = strawberry.field(description=_VERSION)

    @classmethod
    def of(cls, said: Measure) -> Metrics:
        return cls(
            row_count=_long(said.row_count),
            bytes=_long(said.bytes),
            file_count=_long(said.file_count),
            columns=[ColumnMetrics.of(column) for column in said.columns],
            reported_at=said.reported_at,
            run_urn=said.run,
            version_urn=said.version,
        )


@strawberry.type(
    description="What checks said of a dataset or a version, and what was measured in it."
)
class Quality:
    failed: int = strawberry.field(description="How many checks failed, each by its newest result.")
    assertions: list[Assertion] = strawberry.field(
        description="Every check by its newest result, those that failed first."
    )
    measures: strawberry.Private[list[Measure]]

    @resolver("What was measured, the newest first.")
    def metrics(self, first: int = 1) -> list[Metrics]:
        return [Metrics.of(measure) for measure in self.measures[: checked_first(first)]]

    @classmethod
    def of(cls, said: SaidQuality) -> Quality:
        assertions = [Assertion.of(one) for one in said.assertions]
        return cls(failed=said.failed, assertions=assertions, measures=said.measures)


@strawberry.enum(
    description="Whether data is as new as it has to be. UNKNOWN: it cannot be shown, so nothing should rest on it."
)
class FreshnessState(Enum):
    FRESH = "FRESH"
    STALE = "STALE"
    UNKNOWN = "UNKNOWN"


@strawberry.type(
    description="The newest data of one dataset that nothing is known to have gone into."
)
class SourceFreshness:
    urn: ID = strawberry.field(description="The dataset.")
    newest_at: datetime | None = strawberry.field(
        description="When that data was made or captured; where `exact` is false no later than this, or (null) unknown."
    )
    exact: bool = strawberry.field(
        description="False where nobody told of a capture of it before the run that read it, or told of one since."
    )

    @classmethod
    def of(cls, reached: SourceAge) -> SourceFreshness:
        return cls(urn=reached.dataset, newest_at=reached.newest_at, exact=reached.exact)


@strawberry.type(
    description="Whether a dataset and everything that went into it is new enough, and because of what."
)
class FreshnessVerdict:
    state: FreshnessState
    causes: list[SourceFreshness] = strawberry.field(
        description="STALE: what is too old, the oldest first. UNKNOWN: what no time is told of."
    )
    explanation: str


@strawberry.type(
    description="How fresh a dataset is: its own newest data, and that of each source which really got into it."
)
class Freshness:
    newest_at: datetime | None = strawberry.field(
        description="When its newest complete version was made, or else its newest capture; null when none is known."
    )
    newest_urn: ID | None = strawberry.field(description="That version or capture, by urn.")
    age_seconds: float | None = strawberry.field(description="How long ago that was.")
    effective_at: datetime | None = strawberry.field(
        description="The oldest of its sources' newest data in it: what it is really as fresh as. Null when unknown."
    )
    effective_age_seconds: float | None
    exact: bool = strawberry.field(description="Whether it is that old and no older.")
    sources: list[SourceFreshness] = strawberry.field(
        description="What it was made from in the end, the stalest first; those of which no time is known before all."
    )
    incomplete_reason: str | None = strawberry.field(
        description="Why there may be more sources: depth, nodes, edges, time, or visibility (part of it is not visible)."
    )
    known: strawberry.Private[KnownFreshness]

    @resolver("Whether it, and all that went into it, is no older than so many seconds.")
    def verdict(
        self,
        max_age_seconds: Annotated[
            int, strawberry.argument(description="Seconds, for example 86400.")
        ],
    ) -> FreshnessVerdict:
        if not 0 < max_age_seconds <= _SECONDS_MAX:
            raise QueryError(
                f"maxAgeSeconds {max_age_seconds} is not between 1 and {_SECONDS_MAX} seconds"
            )
        found = evaluate(
            self.known, max_age=timedelta(seconds=max_age_seconds), now=datetime.now(UTC)
        )
        causes = [SourceFreshness.of(reached) for reached in found.causes]
        return FreshnessVerdict(
            state=FreshnessState(found.state), causes=causes, explanation=found.explanation
        )

    @classmethod
    def of(cls, known: KnownFreshness) -> Freshness:
        now = datetime.now(UTC)
        return cls(
            newest_at=known.newest_at,
            newest_urn=known.version,
            age_seconds=_age(known.newest_at, now),
            effective_at=known.effective_at,
            effective_age_seconds=_age(known.effective_at, now),
            exact=known.exact,
            sources=[SourceFreshness.of(reached) for reached in known.sources],
            incomplete_reason=known.reason or None,
            known=known,
        )


def _long(count: int | None) -> Long | None:
    return None if count is None else Long(count)


def _age(at: datetime | None, now: datetime) -> float | None:
    return None if at is None else (now - at).total_seconds()


async def quality_of(info: Info, urn: str) -> Quality:
    return Quality.of(await info.context.quality.load(urn))


async def freshness_of(info: Info, urn: str) -> Freshness:
    return Freshness.of(await info.context.freshness.load(urn))
