"""Questions about the whole estate: what there is, who owns and uses it, how much of it lineage covers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import strawberry

from headwater.errors import QueryError
from headwater.graphql.context import Info
from headwater.graphql.queries.coverage import Coverage, CoverageCounts
from headwater.graphql.types.enums import NodeKind
from headwater.graphql.types.fields import After, First, resolver
from headwater.graphql.types.nodes import Answer, Dataset, Job
from headwater.graphql.types.quality import Freshness, Quality, freshness_of, quality_of
from headwater.graphql.types.results import Connection, Edge, Node, PageInfo
from headwater.graphql.types.scalars import ID, Long
from headwater.lineage.nodes import require_node
from headwater.lineage.questions import coverage as covered
from headwater.lineage.questions import owners as owning
from headwater.lineage.questions import search as searching
from headwater.lineage.questions import usage as using
from headwater.schema.urns import parse_urn

Days = Annotated[int, strawberry.argument(description="The last so many days, 1 to 3650.")]
Namespace = Annotated[
    str, strawberry.argument(description="Only of this namespace. Empty: of all.")
]


@strawberry.type(description="How many of the hits have this value.")
class ValueCount:
    value: str
    count: int


@strawberry.type
class SearchEdge:
    cursor: str = strawberry.field(description="Pass it as `after` for what follows.")
    score: float = strawberry.field(
        description="How well it fits, among hits that are as near to the text by name."
    )
    node: Node


@strawberry.type(
    description="What a text finds: a page of it, the best first, and counts of all of it."
)
class SearchConnection:
    edges: list[SearchEdge]
    page_info: PageInfo
    total_count: int = strawberry.field(description="How many hits the filters leave.")
    truncated: bool = strawberry.field(
        description="Whether there are more hits than are looked at (the best 2000)."
    )
    kinds: list[ValueCount] = strawberry.field(
        description="Kinds of all hits before the filters, most first."
    )
    namespaces: list[ValueCount] = strawberry.field(description="Their namespaces.")
    tags: list[ValueCount] = strawberry.field(description="Their tags.")

    @classmethod
    def of(cls, found: searching.SearchResult, after: str | None) -> SearchConnection:
        pairs = zip(found.page.cursors, found.page.entries, strict=True)
        return cls(
            edges=[
                SearchEdge(cursor=cursor, score=hit.score, node=Node.of(hit.node))
                for cursor, hit in pairs
            ],
            page_info=PageInfo.of(found.page, after),
            total_count=found.count,
            truncated=found.truncated,
            kinds=[ValueCount(**vars(facet)) for facet in found.kinds],
            namespaces=[ValueCount(**vars(facet)) for facet in found.namespaces],
            tags=[ValueCount(**vars(facet)) for facet in found.tags],
        )


@strawberry.type(description="A dataset that nobody read.")
class UnusedDataset:
    bytes: Long | None = strawberry.field(
        description="Of its newest complete version; null where nobody told."
    )
    last_read_at: datetime | None = strawberry.field(
        description="When the last run began that read it; null for never."
    )
    urn: strawberry.Private[str]

    @resolver("The dataset.")
    async def dataset(self, info: Info) -> Dataset:
        return (await Dataset.all(info, [self.urn]))[0]

    @classmethod
    def of(cls, found: using.Unused) -> UnusedDataset:
        return cls(bytes=_long(found.bytes), last_read_at=found.last_read_at, urn=found.dataset)


@strawberry.type(description="Datasets that nobody read, the largest first.")
class UnusedConnection:
    edges: list[Edge[UnusedDataset]]
    page_info: PageInfo
    total_count: int = strawberry.field(description="How many there are in all.")
    bytes: Long = strawberry.field(
        description="Storage to reclaim: the bytes of all of them, as far as they are told."
    )
    unknown_size_count: int = strawberry.field(description="Of how many no bytes are told.")

    @classmethod
    def of(cls, found: using.UnusedPage, after: str | None) -> UnusedConnection:
        pairs = zip(found.page.cursors, found.page.entries, strict=True)
        return cls(
            edges=[Edge(cursor=cursor, node=UnusedDataset.of(one)) for cursor, one in pairs],
            page_info=PageInfo.of(found.page, after),
            total_count=found.count,
            bytes=Long(found.bytes),
            unknown_size_count=found.unknown_size_count,
        )


@strawberry.type(description="A job that read a dataset.")
class Consumer:
    owners: list[str]
    runs: int = strawberry.field(
        description="Its runs that began in the window and read the dataset."
    )
    last_read_at: datetime | None = strawberry.field(description="When the last of them began.")
    rows: Long | None = strawberry.field(
        description="The rows that they say they read; null where none says."
    )
    bytes: Long | None = strawberry.field(
        description="The bytes that they say they read; null where none says."
    )
    seconds: float = strawberry.field(
        description="Its cost: the time of each run, split evenly among the datasets that it read."
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
            rows=_long(found.rows),
            bytes=_long(found.bytes),
            seconds=found.seconds,
            urn=found.job,
        )


@strawberry.type(description="What one owner's jobs used.")
class CostShare:
    owner: str | None = strawberry.field(description="Null for jobs that nobody owns.")
    jobs: int
    seconds: float = strawberry.field(
        description="The time of a job with several owners is split evenly among them."
    )


@strawberry.type(description="Who used a dataset in a window of days.")
class Usage:
    since: datetime
    until: datetime
    runs: int
    seconds: float = strawberry.field(description="The cost of all consumers together.")
    truncated: bool = strawberry.field(
        description="Whether there are more consumers, runs or answers than are read."
    )
    found: strawberry.Private[using.Usage]

    @resolver("The jobs that read it, the costliest first.")
    def consumers(self, first: First = 20, after: After = None) -> Connection[Consumer]:
        shown = using.consumers_page(self.found, first=first, after=after)
        return Connection.of(shown, map(Consumer.of, shown.entries), after)

    @resolver("What each owner of those jobs is charged, the most first.")
    def chargeback(self) -> list[CostShare]:
        return [CostShare(**vars(charge)) for charge in using.chargeback(self.found.consumers)]

    @resolver("The answers made in the window that cite it, the newest first.")
    async def answers(self, info: Info, first: First = 20) -> list[Answer]:
        if not 0 <= first <= using.ANSWERS_MAX:
            raise QueryError(f"first {first} is not between 0 and {using.ANSWERS_MAX}")
        return await Answer.all(info, self.found.answers[:first])


@strawberry.type(description="An owner, as producers name it, and how much it owns.")
class Owner:
    name: str
    datasets: int
    jobs: int


@strawberry.type(description="Owners, those of the most first.")
class OwnerConnection:
    edges: list[Edge[Owner]]
    page_info: PageInfo
    total_count: int = strawberry.field(description="How many owners there are.")
    unowned_datasets: int = strawberry.field(
        description="Datasets that nobody owns; `ownedBy` an empty name."
    )
    unowned_jobs: int

    @classmethod
    def of(cls, found: owning.Owners, after: str | None) -> OwnerConnection:
        pairs = zip(found.page.cursors, found.page.entries, strict=True)
        return cls(
            edges=[Edge(cursor=cursor, node=Owner(**vars(owner))) for cursor, owner in pairs],
            page_info=PageInfo.of(found.page, after),
            total_count=found.count,
            unowned_datasets=found.unowned_datasets,
            unowned_jobs=found.unowned_jobs,
        )


def _long(count: int | None) -> Long | None:
    return None if count is None else Long(count)


def _dataset(urn: str) -> str:
    if parse_urn(urn).kind != "dataset":
        raise QueryError(
            f"urn {urn[:80]!r} is not that of a dataset", hint="Write dataset:<namespace>:<name>."
        )
    return urn


@strawberry.type
class EstateQueries:
    @resolver(
        "Datasets, jobs and answers by words in their names, descriptions, columns, tags and owners, the best first: "
        "what is called so, then what begins so, then the rest. A run by its whole id, anything by its urn."
    )
    async def search(
        self,
        info: Info,
        text: str,
        kind: Annotated[
            NodeKind | None, strawberry.argument(description="Only nodes of this kind.")
        ] = None,
        namespace: Namespace = "",
        tag: Annotated[
            str, strawberry.argument(description="Only what has this tag: key=value, or key.")
        ] = "",
        owner: Annotated[str, strawberry.argument(description="Only what is owned so.")] = "",
        first: First = 20,
        after: After = None,
    ) -> SearchConnection:
        filters = searching.SearchFilters(kind.value if kind else "", namespace, tag, owner)
        found = await info.context.run_in_thread(
            searching.search, info.context.view, text, filters=filters, first=first, after=after
        )
        return SearchConnection.of(found, after)

    @resolver("How fresh a dataset is, by any of its names.")
    async def freshness(self, info: Info, urn: ID) -> Freshness:
        row = await info.context.run_in_thread(require_node, info.context.view, _dataset(urn))
        return await freshness_of(info, row["urn"])

    @resolver(
        "What checks said of a dataset, by any of its names, or of a version, and what was measured in it."
    )
    async def quality(self, info: Info, urn: ID) -> Quality:
        if parse_urn(urn).kind not in ("dataset", "artifact"):
            raise QueryError(f"urn {urn[:80]!r} is not that of a dataset or a version")
        row = await info.context.run_in_thread(require_node, info.context.view, urn)
        return await quality_of(info, row["urn"])

    @resolver(
        "Datasets that nobody read in the last so many days, neither a run nor an answer, the largest first: storage "
        "to reclaim. Not those that were dropped, or are not known for that long."
    )
    async def unused_datasets(
        self,
        info: Info,
        days: Days = using.DAYS_DEFAULT,
        namespace: Namespace = "",
        first: First = 20,
        after: After = None,
    ) -> UnusedConnection:
        found = await info.context.run_in_thread(
            using.unused,
            info.context.view,
            days=days,
            namespace=namespace,
            first=first,
            after=after,
        )
        return UnusedConnection.of(found, after)

    @resolver("Who used a dataset in the last so many days, and what that cost.")
    async def usage(self, info: Info, urn: ID, days: Days = using.DAYS_DEFAULT) -> Usage:
        found = await info.context.run_in_thread(using.usage, info.context.view, urn, days=days)
        return Usage(
            since=found.since,
            until=found.until,
            runs=found.runs,
            seconds=found.seconds,
            truncated=found.truncated,
            found=found,
        )

    @resolver("Who owns how much, those of the most first.")
    async def owners(self, info: Info, first: First = 20, after: After = None) -> OwnerConnection:
        found = await info.context.run_in_thread(
            owning.owners, info.context.view, first=first, after=after
        )
        return OwnerConnection.of(found, after)

    @resolver("The datasets and jobs of one owner.")
    async def owned_by(
        self,
        info: Info,
        owner: Annotated[
            str, strawberry.argument(description="As producers name it; empty: owned by nobody.")
        ],
        first: First = 20,
        after: After = None,
    ) -> Connection[Node]:
        found = await info.context.run_in_thread(
            owning.nodes_of_owner, info.context.view, owner, first=first, after=after
        )
        return Connection.of(found, map(Node.of, found.entries), after)

    @resolver("How much of the estate lineage covers.")
    async def coverage(
        self, info: Info, days: Days = covered.DAYS_DEFAULT, namespace: Namespace = ""
    ) -> Coverage:
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
