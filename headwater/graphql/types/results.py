"""Types that many queries return: a named node, and connections by the Relay specification.

https://relay.dev/graphql/connections.htm: a connection has `edges` and `pageInfo`; an edge has
`cursor` and `node`. Pages go forward by `first` and `after`, and backward by `last` and `before`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any, Generic, Self, TypeVar

import strawberry
from strawberry.dataloader import DataLoader

from headwater.graphql.context import PageKey
from headwater.graphql.types.fields import resolver
from headwater.lineage.pagination import Page, PageRequest

T = TypeVar("T")
Count = Callable[[], Awaitable[int | None]]
CURSOR = "Pass it as `after` or `before` to read the entries after or before it."
TRUNCATED_BY = "The limit that truncated it: depth, nodes, edges or time; null if it is complete."


@strawberry.type(description="The position of a page in its list.")
class PageInfo:
    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None = strawberry.field(description="Null for an empty page.")
    end_cursor: str | None = strawberry.field(description="Null for an empty page.")

    @classmethod
    def of(cls, page: Page[Any]) -> PageInfo:
        return cls(
            has_next_page=page.has_next,
            has_previous_page=page.has_previous,
            start_cursor=page.cursors[0] if page.cursors else None,
            end_cursor=page.cursors[-1] if page.cursors else None,
        )


@strawberry.type
class Edge(Generic[T]):
    cursor: str = strawberry.field(description=CURSOR)
    node: T


@strawberry.type(description="A page of a list.")
class Connection(Generic[T]):
    edges: list[Edge[T]]
    nodes: list[T] = strawberry.field(description="The nodes of the edges.")
    page_info: PageInfo
    count: strawberry.Private[Count]

    @resolver("The number of entries on all pages that the key may see.")
    async def total_count(self) -> int | None:
        return await self.count()

    @classmethod
    def of(cls, page: Page[Any], nodes: Iterable[T | None], count: Count, **fields: object) -> Self:
        """Return the connection of a page; a node that is None is not visible and is omitted.

        `count` returns the number of entries on all pages; it is called if a query selects it.
        `fields` are the fields that a subclass adds.
        """
        edges = [
            Edge(cursor=cursor, node=node)
            for cursor, node in zip(page.cursors, nodes, strict=True)
            if node is not None
        ]
        return cls(
            edges=edges,
            nodes=[edge.node for edge in edges],
            page_info=PageInfo.of(page),
            count=count,
            **fields,
        )


def counted(count: int) -> Count:
    """Return the counter of a connection whose entries are counted already."""

    async def total() -> int:
        return count

    return total


async def load_connection(
    pages: DataLoader[PageKey, Page[str]],
    counts: DataLoader[str, int],
    urn: str,
    request: PageRequest,
    load_nodes: Callable[[list[str]], Awaitable[Mapping[str, T]]],
) -> Connection[T]:
    """Return a page of the nodes that belong to a node: `load_nodes` returns them by urn."""
    page = await pages.load((urn, request))
    nodes = await load_nodes(page.entries)
    return Connection.of(page, map(nodes.get, page.entries), partial(counts.load, urn))
