"""Whoever asks, and what they may do.

| scope | what it lets do |
|---|---|
| ingest | send events, register assets, sources, runs, artifacts and answers |
| read | ask everything about what lies in sight |
| steward | decide by hand what producers would not: which names are one dataset |
| cypher | run the auditors' library and free Cypher; only with all namespaces, since Cypher cannot be held to some |
| admin | everything, and see the keys and the log of access |

What lies in sight are the namespaces of the key (`headwater.schema.visibility`): own jobs and datasets may be written there,
and nothing outside is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from headwater.errors import ForbiddenError, QueryError
from headwater.schema.visibility import UNRESTRICTED, Visibility


class Scope(StrEnum):
    INGEST = "ingest"
    READ = "read"
    STEWARD = "steward"
    CYPHER = "cypher"
    ADMIN = "admin"


def scopes_of(names: Iterable[str]) -> list[Scope]:
    """Scopes by name. Raises QueryError for one that is none."""
    found = []
    for name in names:
        if name not in set(Scope):
            raise QueryError(f"{name!r} is no scope", hint=f"Give one of {', '.join(Scope)}.")
        found.append(Scope(name))
    return found


@dataclass(frozen=True)
class Principal:
    """Whoever asks. `name` is that of the key."""

    name: str
    scopes: frozenset[Scope]
    visibility: Visibility = UNRESTRICTED

    def has_scope(self, scope: Scope) -> bool:
        return scope in self.scopes or Scope.ADMIN in self.scopes

    def require(self, scope: Scope) -> None:
        """Raises ForbiddenError without the scope, or where it is worth nothing without all namespaces."""
        if not self.has_scope(scope):
            raise ForbiddenError(
                f"this needs a key with scope {scope}; that of {self.name!r} has {_listed(self.scopes)}",
                hint=f"`headwater keys create NAME --scope {scope}` makes one.",
            )
        if scope is Scope.CYPHER and not self.visibility.is_unrestricted:
            raise ForbiddenError(
                "Cypher cannot be held to some namespaces, so a key for some may not run it",
                hint="Ask over GraphQL, or with a key for all namespaces.",
            )


def _listed(scopes: frozenset[Scope]) -> str:
    return ", ".join(sorted(scopes)) or "none"


# Whoever reaches a Headwater that asks for no keys.
ANONYMOUS = Principal("anonymous", frozenset({Scope.ADMIN}))
# Whom nobody has looked at.
UNAUTHENTICATED = Principal("unauthenticated", frozenset(), Visibility(()))
