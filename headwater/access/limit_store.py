"""The limits of single callers, by the name of a principal, in the access store."""

from __future__ import annotations

import math
from dataclasses import dataclass

from headwater.access.store import AccessStore
from headwater.errors import NotFoundError, QueryError

_COLUMNS = "requests, events, concurrency"


@dataclass(frozen=True)
class Limits:
    """Requests and events a second, and requests at one time; 0: no limit."""

    requests: float = 0.0
    events: float = 0.0
    concurrency: int = 0


class LimitStore:
    """The limits in a store."""

    def __init__(self, store: AccessStore) -> None:
        self._store = store

    def set(self, name: str, limits: Limits) -> None:
        """Store the limits of a name. Raises QueryError for a malformed name or limit."""
        if not name.strip() or len(name) > 200 or not name.isprintable():
            raise QueryError("the name of a caller must have 1 to 200 printable characters")
        for value in (limits.requests, limits.events, limits.concurrency):
            if not 0 <= value < math.inf:
                raise QueryError(f"the limit {value:g} must be a number from 0")
        with self._store.write() as connection:
            connection.execute(
                f"INSERT OR REPLACE INTO caller_limit(name, {_COLUMNS}) VALUES(?, ?, ?, ?)",
                (name, limits.requests, limits.events, limits.concurrency),
            )

    def remove(self, name: str) -> None:
        """Remove the limits of a name; the defaults then count. Raises NotFoundError."""
        with self._store.write() as connection:
            connection.execute("DELETE FROM caller_limit WHERE name = ?", (name,))
            if not connection.changes():
                raise NotFoundError(
                    f"{name!r} has no limits of its own", hint="`headwater keys limit` lists them."
                )

    def find(self, name: str) -> Limits | None:
        """Return the limits of a name; None if it has none of its own."""
        with self._store.read() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM caller_limit WHERE name = ?", (name,)
            ).fetchone()
        return Limits(*row) if row else None

    def list(self) -> dict[str, Limits]:
        """Return all limits by name."""
        with self._store.read() as connection:
            rows = connection.execute(f"SELECT name, {_COLUMNS} FROM caller_limit ORDER BY name")
            return {name: Limits(*values) for name, *values in rows}
