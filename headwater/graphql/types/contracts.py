"""Data contracts in the schema: their clauses, and who broke them."""

from __future__ import annotations

from datetime import datetime

import msgspec
import strawberry
from strawberry.scalars import JSON

from headwater.governance.contracts import diff
from headwater.governance.contracts.evaluate import ClauseState, Violation
from headwater.graphql.context import Info
from headwater.graphql.types.enums import ContractState
from headwater.graphql.types.fields import resolver
from headwater.graphql.types.nodes import Dataset, Job, PipelineRun
from headwater.graphql.types.scalars import ID
from headwater.health.contracts import DatasetContract
from headwater.schema.contracts import ContractVersion as Version
from headwater.schema.events import to_datetime
from headwater.schema.facets.contracts import ContractFacet


@strawberry.type(description="One promise of a contract, with what was last observed about it.")
class ContractClause:
    clause: str = strawberry.field(
        description="Its kind: column, type, required, unique, rule or freshness."
    )
    column: str | None = strawberry.field(description="The column; null for the whole dataset.")
    expected: str = strawberry.field(description="What is promised.")
    kept: bool | None = strawberry.field(description="Null if nothing was observed about it.")
    actual: str | None = strawberry.field(description="What was observed; null without facts.")
    observed_at: datetime | None = strawberry.field(description="When that was observed.")
    since: datetime | None = strawberry.field(
        description="From when on it is kept or broken without a break; null without facts."
    )

    @classmethod
    def of(cls, state: ClauseState) -> ContractClause:
        return cls(
            clause=state.clause.kind,
            column=state.clause.column or None,
            expected=state.clause.expected,
            kept=state.outcome.kept,
            actual=state.outcome.actual or None,
            observed_at=state.at,
            since=state.since,
        )


@strawberry.type(description="A broken clause of a contract, from when to when.")
class ContractViolation:
    urn: strawberry.Private[str]
    violation: strawberry.Private[Violation]

    @resolver("The dataset that broke its contract.")
    async def dataset(self, info: Info) -> Dataset:
        return (await Dataset.all(info, [self.urn]))[0]

    @resolver("The id of the contract.")
    def contract_id(self) -> ID:
        return ID(self.violation.contract_id)

    @resolver("The version of the contract.")
    def contract_version(self) -> str:
        return self.violation.version

    @resolver("The kind of the clause: column, type, required, unique, rule or freshness.")
    def clause(self) -> str:
        return self.violation.clause.kind

    @resolver("The column; null for the whole dataset.")
    def column(self) -> str | None:
        return self.violation.clause.column or None

    @resolver("What is promised.")
    def expected(self) -> str:
        return self.violation.clause.expected

    @resolver("What was observed.")
    def actual(self) -> str:
        return self.violation.actual

    @resolver("Since when it was broken while its contract was in force.")
    def since(self) -> datetime:
        return self.violation.since

    @resolver("When it was kept again, or its contract ended; null while it is broken.")
    def until(self) -> datetime | None:
        return self.violation.ended_at

    @resolver("The version or the schema that broke it, or a few words.")
    def begun_by(self) -> str:
        return self.violation.begun_by

    @resolver("The version that kept it again, or a few words; null while it is broken.")
    def ended_by(self) -> str | None:
        return self.violation.ended_by

    @resolver("The run that broke it; null if none is known or the key does not see it.")
    async def run(self, info: Info) -> PipelineRun | None:
        row = await info.context.nodes.load(self.violation.run) if self.violation.run else None
        return PipelineRun.of(row) if row else None

    @resolver("The job that broke it; null if none is known or the key does not see it.")
    async def job(self, info: Info) -> Job | None:
        row = await info.context.nodes.load(self.violation.job) if self.violation.job else None
        return Job.of(row) if row else None

    @resolver("The jobs that currently read the dataset.")
    async def consumers(self, info: Info) -> list[Job]:
        links = await info.context.dataset_links.load(self.urn)
        return await Job.all(info, links.get("readers", []))


