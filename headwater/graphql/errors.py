"""The errors that clients receive: a message, a code, and a hint on how to fix it.

| extensions.code | meaning |
|---|---|
| BAD_REQUEST | the request is wrong: syntax, an argument, a limit; a retry fails again |
| TOO_COSTLY | the answer may hold more values than the limit; `cost` and `limit` give the numbers |
| TOO_SLOW | a subscriber reads its messages too slowly |
| PERSISTED_QUERY_NOT_FOUND | no query of that hash is stored; send it once with its text |
| PERSISTED_QUERY_ONLY | this server answers registered queries only |
| FORBIDDEN | the key lacks the scope for this field, or is for other namespaces |
| NOT_FOUND | the node is not in the graph, or is not visible to the key |
| UNAVAILABLE | Neo4j or the spool cannot answer now; a retry may succeed |
| TIMEOUT | the request exceeded its time limit |
| INTERNAL | a defect of Headwater; the log has the details, the client gets none |
"""

from __future__ import annotations

import logging

from graphql import GraphQLError
from strawberry.exceptions import MissingQueryError
from strawberry.extensions import MaskErrors
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError

from headwater.errors import HeadwaterError, NotFoundError, SpoolFullError, UnavailableError
from headwater.graphql.feed import TooSlowError
from headwater.graphql.persisted_queries import PersistedQueryError

_ID_VARIABLE_HINT = "Identifiers are of type ID: declare the variable as ID, ID! or [ID!]."
_log = logging.getLogger("headwater.graphql")


def with_code(error: GraphQLError) -> GraphQLError:
    """Return the error with its code; an unexpected error loses its message."""
    cause = error.original_error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    if isinstance(cause, HeadwaterError):
        return _copy(error, cause.message, {"code": error_code(cause), "hint": cause.hint})
    if isinstance(
        cause, CannotGetOperationTypeError | InvalidOperationTypeError | MissingQueryError
    ):
        return _copy(error, error.message, {"code": "BAD_REQUEST"})
    if isinstance(cause, UnicodeEncodeError):
        hint = "Write each text in UTF-8, without half a surrogate pair."
        return _copy(error, "a text is not Unicode", {"code": "BAD_REQUEST", "hint": hint})
    if isinstance(cause, RecursionError) and error.path is None:
        return _copy(error, "the query is nested too deep", {"code": "BAD_REQUEST"})
    if cause is None or isinstance(cause, GraphQLError):
        extensions = {"code": "BAD_REQUEST", "hint": _hint(error), **(error.extensions or {})}
        return _copy(error, error.message, extensions)
    _log.error("resolver_failed path=%s", error.path, exc_info=cause)
    return _copy(error, "internal error", {"code": "INTERNAL"})


def error_code(error: HeadwaterError) -> str:
    """Return the `extensions.code` of an expected error."""
    if isinstance(error, NotFoundError):
        return "NOT_FOUND"
    if isinstance(error, PersistedQueryError):
        return error.code
    if isinstance(error, TooSlowError):
        return "TOO_SLOW"
    if error.status in (401, 403):
        return "FORBIDDEN"
    return "UNAVAILABLE" if isinstance(error, UnavailableError | SpoolFullError) else "BAD_REQUEST"


def _hint(error: GraphQLError) -> str:
    """Return a hint for a variable that is declared as String where an ID is expected."""
    message = error.message
    is_id_mismatch = "of type 'String" in message or "of type '[String" in message
    return _ID_VARIABLE_HINT if is_id_mismatch and "ID" in message.split("expecting")[-1] else ""


def _copy(error: GraphQLError, message: str, extensions: dict[str, object]) -> GraphQLError:
    """Return the error with this message and these extensions, without the empty ones."""
    return GraphQLError(
        message,
        nodes=error.nodes,
        source=error.source,
        positions=error.positions,
        path=error.path,
        extensions={key: value for key, value in extensions.items() if value},
    )


class ErrorCodes(MaskErrors):
    """An extension that gives each error its code and masks unexpected errors."""

    def anonymise_error(self, error: GraphQLError) -> GraphQLError:
        """Return the error as the client receives it."""
        return with_code(error)
