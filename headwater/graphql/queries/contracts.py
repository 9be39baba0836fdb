"""Data contracts in the schema: which are kept, which are broken, and by whom."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import strawberry
from strawberry.scalars import JSON

from headwater.errors import QueryError
from headwater.graphql.context import Info
from headwater.graphql.types.contracts import Contract, ContractViolation
from headwater.graphql.types.fields import After, First, page_length, resolver
from headwater.graphql.types.results import Connection
from headwater.graphql.types.scalars import ID
from headwater.health import contracts as listing
from headwater.health.contracts import ContractFilter
from headwater.lineage.nodes import resolve_urn
from headwater.lineage.pagination import PAGE_DEFAULT
from headwater.schema.naming import normalise
from headwater.schema.urns import dataset_urn

OfDataset = Annotated[ID | None, strawberry.argument(description="Only those about this dataset.")]
OfContract = Annotated[
    ID | None, strawberry.argument(description="Only those of the contract of this id.")
]


@strawberry.type
class ContractQueries:
    @resolver("The data contracts, by dataset and id, each with the state of its newest version.")
    async def contracts(
        self,
        info: Info,
        urn: OfDataset = None,
        contract_id: OfContract = None,
        first: First = PAGE_DEFAULT,
        after: After = None,
    ) -> Connection[Contract] | None:
        view, run_in_thread = info.context.view, info.context.run_in_thread
        filter = await _filter(info, urn, contract_id)
        ask = partial(
            listing.contracts,
            view,
            filter,
            datetime.now(UTC),
            first=page_length(first),
            after=after or "",
        )
        page = await run_in_thread(ask)
        count = partial(run_in_thread, listing.count_contracts, view, filter)
        return Connection.of(page, [Contract(found=one) for one in page.entries], count)

    @resolver(
        "The violations of data contracts, now and before, by dataset, contract and time: who "
        "broke which clause, from when to when, and who reads the data."
    )
    async def contract_violations(
        self,
        info: Info,
        urn: OfDataset = None,
        contract_id: OfContract = None,
        open: Annotated[
            bool | None,
            strawberry.argument(description="Only those that are still broken, or that ended."),
        ] = None,
        first: First = PAGE_DEFAULT,
        after: After = None,
    ) -> Connection[ContractViolation] | None:
        view, run_in_thread = info.context.view, info.context.run_in_thread
        filter, instant = await _filter(info, urn, contract_id), datetime.now(UTC)
        ask = partial(
            listing.violations,
            view,
            filter,
            instant,
            open=open,
            first=page_length(first),
            after=after or "",
        )
        page = await run_in_thread(ask)
        count = partial(
            run_in_thread, partial(listing.count_violations, view, filter, instant, open=open)
        )
        nodes = [ContractViolation(urn=one.urn, violation=one.violation) for one in page.entries]
        return Connection.of(page, nodes, count)

    @resolver(
        "The state that a contract would have, if it were in force for a dataset now. Nothing is "
        "stored."
    )
    async def contract_check(
        self,
        info: Info,
        namespace: Annotated[str, strawberry.argument(description="The namespace of the dataset.")],
        name: Annotated[str, strawberry.argument(description="The name of the dataset.")],
        contract: Annotated[
            JSON,
            strawberry.argument(
                description="The content of the contract, as `Contract.content` has it."
            ),
        ],
    ) -> Contract | None:
        if not isinstance(contract, dict):
            raise QueryError("`contract` must be a JSON object")
        view, run_in_thread = info.context.view, info.context.run_in_thread
        named = normalise(namespace, name)
        urn = await run_in_thread(resolve_urn, view, dataset_urn(named.namespace, named.name))
        found = await run_in_thread(listing.check_contract, view, urn, contract, datetime.now(UTC))
        return Contract(found=found)


async def _filter(info: Info, urn: str | None, contract_id: str | None) -> ContractFilter:
    known = await info.context.run_in_thread(resolve_urn, info.context.view, urn) if urn else ""
    return ContractFilter(known, contract_id or "")
