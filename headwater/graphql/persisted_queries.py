"""PersistedQueries queries: queries sent by hash or name instead of their text.

*Automatic* persisted queries follow Apollo's protocol. A client sends the SHA-256 of a query alone.
If the server does not know it, the server answers `PERSISTED_QUERY_NOT_FOUND`, and the client sends
hash and text once. The store is bounded, least recently used out first. Only queries of callers
with a key are stored. A hash that differs from the hash of the text is refused.

*Trusted* queries come from a file or folder of the operator, read at start: JSON that maps names or
hashes to queries, or `NAME.graphql` files. Clients send them by `documentId` (the name) or by hash.
With `only`, every other query is refused, introspection included.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphql import GraphQLError, GraphQLSchema, parse, validate

from headwater.errors import HeadwaterError, SettingsError
from headwater.graphql.query_limits import TOKENS_MAX, exceeded_limit, measure
from headwater.schema.settings_files import read_settings_file

STORED_MAX = 1_000
STORED_BYTES_MAX = 8 * 2**20
_HASH = re.compile(r"[0-9a-f]{64}")
_SETTING = "HEADWATER_PERSISTED_QUERIES"
_HINT = "See docs/reference/graphql.md for queries by hash or name."


class PersistedQueryError(HeadwaterError):
    """A persisted query that cannot be answered; clients act on `code`."""

    def __init__(self, message: str, code: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


class PersistedQueries:
    """The persisted queries of this process. Threads may share it."""

    def __init__(
        self,
        trusted: Mapping[str, str] | None = None,
        *,
        own: Mapping[str, str] | None = None,
        only: bool = False,
    ) -> None:
        """Create a store with the operator's trusted queries by name or hash, and Headwater's own.

        With `only`, all others are refused.
        """
        self.trusted = {**(trusted or {}), **(own or {})}
        self._has_operators = bool(trusted)
        self._only = only
        self._trusted_by_hash = {query_hash(query): query for query in self.trusted.values()}
        self._stored: OrderedDict[str, str] = OrderedDict()
        self._stored_bytes = 0
        self._lock = threading.Lock()

    def resolve(self, request: Mapping[str, Any], *, store: bool) -> str:
        """Return the text of the query of a request; with `store`, store a text sent with its hash.

        Raises PersistedQueryError for an unknown or refused query.
        """
        text, document_id, hash = _query_reference(request)
        if document_id is not None:
            if document_id not in self.trusted:
                raise PersistedQueryError(
                    f"documentId {document_id[:100]!r} is unknown", "PERSISTED_QUERY_NOT_FOUND"
                )
            return self.trusted[document_id]
        if text is None:
            return self._by_hash(hash)
        if hash and hash != query_hash(text):
            raise PersistedQueryError(
                "sha256Hash is not the SHA-256 of the query", "BAD_REQUEST", hint=_HINT
            )
        if self._only:
            return self._by_hash(query_hash(text))
        if hash and store:
            self._store(hash, text)
        return text

    def validate(self, schema: GraphQLSchema, cost_max: int) -> None:
        """Raise SettingsError if a trusted query is invalid, or if `only` is set without any."""
        if self._only and not self._has_operators:
            raise SettingsError(
                f"HEADWATER_PERSISTED_ONLY refuses every query, because {_SETTING} is not set",
                hint=f"Set {_SETTING} to a file or folder of queries.",
            )
        for name, query in self.trusted.items():
            try:
                document = parse(query, max_tokens=TOKENS_MAX)
                error = exceeded_limit(measure(document, schema, {}), cost_max)
                error = error or next(iter(validate(schema, document)), None)
            except (GraphQLError, RecursionError) as syntax_error:
                raise SettingsError(
                    f"persisted query {name!r} cannot be parsed: {syntax_error}"
                ) from syntax_error
            if error is not None:
                raise SettingsError(f"persisted query {name!r} is invalid: {error.message}")

    def _by_hash(self, hash: str) -> str:
        query = self._trusted_by_hash.get(hash) or self.trusted.get(hash)
        if query is None and self._only:
            raise PersistedQueryError(
                "this server answers registered queries only", "PERSISTED_QUERY_ONLY", hint=_HINT
            )
        with self._lock:
            if query is None and hash in self._stored:
                self._stored.move_to_end(hash)
                query = self._stored[hash]
        if query is None:
            # Apollo's clients compare this message, or the code.
            raise PersistedQueryError("PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND")
        return query

    def _store(self, hash: str, text: str) -> None:
        with self._lock:
            if hash not in self._stored:
                self._stored[hash] = text
                self._stored_bytes += len(text.encode())
            self._stored.move_to_end(hash)
            while len(self._stored) > STORED_MAX or self._stored_bytes > STORED_BYTES_MAX:
                _, evicted = self._stored.popitem(last=False)
                self._stored_bytes -= len(evicted.encode())


def query_hash(query: str) -> str:
    """Return the SHA-256 of a query, in hexadecimal."""
    return hashlib.sha256(query.encode()).hexdigest()


def _query_reference(request: Mapping[str, Any]) -> tuple[str | None, str | None, str]:
    """Return text, documentId and hash of the query of a request; at least one is set."""
    text, document_id = request.get("query"), request.get("documentId")
    extension = (request.get("extensions") or {}).get("persistedQuery")
    if extension is None:
        if text is None and document_id is None:
            raise PersistedQueryError("the request has no query", "BAD_REQUEST")
        return text, document_id if text is None else None, ""
    if not isinstance(extension, dict) or extension.get("version") != 1:
        raise PersistedQueryError(
            "persistedQuery.version must be 1", "PERSISTED_QUERY_NOT_SUPPORTED", hint=_HINT
        )
    hash = extension.get("sha256Hash")
    if not isinstance(hash, str) or not _HASH.fullmatch(hash):
        raise PersistedQueryError(
            "sha256Hash must be 64 lower-case hexadecimal digits", "BAD_REQUEST", hint=_HINT
        )
    return text, None, hash


def read_trusted_queries(path: Path | None) -> dict[str, str]:
    """Return the queries of a JSON file or of a folder of .graphql files, by name.

    Raises SettingsError for an unreadable file.
    """
    if path is None:
        return {}
    try:
        if path.is_dir():
            files = sorted(path.glob("*.graphql"))
            return {file.stem: read_settings_file(file) for file in files}
        queries = json.loads(read_settings_file(path))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{_SETTING}: {path} cannot be read: {error}") from error
    if not isinstance(queries, dict) or not all(
        isinstance(query, str) for query in queries.values()
    ):
        raise SettingsError(f"{_SETTING}: {path} must be a JSON object of names and queries")
    for name, query in queries.items():
        if _HASH.fullmatch(name) and name != query_hash(query):
            raise SettingsError(f"{_SETTING}: {name} is not the SHA-256 of its query")
    return queries
