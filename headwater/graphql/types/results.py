"""What many questions answer with: the name of a node, why a walk was cut short, what a page says of itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import strawberry

from headwater.graphql.types.enums import NodeKind
from headwater.graphql.types.scalars import ID
from headwater.lineage.node_names import NodeName
from headwater.lineage.pagination import Page

T = TypeVar("T")
REASON = "Which bound cut it short: depth, nodes, edges or time; null when it is whole."


@strawberry.type(description="A node of a lineage, or one that a search found.")
class Node:
    urn: ID
    kind: NodeKind
    namespace: str | None
    name: str = strawberry.field(
        description="A run has the name of its pipeline, an answer its id."
    )
    distance: int | None = strawberry.field(
        description="Hops from the nearest start of a lineage; 0 for a start."
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


@strawberry.type
class PageInfo:
    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None

    @classmethod
    def of(cls, page: Page[Any], after: str | None) -> PageInfo:
        return cls(
            has_next_page=page.has_next,
            has_previous_page=bool(after),
            start_cursor=page.cursors[0] if page.cursors else None,
            # A page of nothing ends where it began, so that whoever goes on from its end does not begin again.
            end_cursor=page.cursors[-1] if page.cursors else after or None,
        )


@strawberry.type
class Edge(Generic[T]):
    cursor: str = strawberry.field(description="Pass it as `after` for what follows.")
    node: T


@strawberry.type(description="A page of a list.")
class Connection(Generic[T]):
    edges: list[Edge[T]]
    nodes: list[T] = strawberry.field(
        description="The nodes of the edges, for who needs no cursors."
    )
    page_info: PageInfo

    @classmethod
    def of(cls, page: Page[Any], nodes: Iterable[T | None], after: str | None) -> Connection[T]:
        """A page, its entries as nodes; those that are None may not be seen, and are left out."""
        pairs = [
            (cursor, node)
            for cursor, node in zip(page.cursors, nodes, strict=True)
            if node is not None
        ]
        edges = [Edge(cursor=cursor, node=node) for cursor, node in pairs]
        return cls(
            edges=edges, nodes=[node for _, node in pairs], page_info=PageInfo.of(page, after)
        )
