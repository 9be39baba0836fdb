"""The questions of the schema. Each resolver checks its arguments, asks `headwater.cypher`, and shapes the answer.

A single thing that is not there is null; a walk from something that is not there is an error, because an empty
lineage would say that nothing is connected to it.
"""

from __future__ import annotations

from typing import Annotated

import strawberry

from headwater.errors import QueryError
from headwater.graphql.context import Info
from headwater.graphql.queries.conformance import Conformance, Producer
from headwater.graphql.queries.estate import EstateQueries
from headwater.graphql.queries.failures import FailureQueries
from headwater.graphql.queries.impact import ImpactQueries
from headwater.graphql.queries.lineage import LineageQueries, Urn
from headwater.graphql.queries.lineage_table import TableQueries
from headwater.graphql.types.aliases import Alias
from headwater.graphql.types.fields import After, First, checked_first, resolver
from headwater.graphql.types.nodes import Answer, Dataset, Job, PipelineRun
from headwater.graphql.types.results import Connection
from headwater.graphql.types.scalars import ID
from headwater.lineage.nodes import resolve_urn
from headwater.lineage.pagination import Page
from headwater.lineage.questions import aliases, conformance
from headwater.lineage.questions import schema_diff as schemas
from headwater.schema.urns import answer_urn, dataset_urn, job_urn, parse_urn, run_urn


@strawberry.type
class Query(EstateQueries, FailureQueries, ImpactQueries, LineageQueries, TableQueries):
    @resolver("One run by its id. Null when it is unknown.")
    async def run(self, info: Info, run_id: ID) -> PipelineRun | None:
        row = await info.context.nodes.load(run_urn(run_id))
        return PipelineRun.of(row) if row else None

    @resolver(
        "One dataset, by namespace and name or by urn; by any of its names. Null when it is unknown."
    )
    async def dataset(
        self, info: Info, namespace: str | None = None, name: str | None = None, urn: Urn = None
    ) -> Dataset | None:
        wanted = _one_urn("dataset", urn, namespace, name)
        row = await info.context.nodes.load(wanted)
        if row is None:
            row = await info.context.nodes.load(
                await info.context.run_in_thread(resolve_urn, info.context.view, wanted)
            )
        return (
            Dataset(urn=row["urn"], namespace=row["namespace"], name=row["name"]) if row else None
        )

    @resolver("One job, by namespace and name or by urn. Null when it is unknown.")
    async def job(
        self, info: Info, namespace: str | None = None, name: str | None = None, urn: Urn = None
    ) -> Job | None:
        wanted = _one_urn("job", urn, namespace, name)
        row = await info.context.nodes.load(wanted)
        return Job(urn=wanted, namespace=row["namespace"], name=row["name"]) if row else None

    @resolver("One answer by its id. Null when it is unknown.")
    async def answer(self, info: Info, answer_id: ID) -> Answer | None:
        row = await info.context.nodes.load(answer_urn(answer_id))
        return Answer(urn=row["urn"], answer_id=row["answerId"]) if row else None

    @resolver("How two schemas differ: added, dropped and retyped columns.")
    async def schema_diff(
        self,
        info: Info,
        before: Annotated[
            ID, strawberry.argument(description="A schema, or a version of a dataset, by urn.")
        ],
        after: Annotated[
            ID, strawberry.argument(description="A schema, or a version of a dataset, by urn.")
        ],
    ) -> list[str]:
        return await info.context.run_in_thread(
            schemas.schema_diff, info.context.view, before, after
        )

    @resolver("What producers' events do against the specification, how often, and how to fix it.")
    async def conformance(
        self,
        info: Info,
        producer: Annotated[
            str, strawberry.argument(description="Only producers whose name begins so.")
        ] = "",
        first: First = 100,
    ) -> Conformance:
        found = await info.context.run_in_thread(
            conformance.producers, info.context.view, producer=producer, first=first
        )
        return Conformance(producers=[Producer.of(counted) for counted in found])

    @resolver("Names that go by another dataset: why, and since when.")
    async def aliases(
        self, info: Info, first: First = 100, after: After = None
    ) -> Connection[Alias]:
        found = await info.context.run_in_thread(
            aliases.list_aliases,
            info.context.view,
            first=checked_first(first) + 1,
            after=after or "",
        )
        shown = Page(found[:first], [one.urn for one in found[:first]], len(found) > first)
        return Connection.of(shown, map(Alias.of, shown.entries), after)


def _one_urn(kind: str, urn: str | None, namespace: str | None, name: str | None) -> str:
    if urn is not None and namespace is None and name is None:
        if parse_urn(urn).kind != kind:
            raise QueryError(f"{urn!r} is not the urn of a {kind}")
        return urn
    if urn is None and namespace is not None and name is not None:
        return dataset_urn(namespace, name) if kind == "dataset" else job_urn(namespace, name)
    raise QueryError(f"a {kind} is asked for either by namespace and name or by urn")
