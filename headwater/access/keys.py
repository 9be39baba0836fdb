"""API keys: random, shown once, stored as a hash, named, expiring, revocable.

A key has the form `hw_<id>_<secret>`. The secret has 256 random bits, so one round of SHA-256 is as
safe as a slower hash: nothing can be guessed. A revoked or expired key is refused from the next
request on.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from headwater.access.principal import Principal, Scope
from headwater.access.secret_file import create_private
from headwater.access.store import AccessStore
from headwater.errors import NotFoundError, QueryError, SettingsError, UnauthorizedError
from headwater.schema.events import is_utf8
from headwater.schema.visibility import ALL, Visibility

_log = logging.getLogger(__name__)
DAYS_DEFAULT = 365
NAME_CHARACTERS_MAX = 100
_KEY = re.compile(r"hw_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_HINT = (
    "`headwater keys create NAME --scope read` creates a key; "
    "send it as `Authorization: Bearer hw_...`."
)
_COLUMNS = "id, name, scopes, namespaces, created, expires, revoked"


@dataclass(frozen=True)
class Key:
    """An API key without its secret. Times in UTC."""

    id: str
    name: str
    scopes: tuple[Scope, ...]
    namespaces: tuple[str, ...]
    created: datetime
    expires: datetime | None
    revoked: datetime | None

    @property
    def state(self) -> str:
        """Return `valid`, `expired` or `revoked`."""
        if self.revoked:
            return "revoked"
        return "expired" if self.expires and self.expires <= datetime.now(UTC) else "valid"

    @property
    def principal(self) -> Principal:
        """Return the principal that the key identifies."""
        return Principal(self.name, frozenset(self.scopes), Visibility(self.namespaces))


class Keys:
    """The keys in a store."""

    def __init__(self, store: AccessStore) -> None:
        self._store = store

    def create(
        self,
        name: str,
        scopes: Iterable[Scope],
        *,
        namespaces: Iterable[str] = (ALL,),
        days: float | None = DAYS_DEFAULT,
    ) -> tuple[str, Key]:
        """Create a key; return its text, which is not stored, and its entry.

        The key expires after `days`, or never if that is None.
        Raises QueryError if a valid key has the name, or if an argument is malformed.
        """
        sorted_scopes = tuple(sorted(set(scopes)))
        patterns = tuple(dict.fromkeys(namespaces))
        _check(name, sorted_scopes, patterns, days)
        id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        now = _microseconds(datetime.now(UTC))
        expires = None
        if days is not None:
            expires = now + int(timedelta(days=days) / timedelta(microseconds=1))
        with self._store.write() as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM key WHERE name = ?", (name,))
            if any(_key(row).state == "valid" for row in rows):
                raise QueryError(
                    f"a valid key has the name {name!r}",
                    hint="Revoke it, or choose another name.",
                )
            row = (
                id,
                name,
                _hash(secret),
                json.dumps(sorted_scopes),
                json.dumps(patterns),
                now,
                expires,
            )
            connection.execute(
                "INSERT INTO key(id, name, hash, scopes, namespaces, created, expires)"
                " VALUES(?, ?, ?, ?, ?, ?, ?)",
                row,
            )
        return f"hw_{id}_{secret}", self._by_id(id)

    def list(self) -> list[Key]:
        """Return all keys, revoked and expired ones included, oldest first."""
        with self._store.read() as connection:
            return [
                _key(row)
                for row in connection.execute(f"SELECT {_COLUMNS} FROM key ORDER BY created, id")
            ]

    def has_valid_key(self) -> bool:
        """Return True if any key is valid."""
        return any(key.state == "valid" for key in self.list())

    def revoke(self, name: str) -> Key:
        """Revoke a key by its name or id. Raises NotFoundError if no unrevoked key has it."""
        for key in self.list():
            if name in (key.name, key.id) and not key.revoked:
                with self._store.write() as connection:
                    now = _microseconds(datetime.now(UTC))
                    connection.execute("UPDATE key SET revoked = ? WHERE id = ?", (now, key.id))
                return self._by_id(key.id)
        raise NotFoundError(
            f"no unrevoked key has the name or id {name!r}",
            hint="`headwater keys list` lists them.",
        )

    def principal(self, token: str) -> Principal:
        """Return the principal of a key. Raises UnauthorizedError unless the key is valid."""
        return self.key(token).principal

    def key(self, token: str) -> Key:
        """Return the entry of a key. Raises UnauthorizedError unless the key is valid."""
        match = _KEY.fullmatch(token)
        if match is None:
            raise UnauthorizedError("the bearer token is no API key of Headwater", hint=_HINT)
        with self._store.read() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS}, hash FROM key WHERE id = ?", (match.group(1),)
            ).fetchone()
        # Compare even without a row, so that the time does not reveal the existence of an id.
        stored = row[-1] if row else bytes(32)
        if not hmac.compare_digest(stored, _hash(match.group(2))) or row is None:
            raise UnauthorizedError("this API key does not exist", hint=_HINT)
        return _require_valid(_key(row[:-1]))

    def valid_key(self, id: str) -> Key:
        """Return a key by its id. Raises UnauthorizedError unless the key is valid."""
        with self._store.read() as connection:
            row = connection.execute(f"SELECT {_COLUMNS} FROM key WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise UnauthorizedError("this API key does not exist", hint=_HINT)
        return _require_valid(_key(row))

    def _by_id(self, id: str) -> Key:
        with self._store.read() as connection:
            rows = list(connection.execute(f"SELECT {_COLUMNS} FROM key WHERE id = ?", (id,)))
        return _key(rows[0])


def create_first_key(keys: Keys, path: Path) -> None:
    """Create a key with scopes ingest and read, and write its text into a private file.

    An existing file stays, and no key is created. Raises SettingsError if it cannot be written.
    """
    if path.exists():
        return
    token, key = keys.create("first", (Scope.INGEST, Scope.READ))
    try:
        create_private(path, f"{token}\n".encode())
    except OSError as error:
        keys.revoke(key.id)
        raise SettingsError(f"HEADWATER_FIRST_KEY_FILE: {error}") from error
    _log.info("first_key_created path=%s", path)


def is_key(text: str) -> bool:
    """Return True if a text has the prefix of Headwater's API keys."""
    return text.startswith("hw_")


