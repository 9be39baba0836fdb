"""What many questions answer with: the name of a node, why a walk was cut short, what a page says of itself."""

from __future__ import annotations

from typing import Any

import strawberry

from headwater.cypher.nodes import NodeName
from headwater.cypher.pages import Page
from headwater.graphql.enums import NodeKind

REASON = "Which bound cut it short: depth, nodes, edges or time; null when it is whole."


@strawberry.type(description="A node of a lineage, or one that a search found.")
class Node:
    urn: str
    kind: NodeKind
    namespace: str | None
    name: str = strawberry.field(description="A run has the name of its pipeline, an answer its id.")
    distance: int | None = strawberry.field(description="Hops from the nearest start of a lineage; 0 for a start.")

    @classmethod
    def of(cls, node: NodeName, distance: int | None = None) -> Node:
        return cls(urn=node.urn, kind=NodeKind(node.kind), namespace=node.namespace, name=node.name, distance=distance)


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
            end_cursor=page.cursors[-1] if page.cursors else None,
        )
