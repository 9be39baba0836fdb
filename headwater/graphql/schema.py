"""The schema put together, with its limits. `headwater.graphql.schema.sdl()` is what docs/schema.graphql holds.

Limits are on what a query may ask (depth, tokens, aliases); how far a walk goes is bounded by `headwater.cypher`.
"""

from __future__ import annotations

import strawberry
from strawberry.extensions import MaxAliasesLimiter, MaxTokensLimiter, QueryDepthLimiter
from strawberry.schema.config import StrawberryConfig

from headwater.graphql.errors import CodeErrors
from headwater.graphql.judge import judged
from headwater.graphql.mutations import Mutation
from headwater.graphql.queries import Query
from headwater.graphql.scalars import SCALARS

_QUERY, _MUTATION = judged(Query), judged(Mutation)
DEPTH_MAX = 15
TOKENS_MAX = 4_000
ALIASES_MAX = 30


class Schema(strawberry.Schema):
    """Errors are logged by `headwater.graphql.errors`, once, and only those that are ours to mend."""

    def process_errors(self, errors: object, execution_context: object = None) -> None:
        pass


def make_schema() -> Schema:
    return Schema(
        query=_QUERY,
        mutation=_MUTATION,
        config=StrawberryConfig(scalar_map=SCALARS, disable_field_suggestions=False),
        extensions=[
            lambda: MaxTokensLimiter(max_token_count=TOKENS_MAX),
            lambda: MaxAliasesLimiter(max_alias_count=ALIASES_MAX),
            lambda: QueryDepthLimiter(max_depth=DEPTH_MAX),
            CodeErrors,
        ],
    )


def sdl() -> str:
    """The schema as text."""
    return make_schema().as_str() + "\n"