def _require_valid(key: Key) -> Key:
    """Return a key. Raises UnauthorizedError if it is revoked or expired."""
    if key.state != "valid":
        raise UnauthorizedError(f"the key {key.name!r} is {key.state}", hint=_HINT)
    return key


def _check(
    name: str, scopes: tuple[Scope, ...], namespaces: tuple[str, ...], days: float | None
) -> None:
    if not name.strip() or len(name) > NAME_CHARACTERS_MAX or not name.isprintable():
        raise QueryError(
            f"the name of a key must have 1 to {NAME_CHARACTERS_MAX} printable characters"
        )
    if not scopes:
        raise QueryError("a key must have a scope", hint=f"Give one of {', '.join(Scope)}.")
    for namespace in namespaces:
        if not is_utf8(namespace):
            raise QueryError(f"the namespace pattern {namespace!r} is not UTF-8")
    if not namespaces or not all(namespaces):
        raise QueryError(
            "a namespace pattern is empty", hint=f"Omit it for all namespaces, or write {ALL!r}."
        )
    if days is not None and not 0 < days <= 36_500:
        raise QueryError(f"days {days:g} must be above 0 and at most 36,500")
    wide = {Scope.CYPHER, Scope.ADMIN}.intersection(scopes)
    if wide and ALL not in namespaces:
        raise QueryError(
            f"scope {', '.join(sorted(wide))} cannot be limited to some namespaces",
            hint="Omit --namespace, or the scope.",
        )


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _key(row: tuple[Any, ...]) -> Key:
    id, name, scopes, namespaces, created, expires, revoked = row
    listed = tuple(Scope(scope) for scope in json.loads(scopes))
    return Key(
        id,
        name,
        listed,
        tuple(json.loads(namespaces)),
        _instant(created),
        _maybe(expires),
        _maybe(revoked),
    )


def _maybe(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else _instant(microseconds)


def _instant(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)


def _microseconds(instant: datetime) -> int:
    return (instant - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
