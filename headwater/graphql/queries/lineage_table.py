"""Large lineages as columns: one JSON value instead of an object for each node and edge."""

from __future__ import annotations

import msgspec
import strawberry
from strawberry.scalars import JSON

from headwater.graphql.context import Info
from headwater.graphql.queries.lineage import (
    After,
    AsOf,
    DatasetName,
    Depth,
    Fresh,
    JobName,
    Level,
    LineageFilter,
    Urn,
    Urns,
    read_starts,
)
from headwater.graphql.types.enums import Direction
from headwater.graphql.types.fields import resolver
from headwater.lineage.questions.lineage_table import lineage_table
from headwater.lineage.traversal.filters import EVERY_NODE
from headwater.lineage.traversal.request import DEPTH_DEFAULT, LineageRequest


@strawberry.type
class TableQueries:
    @resolver(
        "The answer of `lineage` as columns, with up to 100,000 nodes and 200,000 edges: {starts, "
        "nodes: {urn, kind, namespace, name, distance}, edges: {source, target, type}, truncated, "
        "omitted_count, continuations: {urn, cursor, omitted_count}}. Each column is a list "
        "with one "
        "value per row. `source` and `target` are indexes of node rows. `truncated` names the"
        " limit "
        "that truncated it."
    )
    async def lineage_table(
        self,
        info: Info,
        urn: Urn = None,
        dataset: DatasetName | None = None,
        job: JobName | None = None,
        direction: Direction = Direction.BOTH,
        depth: Depth = DEPTH_DEFAULT,
        level: Level = "",
        as_of: AsOf = None,
        urns: Urns = None,
        filter: LineageFilter | None = None,
        after: After = None,
        fresh: Fresh = False,
    ) -> JSON | None:
        request = LineageRequest(
            tuple(read_starts(urn, dataset, job, urns)),
            direction=direction.value,
            depth=depth,
            level=level,
            as_of=as_of,
            filter=filter.to_filter() if filter else EVERY_NODE,
            after=after,
            fresh=fresh,
        )
        table = await info.context.run_in_thread(lineage_table, info.context.view, request)
        return JSON(msgspec.to_builtins(table))