@strawberry.type(description="A clause that a version of a contract added, removed or changed.")
class ContractChange:
    change: str = strawberry.field(description="added, removed or changed.")
    clause: str = strawberry.field(
        description="Its kind: column, type, required, unique, rule or freshness."
    )
    column: str | None = strawberry.field(description="The column; null for the whole dataset.")
    before: str | None = strawberry.field(description="What was promised; null for a new clause.")
    after: str | None = strawberry.field(description="What is promised; null for a removed one.")
    breaking: bool = strawberry.field(description="True if it may break a consumer.")

    @classmethod
    def of(cls, one: diff.ContractChange) -> ContractChange:
        return cls(
            change=one.change,
            clause=one.clause,
            column=one.column or None,
            before=one.before or None,
            after=one.after or None,
            breaking=one.is_breaking,
        )


@strawberry.type(description="One version of a data contract.")
class ContractVersion:
    version: str = strawberry.field(description="Its number.")
    since: datetime = strawberry.field(description="When it took effect, or will.")
    until: datetime | None = strawberry.field(
        description="When a newer version took effect; null for the newest."
    )
    digest: str | None = strawberry.field(description="The hash of its content.")
    facet: strawberry.Private[ContractFacet]
    earlier: strawberry.Private[ContractFacet | None]

    @resolver("What changed since the version before, by clause; null for the first one.")
    def changes(self) -> list[ContractChange] | None:
        if self.earlier is None:
            return None
        return [ContractChange.of(one) for one in diff.contract_diff(self.earlier, self.facet)]

    @classmethod
    def of(cls, one: Version, earlier: Version | None) -> ContractVersion:
        return cls(
            facet=one.facet,
            earlier=earlier.facet if earlier else None,
            version=one.facet.version,
            since=to_datetime(one.begin),
            until=to_datetime(one.end) if one.end is not None else None,
            digest=one.facet.digest,
        )


@strawberry.type(description="A data contract about a dataset: its newest version and its state.")
class Contract:
    found: strawberry.Private[DatasetContract]

    @property
    def _facet(self) -> ContractFacet:
        return self.found.assessment.version.facet

    @resolver("The id of the contract.")
    def contract_id(self) -> ID:
        return ID(self._facet.contract_id)

    @resolver("The newest version of the contract.")
    def version(self) -> str:
        return self._facet.version

    @resolver("All its versions, oldest first.")
    def versions(self) -> list[ContractVersion]:
        versions = self.found.versions
        earlier = [None, *versions]
        return [ContractVersion.of(*pair) for pair in zip(versions, earlier, strict=False)]

    @resolver("Its name.")
    def name(self) -> str | None:
        return self._facet.name

    @resolver("Its status, as the contract says it: active, draft, retired.")
    def status(self) -> str | None:
        return self._facet.status

    @resolver("Whether its newest version promises anything: no draft, and not retired.")
    def is_binding(self) -> bool:
        return self.found.assessment.version.is_binding

    @resolver("Who answers for it.")
    def owners(self) -> list[str]:
        return [owner.name for owner in self._facet.owners or ()]

    @resolver("When its newest version took effect, or will.")
    def since(self) -> datetime:
        return to_datetime(self.found.assessment.version.begin)

    @resolver("The dataset; null if the graph has none of its name.")
    async def dataset(self, info: Info) -> Dataset | None:
        found = await Dataset.all(info, [self.found.urn]) if self.found.urn else []
        return found[0] if found else None

    @resolver("Whether its newest version is kept.")
    def state(self) -> ContractState:
        return ContractState(self.found.assessment.state.value)

    @resolver("Its clauses, each with what was last observed.")
    def clauses(self) -> list[ContractClause]:
        return [ContractClause.of(state) for state in self.found.assessment.clauses]

    @resolver("The violations of all its versions, earliest first.")
    def violations(self) -> list[ContractViolation]:
        return [
            ContractViolation(urn=self.found.urn, violation=one) for one in self.found.violations
        ]

    @resolver("Its content, as the facet of the newest version.")
    def content(self) -> JSON:
        return JSON(msgspec.to_builtins(self._facet))
