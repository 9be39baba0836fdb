"""Caches of parsed and validated documents: both steps take longer than most small questions.

The caches are strawberry's own. Two things differ. Only documents of up to
`CACHED_CHARACTERS_MAX` are cached, because a parsed document takes some hundred times the memory of
its text. And a document that `headwater.graphql.query_limits` has refused is not validated:
validation of a document with many repeats takes seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from graphql import GraphQLError
from strawberry.extensions import ParserCache, ValidationCache

DOCUMENTS_MAX = 128
CACHED_CHARACTERS_MAX = 4_000


class DocumentParserCache(ParserCache):
    """A cache of parsed documents, least recently used out first."""

    def __init__(self) -> None:
        super().__init__(maxsize=DOCUMENTS_MAX)

    def on_parse(self) -> Iterator[None]:
        """Take the document from the cache, unless it is too long to be cached.

        strawberry parses a document with a syntax error again: an error raised in this hook would
        skip `headwater.graphql.errors`.
        """
        context = self.execution_context
        query = context.query
        if query is not None and len(query) <= CACHED_CHARACTERS_MAX:
            with suppress(GraphQLError, RecursionError):
                context.graphql_document = self.cached_parse_document(
                    query, **context.parse_options
                )
        yield


class DocumentValidationCache(ValidationCache):
    """A cache of validation results; it must follow the extensions that refuse documents."""

    def __init__(self) -> None:
        super().__init__(maxsize=DOCUMENTS_MAX)

    def on_validate(self) -> Iterator[None]:
        """Take the validation errors from the cache, unless the document is refused or too long."""
        context = self.execution_context
        is_long = len(context.query or "") > CACHED_CHARACTERS_MAX
        if is_long or context.pre_execution_errors is not None:
            yield
        else:
            yield from super().on_validate()
