"""Caches of parsed and validated documents: both steps take longer than most small questions.

Only documents of up to `CACHED_CHARACTERS_MAX` are cached, because a parsed document takes some
hundred times the memory of its text. A document that `headwater.graphql.query_limits` has refused
is not validated: validation of a document with many repeats takes seconds. Validation ends after
`ERRORS_MAX` errors: the search for similar names takes 8 ms for each unknown field.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

from graphql import DocumentNode, GraphQLError, GraphQLSchema, validate
from graphql.validation import ASTValidationRule
from strawberry.extensions import ParserCache, SchemaExtension
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule

DOCUMENTS_MAX = 128
ERRORS_MAX = 5
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


class DocumentValidation(SchemaExtension):
    """Validation with a cache; it must follow the extensions that refuse documents."""

    def on_validate(self) -> Iterator[None]:
        """Validate the document, unless it is refused or has a syntax error."""
        context = self.execution_context
        document, schema = context.graphql_document, context.schema._schema
        if document is not None and context.pre_execution_errors is None:
            is_long = len(context.query or "") > CACHED_CHARACTERS_MAX
            find = _find_errors if is_long else _find_errors_cached
            context.pre_execution_errors = find(schema, document, context.validation_rules)
        yield


def _find_errors(
    schema: GraphQLSchema, document: DocumentNode, rules: tuple[type[ASTValidationRule], ...]
) -> list[GraphQLError]:
    """Return the first errors of a document, by the rules of strawberry."""
    all_rules = (*rules, MaybeNullValidationRule, OneOfInputValidationRule)
    return validate(schema, document, all_rules, max_errors=ERRORS_MAX)


_find_errors_cached = lru_cache(DOCUMENTS_MAX)(_find_errors)
