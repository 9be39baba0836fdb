"""The interface of everything that has an id, by the specification of Relay.

https://relay.dev/graphql/objectidentification.htm: `node(id:)` returns the object of an id, and
clients keep each object once in their caches, by `__typename` and `id`. So only types whose fields
do not depend on the question have an id.
"""

from __future__ import annotations

import strawberry

from headwater.graphql.types.fields import resolver
from headwater.graphql.types.scalars import ID


@strawberry.interface(description="An object with an id; `node(id:)` returns it.")
class Node:
    urn: strawberry.Private[str]

    @resolver("The id: the urn of a node of the graph.")
    def id(self) -> ID:
        return self.urn
