"""What a client sees when something goes wrong: a message, a code, and how to fix it.

| extensions.code | meaning |
|---|---|
| BAD_REQUEST | the question is wrong: syntax, an argument, a limit; asking again will not help |
| TOO_COSTLY | the answer may hold more values than are allowed: `cost` and `limit` say how many |
| TOO_SLOW | a subscriber does not take what it asked for |
| PERSISTED_QUERY_NOT_FOUND | nobody has sent the query of that hash yet; send it with its text |
| PERSISTED_QUERY_ONLY | this Headwater answers only the queries that its operator has registered |
| FORBIDDEN | the key is not for this field, or not for this namespace |
| NOT_FOUND | the start of a walk is not in the graph |
| UNAVAILABLE | Neo4j or the spool cannot answer now; asking again may help |
| TIMEOUT | the whole request took longer than it may |
| INTERNAL | a fault of ours: written to the log, told to nobody |
"""

from __future__ import annotations

import logging

from graphql import GraphQLError
from strawberry.exceptions import MissingQueryError
from strawberry.extensions import MaskErrors
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError

from headwater.errors import HeadwaterError, NotFoundError, SpoolFullError, UnavailableError
from headwater.graphql.persisted_queries import PersistedQueryError
from headwater.graphql.run_feed import TooSlowError

_log = logging.getLogger("headwater.graphql")


def coded(error: GraphQLError) -> GraphQLError:
    """The error with its code; one that is none of ours loses its message."""
    cause = error.original_error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    if isinstance(cause, HeadwaterError):
        return _remade(error, cause.message, {"code": code_of(cause), "hint": cause.hint})
    if isinstance(
        cause, CannotGetOperationTypeError | InvalidOperationTypeError | MissingQueryError
    ):
        return _remade(error, error.message, {"code": "BAD_REQUEST"})
    if isinstance(cause, RecursionError) and error.path is None:
        return _remade(error, "the query is nested too deep", {"code": "BAD_REQUEST"})
    if cause is None or isinstance(cause, GraphQLError):
        return _remade(error, error.message, {"code": "BAD_REQUEST", **(error.extensions or {})})
    _log.error("a resolver failed at %s", error.path, exc_info=cause)
    return _remade(error, "internal error", {"code": "INTERNAL"})


def code_of(error: HeadwaterError) -> str:
    if isinstance(error, NotFoundError):
        return "NOT_FOUND"
    if isinstance(error, PersistedQueryError):
        return error.code
    if isinstance(error, TooSlowError):
        return "TOO_SLOW"
    if error.status in (401, 403):
        return "FORBIDDEN"
    return "UNAVAILABLE" if isinstance(error, UnavailableError | SpoolFullError) else "BAD_REQUEST"


def _remade(error: GraphQLError, message: str, extensions: dict[str, object]) -> GraphQLError:
    said = {key: value for key, value in extensions.items() if value}
    return GraphQLError(
        message,
        nodes=error.nodes,
        source=error.source,
        positions=error.positions,
        path=error.path,
        extensions=said,
    )


class CodeErrors(MaskErrors):
    """Gives every error of an operation its code, and masks what is none of ours."""

    def anonymise_error(self, error: GraphQLError) -> GraphQLError:
        return coded(error)
