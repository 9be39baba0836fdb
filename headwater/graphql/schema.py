"""The schema put together, with its limits. `headwater.graphql.schema.sdl()` is what docs/reference/schema.graphql holds.

Limits are on what a query may ask (`headwater.graphql.query_limits`); how far a walk goes is bounded by `headwater.cypher`.
"""

from __future__ import annotations

import strawberry
from strawberry.schema.config import StrawberryConfig

from headwater.graphql.authorization import Subscribed, judged
from headwater.graphql.document_cache import Documents, remembered
from headwater.graphql.errors import CodeErrors
from headwater.graphql.mutations import Mutation
from headwater.graphql.queries.query import Query
from headwater.graphql.query_limits import COST_MAX, limits
from headwater.graphql.subscriptions import Subscription
from headwater.graphql.types.scalars import SCALARS

_QUERY, _MUTATION, _SUBSCRIPTION = judged(Query), judged(Mutation), judged(Subscription)


class Schema(strawberry.Schema):
    """Errors are logged by `headwater.graphql.errors`, once, and only those that are ours to hint."""

    def process_errors(self, errors: object, execution_context: object = None) -> None:
        pass


def make_schema(cost_max: int = COST_MAX) -> Schema:
    """The schema; a query whose answer may hold more than `cost_max` values is refused."""
    return Schema(
        query=_QUERY,
        mutation=_MUTATION,
        subscription=_SUBSCRIPTION,
        config=StrawberryConfig(scalar_map=SCALARS, disable_field_suggestions=False),
        extensions=[limits(cost_max), Subscribed, remembered(Documents()), CodeErrors],
    )


def sdl() -> str:
    """The schema as text."""
    return make_schema().as_str() + "\n"
