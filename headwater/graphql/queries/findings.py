"""Findings in the schema: what is wrong with which node, who is affected, and what caused it."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Annotated

import strawberry

from headwater.errors import NotFoundError, QueryError
from headwater.graphql.context import Info
from headwater.graphql.types.enums import Tier
from headwater.graphql.types.fields import After, Before, First, Last, resolver
from headwater.graphql.types.lineage_node import Finding, Open
from headwater.graphql.types.results import Connection
from headwater.graphql.types.scalars import ID
from headwater.health.findings import listing
from headwater.health.findings.listing import FindingFilter
from headwater.health.findings.rules import RULES
from headwater.lineage.nodes import resolve_urn
from headwater.lineage.pagination import page_request

Rule = Annotated[
    str | None, strawberry.argument(description="Only findings of this rule, as failed-run.")
]
OfTier = Annotated[Tier | None, strawberry.argument(description="Only findings of this severity.")]
OfNamespace = Annotated[
    str | None, strawberry.argument(description="Only findings on nodes of this namespace.")
]


@strawberry.type
class FindingQueries:
    @resolver(
        "Detected problems, the newest evidence first, with who is affected by each and the "
        "finding that caused it."
    )
    async def findings(
        self,
        info: Info,
        open: Open = None,
        rule: Rule = None,
        tier: OfTier = None,
        urn: Annotated[
            ID | None, strawberry.argument(description="Only findings on this node.")
        ] = None,
        owner: Annotated[
            str | None, strawberry.argument(description="Only findings on nodes of this owner.")
        ] = None,
        namespace: OfNamespace = None,
        # strawberry reserves the name `root`.
        caused_by: Annotated[
            ID | None,
            strawberry.argument(
                name="root", description="Only the finding of this id and those that it caused."
            ),
        ] = None,
        since: Annotated[
            datetime | None,
            strawberry.argument(description="Only findings that were open at this time or later."),
        ] = None,
        until: Annotated[
            datetime | None,
            strawberry.argument(description="Only findings that were open before this time."),
        ] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Finding] | None:
        view, run_in_thread = info.context.view, info.context.run_in_thread
        filter = FindingFilter(
            open=open,
            rule=known_rule(rule),
            tier=tier.value if tier else "",
            subject=await run_in_thread(resolve_urn, view, urn) if urn else "",
            owner=owner or "",
            namespace=namespace or "",
            root=caused_by or "",
            since=since,
            until=until,
        )
        request = page_request(first, after, last, before)
        page = await run_in_thread(listing.findings, view, filter, request)
        count = partial(run_in_thread, listing.count_findings, view, filter)
        return Connection.of(page, map(Finding.of, page.entries), count)

    @resolver("The finding with this id.")
    async def finding(self, info: Info, id: ID) -> Finding | None:
        found = await info.context.finding.load(id)
        if found is None:
            raise NotFoundError(
                f"there is no finding {id[:200]!r}",
                hint="List the findings with `findings`; a late event may have withdrawn it.",
            )
        return Finding.of(found)


def known_rule(rule: str | None) -> str:
    """Return the name of a rule, "" for none. Raises QueryError for an unknown one."""
    if rule and rule not in RULES:
        raise QueryError(f"there is no rule {rule[:80]!r}", hint=f"Rules: {', '.join(RULES)}.")
    return rule or ""
