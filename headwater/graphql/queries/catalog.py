"""The lists of all runs, jobs, datasets, answers and namespaces, and the node of an id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Annotated, Any

import strawberry

from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.graphql.context import Info
from headwater.graphql.types.enums import CatalogOrder, RunStatus, TimeOrder
from headwater.graphql.types.fields import After, Before, First, Last, node_not_found, resolver
from headwater.graphql.types.lineage_node import Finding
from headwater.graphql.types.node import Node
from headwater.graphql.types.nodes import (
    Answer,
    Artifact,
    Column,
    Dataset,
    Job,
    PipelineRun,
    Source,
)
from headwater.graphql.types.results import Connection, counted
from headwater.graphql.types.scalars import ID
from headwater.lineage import list_pages
from headwater.lineage.list_pages import CatalogFilter
from headwater.lineage.pagination import Page, PageRequest, page_request
from headwater.lineage.questions import answers as answer_list
from headwater.lineage.questions import columns as column_list
from headwater.lineage.questions import datasets as dataset_list
from headwater.lineage.questions import jobs as job_list
from headwater.lineage.questions import namespaces as namespace_list
from headwater.lineage.questions import runs as run_list
from headwater.lineage.questions.answers import AnswerFilter
from headwater.lineage.questions.runs import RunFilter
from headwater.schema.urns import KINDS, parse_urn

_NAMESPACE = "namespace:"
_FINDING = "finding:"
_NODE_OF_KIND: Mapping[str, Callable[[Row], Node]] = {
    "dataset": Dataset.of,
    "job": Job.of,
    "run": PipelineRun.of,
    "source": Source.of,
    "artifact": Artifact.of,
    "answer": Answer.of,
    "column": Column.of,
}

OfNamespace = Annotated[
    str | None, strawberry.argument(description="Only this namespace; null for all.")
]
OfOwner = Annotated[
    str | None, strawberry.argument(description="Only nodes of this owner; of runs, of their jobs.")
]
OfTag = Annotated[
    str | None, strawberry.argument(description="Only nodes with this tag: key=value, or key.")
]
StartedSince = Annotated[
    datetime | None, strawberry.argument(description="Only runs started at this time or later.")
]
StartedUntil = Annotated[
    datetime | None, strawberry.argument(description="Only runs started before this time.")
]
SeenSince = Annotated[
    datetime | None, strawberry.argument(description="Only nodes last seen at this time or later.")
]
SeenUntil = Annotated[
    datetime | None, strawberry.argument(description="Only nodes last seen before this time.")
]
CreatedSince = Annotated[
    datetime | None, strawberry.argument(description="Only answers of this time or later.")
]
CreatedUntil = Annotated[
    datetime | None, strawberry.argument(description="Only answers before this time.")
]


@strawberry.type(description="A namespace that has datasets or jobs.")
class Namespace(Node):
    name: str
    first_seen: datetime | None
    last_seen: datetime | None
    dataset_count: int = strawberry.field(description="The number of its datasets.")
    job_count: int = strawberry.field(description="The number of its jobs.")

    @classmethod
    def of(cls, found: namespace_list.Namespace) -> Namespace:
        return cls(
            urn=f"{_NAMESPACE}{found.name}",
            name=found.name,
            first_seen=found.first_seen,
            last_seen=found.last_seen,
            dataset_count=found.datasets,
            job_count=found.jobs,
        )


@strawberry.type(description="A column that was found by its tag.")
class TaggedColumn(Column):
    """A column in a connection of its own: `ColumnEdge` is an edge of column lineage."""


@strawberry.type
class CatalogQueries:
    @resolver(
        "The node with this id: any `id` or `urn` of an answer. Aliases of datasets work too."
    )
    async def node(self, info: Info, id: ID) -> Node | None:
        if id.startswith(_NAMESPACE):
            return await _namespace(info, id)
        if id.startswith(_FINDING):
            return await _finding(info, id)
        of = _NODE_OF_KIND.get(_kind_of_id(id))
        row = await info.context.load_resolved(id) if of is not None else None
        if row is None or of is None:
            raise node_not_found("node", id)
        return of(row)

    @resolver(
        "All runs, newest start first. A run without events of its own, known only as the parent "
        "of others, has no start and is not listed."
    )
    async def runs(
        self,
        info: Info,
        status: Annotated[
            RunStatus | None, strawberry.argument(description="Only runs with this status.")
        ] = None,
        since: StartedSince = None,
        until: StartedUntil = None,
        namespace: OfNamespace = None,
        owner: OfOwner = None,
        tag: OfTag = None,
        order: TimeOrder = TimeOrder.NEWEST,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[PipelineRun] | None:
        filter = RunFilter(
            status=status.value if status else "",
            since=since,
            until=until,
            namespace=namespace or "",
            owner=owner or "",
            tag=tag or "",
        )
        page = await info.context.run_in_thread(
            run_list.runs,
            info.context.view,
            filter=filter,
            page=list_page(first, after, last, before),
            oldest_first=order is TimeOrder.OLDEST,
        )
        return _connection(info, page, PipelineRun.of, run_list.count_runs, filter)

    @resolver("All jobs, by namespace and name unless `order` is given.")
    async def jobs(
        self,
        info: Info,
        status: Annotated[
            RunStatus | None,
            strawberry.argument(description="Only jobs whose newest run has this status."),
        ] = None,
        since: SeenSince = None,
        until: SeenUntil = None,
        namespace: OfNamespace = None,
        owner: OfOwner = None,
        tag: OfTag = None,
        order: CatalogOrder = CatalogOrder.NAME,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Job] | None:
        filter = CatalogFilter(since, until, namespace or "", owner or "", tag or "")
        newest_status = status.value if status else ""
        page = await info.context.run_in_thread(
            job_list.jobs,
            info.context.view,
            filter=filter,
            status=newest_status,
            page=list_page(first, after, last, before),
            order=list_pages.CatalogOrder(order.value),
        )
        count = partial(job_list.count_jobs, status=newest_status)
        return _connection(info, page, Job.of, count, filter)

    @resolver("All datasets, by namespace and name unless `order` is given.")
    async def datasets(
        self,
        info: Info,
        since: SeenSince = None,
        until: SeenUntil = None,
        namespace: OfNamespace = None,
        owner: OfOwner = None,
        tag: OfTag = None,
        order: CatalogOrder = CatalogOrder.NAME,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Dataset] | None:
        filter = CatalogFilter(since, until, namespace or "", owner or "", tag or "")
        page = await info.context.run_in_thread(
            dataset_list.datasets,
            info.context.view,
            filter=filter,
            page=list_page(first, after, last, before),
            order=list_pages.CatalogOrder(order.value),
        )
        return _connection(info, page, Dataset.of, dataset_list.count_datasets, filter)

    @resolver("The columns with a tag, by dataset. `columnLineage` shows where each of them flows.")
    async def columns(
        self,
        info: Info,
        tag: Annotated[
            str, strawberry.argument(description="The tag: key=value, or a key with any value.")
        ],
        namespace: OfNamespace = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[TaggedColumn] | None:
        page = await info.context.run_in_thread(
            column_list.columns,
            info.context.view,
            tag,
            namespace=namespace or "",
            page=list_page(first, after, last, before),
        )
        count = partial(column_list.count_columns, namespace=namespace or "")
        return _connection(info, page, TaggedColumn.of, count, tag)

    @resolver("All answers, newest first.")
    async def answers(
        self,
        info: Info,
        since: CreatedSince = None,
        until: CreatedUntil = None,
        namespace: Annotated[
            str | None,
            strawberry.argument(description="Only answers that rest on data of this namespace."),
        ] = None,
        order: TimeOrder = TimeOrder.NEWEST,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Answer] | None:
        filter = AnswerFilter(since, until, namespace or "")
        page = await info.context.run_in_thread(
            answer_list.answers,
            info.context.view,
            filter=filter,
            page=list_page(first, after, last, before),
            oldest_first=order is TimeOrder.OLDEST,
        )
        return _connection(info, page, Answer.of, answer_list.count_answers, filter)

    @resolver("All namespaces that have datasets or jobs, by name.")
    async def namespaces(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[Namespace] | None:
        found = await info.context.run_in_thread(
            namespace_list.namespaces,
            info.context.view,
            page=list_page(first, after, last, before),
        )
        nodes = map(Namespace.of, found.page.entries)
        return Connection.of(found.page, nodes, counted(found.count))


def list_page(
    first: int | None, after: str | None, last: int | None, before: str | None
) -> PageRequest:
    """Return the requested page; it has one entry at least."""
    return page_request(first, after, last, before, minimum=1)


def _connection(
    info: Info,
    page: Page[Row],
    of: Callable[[Row], Any],
    count: Callable[..., int],
    filter: object,
) -> Connection[Any]:
    """Return the connection of a page of properties, which no loader reads again."""
    for row in page.entries:
        info.context.nodes.prime(row["urn"], row)
    counter = partial(info.context.run_in_thread, count, info.context.view, filter)
    return Connection.of(page, map(of, page.entries), counter)


def _kind_of_id(id: str) -> str:
    """Return the kind of node that an id names. Raises QueryError, as `parse_urn` does."""
    kind = id.partition(":")[0]
    if kind not in KINDS:
        kinds = ", ".join([*KINDS, "finding", "namespace"])
        raise QueryError(
            f"{id!r} is not an id: it must start with one of {kinds}",
            hint="Write for example dataset:<namespace>:<name>, each part percent-encoded.",
        )
    return parse_urn(id).kind


async def _finding(info: Info, id: str) -> Finding:
    found = await info.context.finding.load(id)
    if found is None:
        raise node_not_found("finding", id)
    return Finding.of(found)


async def _namespace(info: Info, id: str) -> Namespace:
    name = id.removeprefix(_NAMESPACE)
    found = await info.context.run_in_thread(namespace_list.find_namespace, info.context.view, name)
    if found is None:
        raise node_not_found("namespace", name)
    return Namespace.of(found)
