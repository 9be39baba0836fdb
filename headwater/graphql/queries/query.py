"""The root type of queries.

Each resolver checks its arguments, runs a question of `headwater.lineage`, and shapes the answer. A
field that fails is null with an error of its own (path, code, hint); its siblings are answered.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import strawberry

from headwater.errors import QueryError
from headwater.graphql.context import Info
from headwater.graphql.queries.alerts import AlertQueries
from headwater.graphql.queries.catalog import CatalogQueries
from headwater.graphql.queries.conformance import Conformance, Producer
from headwater.graphql.queries.contracts import ContractQueries
from headwater.graphql.queries.estate import EstateQueries
from headwater.graphql.queries.failures import FailureQueries
from headwater.graphql.queries.figures import FigureQueries
from headwater.graphql.queries.findings import FindingQueries
from headwater.graphql.queries.impact import ImpactQueries
from headwater.graphql.queries.inventories import InventoryQueries
from headwater.graphql.queries.lineage import LineageQueries, Urn
from headwater.graphql.queries.lineage_table import TableQueries
from headwater.graphql.queries.models import ModelQueries
from headwater.graphql.queries.on_call import OnCallQueries
from headwater.graphql.queries.personal_data import PersonalDataQueries
from headwater.graphql.queries.platform import PlatformQueries
from headwater.graphql.queries.policies import PolicyQueries
from headwater.graphql.queries.service_levels import ServiceLevelQueries
from headwater.graphql.queries.traces import TraceQueries
from headwater.graphql.types.aliases import Alias
from headwater.graphql.types.fields import (
    LONG_PAGE_DEFAULT,
    After,
    First,
    node_not_found,
    page_length,
    resolver,
)
from headwater.graphql.types.nodes import Answer, Dataset, Job, PipelineRun
from headwater.graphql.types.results import Connection
from headwater.graphql.types.scalars import ID
from headwater.lineage.pagination import Page
from headwater.lineage.questions import aliases, conformance
from headwater.lineage.questions import schema_diff as schemas
from headwater.lineage.questions.conformance import PRODUCERS_MAX
from headwater.schema.urns import answer_urn, dataset_urn, job_urn, parse_urn, run_urn


@strawberry.type
class Query(
    AlertQueries,
    CatalogQueries,
    ContractQueries,
    EstateQueries,
    FailureQueries,
    FigureQueries,
    FindingQueries,
    PolicyQueries,
    ImpactQueries,
    InventoryQueries,
    LineageQueries,
    ModelQueries,
    OnCallQueries,
    PersonalDataQueries,
    PlatformQueries,
    ServiceLevelQueries,
    TableQueries,
    TraceQueries,
):
    @resolver("A run by its id.")
    async def run(self, info: Info, run_id: ID) -> PipelineRun | None:
        row = await info.context.load_resolved(run_urn(run_id))
        if row is None:
            raise node_not_found("run", run_id)
        return PipelineRun.of(row)

    @resolver("A dataset, by namespace and name or by urn; aliases work too.")
    async def dataset(
        self, info: Info, namespace: str | None = None, name: str | None = None, urn: Urn = None
    ) -> Dataset | None:
        node_urn = _one_urn("dataset", urn, namespace, name)
        row = await info.context.load_resolved(node_urn)
        if row is None:
            raise node_not_found("dataset", node_urn)
        return Dataset.of(row)

    @resolver("A job, by namespace and name or by urn.")
    async def job(
        self, info: Info, namespace: str | None = None, name: str | None = None, urn: Urn = None
    ) -> Job | None:
        node_urn = _one_urn("job", urn, namespace, name)
        row = await info.context.nodes.load(node_urn)
        if row is None:
            raise node_not_found("job", node_urn)
        return Job.of(row)

    @resolver("An answer by its id.")
    async def answer(self, info: Info, answer_id: ID) -> Answer | None:
        row = await info.context.nodes.load(answer_urn(answer_id))
        if row is None:
            raise node_not_found("answer", answer_id)
        return Answer.of(row)

    @resolver("The differences of two schemas: added, dropped and retyped columns.")
    async def schema_diff(
        self,
        info: Info,
        before: Annotated[
            ID, strawberry.argument(description="A schema or a version of a dataset.")
        ],
        after: Annotated[
            ID, strawberry.argument(description="A schema or a version of a dataset.")
        ],
    ) -> list[str] | None:
        return await info.context.run_in_thread(
            schemas.schema_diff, info.context.view, before, after
        )

    @resolver(
        "The rules of the OpenLineage specification that producers break, with counts and fixes."
    )
    async def conformance(
        self,
        info: Info,
        producer: Annotated[
            str, strawberry.argument(description="Only producers whose URI has this prefix.")
        ] = "",
        first: First = LONG_PAGE_DEFAULT,
    ) -> Conformance | None:
        found = await info.context.run_in_thread(
            conformance.producers,
            info.context.view,
            producer=producer,
            first=page_length(first, LONG_PAGE_DEFAULT, PRODUCERS_MAX),
        )
        return Conformance(producers=[Producer.of(counted) for counted in found])

    @resolver("The aliases of datasets, with the origin and time of each.")
    async def aliases(
        self, info: Info, first: First = LONG_PAGE_DEFAULT, after: After = None
    ) -> Connection[Alias] | None:
        length = page_length(first, LONG_PAGE_DEFAULT)
        found = await info.context.run_in_thread(
            aliases.list_aliases,
            info.context.view,
            first=length + 1,
            after=after or "",
        )
        shown = Page(
            found[:length], [one.urn for one in found[:length]], len(found) > length, bool(after)
        )
        count = partial(info.context.run_in_thread, aliases.count_aliases, info.context.view)
        return Connection.of(shown, map(Alias.of, shown.entries), count)


def _one_urn(kind: str, urn: str | None, namespace: str | None, name: str | None) -> str:
    if urn is not None and namespace is None and name is None:
        if parse_urn(urn).kind != kind:
            raise QueryError(f"urn {urn[:80]!r} is not that of a {kind}")
        return urn
    if urn is None and namespace is not None and name is not None:
        return dataset_urn(namespace, name) if kind == "dataset" else job_urn(namespace, name)
    raise QueryError(
        f"{kind} needs either urn, or namespace and name", hint="Give one of the two forms."
    )
