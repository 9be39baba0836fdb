"""Queries that are asked by their hash or their name, and servers that answer no others.

*Automatic* ones, as Apollo's clients send them: a client asks by SHA-256 alone; whoever has never seen that query says
so (`PERSISTED_QUERY_NOT_FOUND`), and the client sends it once more with its text. What is kept is bounded, the longest
unused goes first, and only what somebody with a key sends is kept. A hash that is not that of the text is refused.

*Trusted* ones are read at start from a file or folder of the operator's: JSON of names (or hashes) and queries, or
`NAME.graphql` files. They are asked by `documentId` (the name), or by hash. With `only` nothing else is answered, not
even introspection.
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
from headwater.graphql.query_limits import TOKENS_MAX, fault, measure

KEPT_MAX = 1_000
KEPT_BYTES_MAX = 8 * 2**20
_HASH = re.compile(r"[0-9a-f]{64}")
_HINT = "docs/reference/graphql.md tells how queries are asked by hash or name."


class PersistedQueryError(HeadwaterError):
    """`code` is what the client goes by."""

    def __init__(self, message: str, code: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


class Persisted:
    """The queries that are known by hash or name. Safe to share between threads."""

    def __init__(self, trusted: Mapping[str, str] | None = None, *, only: bool = False) -> None:
        """`trusted`: name or hash -> query; `only`: answer no others."""
        self.trusted = dict(trusted or {})
        self._only = only
        self._by_hash = {hash_of(query): query for query in self.trusted.values()}
        self._kept: OrderedDict[str, str] = OrderedDict()
        self._bytes = 0
        self._turn = threading.Lock()

    def query(self, request: Mapping[str, Any], *, keep: bool) -> str:
        """The query that a request asks; `keep`: one that is sent with its hash may be kept.

        Raises PersistedQueryError when there is none such, or it may not be asked.
        """
        text, named, hash = _parts(request)
        if named is not None:
            if named not in self.trusted:
                raise PersistedQueryError(
                    f"there is no document {named[:100]!r} here", "PERSISTED_QUERY_NOT_FOUND"
                )
            return self.trusted[named]
        if text is None:
            return self._known(hash)
        if hash and hash != hash_of(text):
            raise PersistedQueryError(
                "sha256Hash is not the SHA-256 of the query", "BAD_REQUEST", hint=_HINT
            )
        if self._only:
            return self._known(hash_of(text))
        if hash and keep:
            self._keep(hash, text)
        return text

    def judge(self, schema: GraphQLSchema, cost_max: int) -> None:
        """Raises SettingsError for a trusted query that could not be answered, and when none could."""
        if self._only and not self.trusted:
            raise SettingsError(
                "HEADWATER_PERSISTED_ONLY answers nothing without HEADWATER_PERSISTED_QUERIES"
            )
        for name, query in self.trusted.items():
            try:
                document = parse(query, max_tokens=TOKENS_MAX)
                wrong = fault(measure(document, schema, {}), cost_max) or next(
                    iter(validate(schema, document)), None
                )
            except (GraphQLError, RecursionError) as error:
                raise SettingsError(
                    f"the persisted query {name!r} cannot be read: {error}"
                ) from error
            if wrong is not None:
                raise SettingsError(
                    f"the persisted query {name!r} cannot be answered: {wrong.message}"
                )

    def _known(self, hash: str) -> str:
        found = self._by_hash.get(hash) or self.trusted.get(hash)
        if found is None and self._only:
            message = "only queries that the operator of this Headwater has registered are answered"
            raise PersistedQueryError(message, "PERSISTED_QUERY_ONLY", hint=_HINT)
        with self._turn:
            if found is None and hash in self._kept:
                self._kept.move_to_end(hash)
                found = self._kept[hash]
        if found is None:
            # Apollo's clients go by this very message, or by its code.
            raise PersistedQueryError("PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND")
        return found

    def _keep(self, hash: str, text: str) -> None:
        with self._turn:
            if hash not in self._kept:
                self._kept[hash] = text
                self._bytes += len(text.encode())
            self._kept.move_to_end(hash)
            while len(self._kept) > KEPT_MAX or self._bytes > KEPT_BYTES_MAX:
                _, gone = self._kept.popitem(last=False)
                self._bytes -= len(gone.encode())


def hash_of(query: str) -> str:
    """The SHA-256 of a query, in hexadecimal."""
    return hashlib.sha256(query.encode()).hexdigest()


def _parts(request: Mapping[str, Any]) -> tuple[str | None, str | None, str]:
    """The text, the name and the hash of the query that a request asks; one of them at least is there."""
    text, named = request.get("query"), request.get("documentId")
    extension = (request.get("extensions") or {}).get("persistedQuery")
    if extension is None:
        if text is None and named is None:
            raise PersistedQueryError("the request has no query", "BAD_REQUEST")
        return text, named if text is None else None, ""
    if not isinstance(extension, dict) or extension.get("version") != 1:
        raise PersistedQueryError(
            "persistedQuery is not of version 1", "PERSISTED_QUERY_NOT_SUPPORTED", hint=_HINT
        )
    hash = extension.get("sha256Hash")
    if not isinstance(hash, str) or not _HASH.fullmatch(hash):
        raise PersistedQueryError(
            "sha256Hash is not 64 hexadecimal digits", "BAD_REQUEST", hint=_HINT
        )
    return text, None, hash


def read_trusted(path: Path | None) -> dict[str, str]:
    """The queries of a JSON file or of a folder of .graphql files, by name. Raises SettingsError."""
    if path is None:
        return {}
    try:
        if path.is_dir():
            return {
                file.stem: file.read_text(encoding="utf-8")
                for file in sorted(path.glob("*.graphql"))
            }
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"HEADWATER_PERSISTED_QUERIES: {path} cannot be read: {error}"
        ) from error
    if not isinstance(found, dict) or not all(isinstance(query, str) for query in found.values()):
        raise SettingsError(
            f"HEADWATER_PERSISTED_QUERIES: {path} is not a JSON object of names and queries"
        )
    wrong = [
        name for name, query in found.items() if _HASH.fullmatch(name) and name != hash_of(query)
    ]
    if wrong:
        raise SettingsError(
            f"HEADWATER_PERSISTED_QUERIES: {wrong[0]} is not the SHA-256 of its query"
        )
    return found
