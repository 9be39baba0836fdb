"""Types that many queries return: a named node, and connections by the Relay specification.

https://relay.dev/graphql/connections.htm: a connection has `edges` and `pageInfo`; an edge has
`cursor` and `node`. Pages go forward by `first` and `after`, which the specification allows.
Lists are read from Neo4j in one order only, so there is no `last` and `before`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

import strawberry
from strawberry.dataloader import DataLoader

from headwater.graphql.context import PageKey
from headwater.graphql.types.enums import NodeKind
from headwater.graphql.types.fields import page_length
from headwater.graphql.types.scalars import ID
from headwater.lineage.node_names import NodeName
from headwater.lineage.pagination import Page

T = TypeVar("T")
TRUNCATED_BY = "The limit that truncated it: depth, nodes, edges or time; null if it is complete."


@strawberry.type(description="A node of a lineage graph or a search result.")
class Node:
    urn: ID
    kind: NodeKind
    namespace: str | None
    name: str = strawberry.field(
        description="Of a run the name of its pipeline, of an answer its id."
    )
    distance: int | None = strawberry.field(
        description="Hops from the nearest start of the lineage; 0 for a start."
    )

    @classmethod
    def of(cls, node: NodeName, distance: int | None = None) -> Node:
        return cls(
            urn=node.urn,
            kind=NodeKind(node.kind),
            namespace=node.namespace,
            name=node.name,
            distance=distance,
        )


@strawberry.type(description="The position of a page in its list.")
class PageInfo:
    has_next_page: bool
    has_previous_page: bool = strawberry.field(
        description="True if the page follows a cursor: the entry of that cursor precedes it."
    )
    start_cursor: str | None = strawberry.field(description="Null for an empty page.")
    end_cursor: str | None = strawberry.field(description="Null for an empty page.")

    @classmethod
    def of(cls, page: Page[Any], after: str | None) -> PageInfo:
        return cls(
            has_next_page=page.has_next,
            has_previous_page=bool(after),
            start_cursor=page.cursors[0] if page.cursors else None,
            end_cursor=page.cursors[-1] if page.cursors else None,
        )


@strawberry.type
class Edge(Generic[T]):
    cursor: str = strawberry.field(description="Pass it as `after` to read the entries after it.")
    node: T


@strawberry.type(description="A page of a list.")
class Connection(Generic[T]):
    edges: list[Edge[T]]
    nodes: list[T] = strawberry.field(description="The nodes of the edges.")
    page_info: PageInfo

    @classmethod
    def of(cls, page: Page[Any], nodes: Iterable[T | None], after: str | None) -> Connection[T]:
        """Return the connection of a page; a node that is None is not visible and is omitted."""
        edges = [
            Edge(cursor=cursor, node=node)
            for cursor, node in zip(page.cursors, nodes, strict=True)
            if node is not None
        ]
        page_info = PageInfo.of(page, after)
        return cls(edges=edges, nodes=[edge.node for edge in edges], page_info=page_info)


async def load_connection(
    loader: DataLoader[PageKey, Page[str]],
    urn: str,
    first: int | None,
    after: str | None,
    load_nodes: Callable[[list[str]], Awaitable[Mapping[str, T]]],
) -> Connection[T]:
    """Return a page of the nodes that belong to a node: `load_nodes` returns them by urn."""
    page = await loader.load((urn, page_length(first), after))
    nodes = await load_nodes(page.entries)
    return Connection.of(page, map(nodes.get, page.entries), after)
