"""Queries about all datasets and jobs: search, ownership, use, quality, freshness and coverage."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Annotated

import strawberry

from headwater.errors import QueryError
from headwater.graphql.context import Info
from headwater.graphql.queries.coverage import Coverage, CoverageCounts
from headwater.graphql.types.enums import NodeKind
from headwater.graphql.types.fields import (
    After,
    Before,
    First,
    Last,
    page_length,
    resolver,
)
from headwater.graphql.types.lineage_node import LineageNode
from headwater.graphql.types.nodes import Answer, Dataset, Job
from headwater.graphql.types.quality import Freshness, Quality, freshness_of, quality_of
from headwater.graphql.types.results import (
    CURSOR,
    Connection,
    Edge,
    PageInfo,
    counted,
)
from headwater.graphql.types.scalars import ID, Long, long_or_none
from headwater.lineage.nodes import require_node
from headwater.lineage.pagination import PAGE_DEFAULT
from headwater.lineage.questions import coverage as covered
from headwater.lineage.questions import names as naming
from headwater.lineage.questions import owners as owning
from headwater.lineage.questions import search as searching
from headwater.lineage.questions import usage as using
from headwater.schema.urns import parse_urn

Days = Annotated[
    int, strawberry.argument(description="The length of the window up to now, in days, 1 to 3650.")
]
Namespace = Annotated[str, strawberry.argument(description="Only this namespace; empty for all.")]


@strawberry.type(description="The number of hits with a value.")
class ValueCount:
    value: str
    count: int


@strawberry.type
class SearchEdge:
    cursor: str = strawberry.field(description=CURSOR)
    score: float = strawberry.field(
        description="The relevance among hits whose names match equally well."
    )
    node: LineageNode


@strawberry.type(description="A page of search hits, the best first, with counts of all hits.")
class SearchConnection:
    edges: list[SearchEdge]
    page_info: PageInfo
    total_count: int = strawberry.field(description="The number of hits that pass the filters.")
    truncated: bool = strawberry.field(description="True if only the best 2000 hits were examined.")
    kinds: list[ValueCount] = strawberry.field(
        description="The kinds of all hits before the filters, most frequent first."
    )
    namespaces: list[ValueCount] = strawberry.field(description="The namespaces of these hits.")
    tags: list[ValueCount] = strawberry.field(description="The tags of these hits.")

    @classmethod
    def of(cls, found: searching.SearchResult) -> SearchConnection:
        pairs = zip(found.page.cursors, found.page.entries, strict=True)
        return cls(
            edges=[
                SearchEdge(cursor=cursor, score=hit.score, node=LineageNode.of(hit.node))
                for cursor, hit in pairs
            ],
            page_info=PageInfo.of(found.page),
            total_count=found.count,
            truncated=found.truncated,
            kinds=[ValueCount(**vars(facet)) for facet in found.kinds],
            namespaces=[ValueCount(**vars(facet)) for facet in found.namespaces],
            tags=[ValueCount(**vars(facet)) for facet in found.tags],
        )


@strawberry.type(description="A dataset without readers in the window.")
class UnusedDataset:
    bytes: Long | None = strawberry.field(
        description="The size of its newest complete version; null if unknown."
    )
    last_read_at: datetime | None = strawberry.field(
        description="The start of the last run that read it; null if none did."
    )
    urn: strawberry.Private[str]

    @resolver("The dataset.")
    async def dataset(self, info: Info) -> Dataset:
        return (await Dataset.all(info, [self.urn]))[0]

    @classmethod
    def of(cls, found: using.Unused) -> UnusedDataset:
        return cls(
            bytes=long_or_none(found.bytes), last_read_at=found.last_read_at, urn=found.dataset
        )


@strawberry.type(description="Datasets without readers in the window, the largest first.")
class UnusedConnection:
    edges: list[Edge[UnusedDataset]]
    page_info: PageInfo
    total_count: int = strawberry.field(description="The number of these datasets.")
    bytes: Long = strawberry.field(
        description="The size of all of them, as far as it is known: storage to reclaim."
    )
    unknown_size_count: int = strawberry.field(
        description="The number of datasets of unknown size."
    )

    @classmethod
    def of(cls, found: using.UnusedPage) -> UnusedConnection:
        pairs = zip(found.page.cursors, found.page.entries, strict=True)
        return cls(
            edges=[Edge(cursor=cursor, node=UnusedDataset.of(one)) for cursor, one in pairs],
            page_info=PageInfo.of(found.page),
            total_count=found.count,
            bytes=Long(found.bytes),
            unknown_size_count=found.unknown_size_count,
        )


@strawberry.type(description="A job that read a dataset.")
class Consumer:
    owners: list[str]
    runs: int = strawberry.field(
        description="The number of its runs that started in the window and read the dataset."
    )
    last_read_at: datetime | None = strawberry.field(description="The start of the last such run.")
    rows: Long | None = strawberry.field(
        description="The rows that these runs reported to read; null if none did."
    )
    bytes: Long | None = strawberry.field(
        description="The bytes that these runs reported to read; null if none did."
    )
    seconds: float = strawberry.field(
        description="The cost in seconds: the time of each run, divided by the number of datasets"
        " it read."
    )
    urn: strawberry.Private[str]

    @resolver("The job.")
    async def job(self, info: Info) -> Job:
        return (await Job.all(info, [self.urn]))[0]

    @classmethod
    def of(cls, found: using.Consumer) -> Consumer:
        return cls(
            owners=found.owners,
            runs=found.runs,
            last_read_at=found.last_read_at,
            rows=long_or_none(found.rows),
            bytes=long_or_none(found.bytes),
            seconds=found.seconds,
            urn=found.job,
        )


@strawberry.type(description="The cost of one owner's jobs.")
class CostShare:
    owner: str | None = strawberry.field(description="Null for jobs without an owner.")
    jobs: int
    seconds: float = strawberry.field(
        description="The cost in seconds; several owners of a job share its cost evenly."
    )


@strawberry.type(description="The consumers of a dataset in a window of days.")
class Usage:
    since: datetime
    until: datetime
    runs: int
    seconds: float = strawberry.field(description="The cost of all consumers, in seconds.")
    truncated: bool = strawberry.field(
        description="True if there are more consumers, runs or answers than were read."
    )
    found: strawberry.Private[using.Usage]

    @resolver("The jobs that read it, the costliest first.")
    def consumers(
        self,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Consumer]:
        shown = using.consumers_page(self.found, first=first, after=after, last=last, before=before)
        count = counted(len(self.found.consumers))
        return Connection.of(shown, map(Consumer.of, shown.entries), count)

    @resolver("The cost by owner of these jobs, the highest first.")
    def chargeback(self) -> list[CostShare]:
        return [CostShare(**vars(charge)) for charge in using.chargeback(self.found.consumers)]

    @resolver("The answers of the window that cite it, newest first.")
    async def answers(self, info: Info, first: First = PAGE_DEFAULT) -> list[Answer]:
        length = page_length(first, limit=using.ANSWERS_MAX)
        return await Answer.all(info, self.found.answers[:length])


@strawberry.type(
    description="An owner, as producers name it, with the number of its datasets and jobs."
)
class Owner:
    name: str
    datasets: int
    jobs: int


@strawberry.type(description="Owners, those with the most datasets and jobs first.")
class OwnerConnection:
    edges: list[Edge[Owner]]
    page_info: PageInfo
    total_count: int = strawberry.field(description="The number of owners.")
    unowned_datasets: int = strawberry.field(
        description='The number of datasets without an owner; `ownedBy(owner: "")` lists them.'
    )
    unowned_jobs: int

    @classmethod
    def of(cls, found: owning.Owners) -> OwnerConnection:
        pairs = zip(found.page.cursors, found.page.entries, strict=True)
        return cls(
            edges=[Edge(cursor=cursor, node=Owner(**vars(owner))) for cursor, owner in pairs],
            page_info=PageInfo.of(found.page),
            total_count=found.count,
            unowned_datasets=found.unowned_datasets,
            unowned_jobs=found.unowned_jobs,
        )


def _require_dataset_urn(urn: str) -> str:
    if parse_urn(urn).kind != "dataset":
        raise QueryError(
            f"urn {urn[:80]!r} is not that of a dataset", hint="Write dataset:<namespace>:<name>."
        )
    return urn


@strawberry.type
class EstateQueries:
    @resolver(
        "Datasets, jobs, answers and runs by name: those with this whole name or id; or else with"
        " this namespace and name, joined by `:` or `/`; or else whose name ends so behind a"
        " `/`, `.` or `:`. Sorted by urn."
    )
    async def nodes_by_name(
        self,
        info: Info,
        name: str,
        kinds: Annotated[
            list[NodeKind] | None,
            strawberry.argument(description="DATASET, JOB, ANSWER or PIPELINE_RUN; null for all."),
        ] = None,
        first: First = None,
    ) -> list[LineageNode] | None:
        found = await info.context.run_in_thread(
            naming.nodes_by_name,
            info.context.view,
            name,
            kinds=[kind.value for kind in kinds] if kinds else naming.KINDS,
            first=page_length(first, limit=naming.NODES_MAX),
        )
        return [LineageNode.of(node) for node in found]

    @resolver(
        "Find datasets, jobs and answers by words in names, descriptions, columns, tags and "
        "owners. "
        "Equal names come first, then names with this prefix, then the rest. A run is found by its "
        "whole id, any node by its urn."
    )
    async def search(
        self,
        info: Info,
        text: str,
        kind: Annotated[NodeKind | None, strawberry.argument(description="Only this kind.")] = None,
        namespace: Namespace = "",
        tag: Annotated[
            str,
            strawberry.argument(
                description="Only nodes with this tag: key=value, or key. A tag of a column counts "
                "for its dataset."
            ),
        ] = "",
        owner: Annotated[str, strawberry.argument(description="Only nodes of this owner.")] = "",
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> SearchConnection | None:
        filters = searching.SearchFilters(kind.value if kind else "", namespace, tag, owner)
        found = await info.context.run_in_thread(
            searching.search,
            info.context.view,
            text,
            filters=filters,
            first=first,
            after=after,
            last=last,
            before=before,
        )
        return SearchConnection.of(found)

    @resolver("The freshness of a dataset; aliases work too.")
    async def freshness(self, info: Info, urn: ID) -> Freshness | None:
        row = await info.context.run_in_thread(
            require_node, info.context.view, _require_dataset_urn(urn)
        )
        return await freshness_of(info, row["urn"])

    @resolver("The check results and measurements of a dataset (aliases work too) or a version.")
    async def quality(self, info: Info, urn: ID) -> Quality | None:
        if parse_urn(urn).kind not in ("dataset", "artifact"):
            raise QueryError(f"urn {urn[:80]!r} is not that of a dataset or a version")
        row = await info.context.run_in_thread(require_node, info.context.view, urn)
        return await quality_of(info, row["urn"])

    @resolver(
        "Datasets that no run read and no answer cited in the window, the largest first: "
        "storage to "
        "reclaim. Dropped datasets and datasets newer than the window are not included."
    )
    async def unused_datasets(
        self,
        info: Info,
        days: Days = using.DAYS_DEFAULT,
        namespace: Namespace = "",
        first: First = PAGE_DEFAULT,
        after: After = None,
    ) -> UnusedConnection | None:
        found = await info.context.run_in_thread(
            using.unused,
            info.context.view,
            days=days,
            namespace=namespace,
            first=page_length(first),
            after=after,
        )
        return UnusedConnection.of(found)

    @resolver("The consumers of a dataset in the window, and their cost.")
    async def usage(self, info: Info, urn: ID, days: Days = using.DAYS_DEFAULT) -> Usage | None:
        found = await info.context.run_in_thread(using.usage, info.context.view, urn, days=days)
        return Usage(
            since=found.since,
            until=found.until,
            runs=found.runs,
            seconds=found.seconds,
            truncated=found.truncated,
            found=found,
        )

    @resolver("Owners with the number of their datasets and jobs, those with the most first.")
    async def owners(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> OwnerConnection | None:
        found = await info.context.run_in_thread(
            owning.owners, info.context.view, first=first, after=after, last=last, before=before
        )
        return OwnerConnection.of(found)

    @resolver("The datasets and jobs of an owner.")
    async def owned_by(
        self,
        info: Info,
        owner: Annotated[
            str,
            strawberry.argument(
                description="The name that producers report; empty for nodes without an owner."
            ),
        ],
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[LineageNode] | None:
        view, run_in_thread = info.context.view, info.context.run_in_thread
        found = await run_in_thread(
            owning.nodes_of_owner, view, owner, first=first, after=after, last=last, before=before
        )
        count = partial(run_in_thread, owning.count_nodes_of_owner, view, owner)
        return Connection.of(found, map(LineageNode.of, found.entries), count)

    @resolver("How much of all datasets, jobs and runs has lineage.")
    async def coverage(
        self, info: Info, days: Days = covered.DAYS_DEFAULT, namespace: Namespace = ""
    ) -> Coverage | None:
        found = await info.context.run_in_thread(
            covered.coverage, info.context.view, days=days, namespace=namespace
        )
        return Coverage(
            since=found.since,
            until=found.until,
            total=CoverageCounts.of(found.total),
            found=found,
            namespace=namespace,
        )
