"""The principal of a request, and its scopes.

| scope | permission |
|---|---|
| ingest | send events, register assets, sources, runs, artifacts and answers |
| read | query everything in the namespaces of the key |
| steward | edit datasets and jobs by hand: descriptions, owners, tags, names, deletions |
| cypher | run the audit queries and free Cypher; only with a key for all namespaces |
| admin | everything, and read the keys and the access log |

The namespaces of a key (`headwater.schema.visibility`) limit both sides: its events describe only
jobs and datasets there, and its queries return only nodes there. Numbers that count everything,
such as /metrics, need a key for all namespaces.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from headwater.errors import ForbiddenError, QueryError
from headwater.schema.visibility import UNRESTRICTED, Visibility

# Set in the ASGI scope of a request on a connection with a client's certificate.
CLIENT_CERTIFICATE = "headwater.client_certificate"


class Scope(StrEnum):
    """A permission of a key."""

    INGEST = "ingest"
    READ = "read"
    STEWARD = "steward"
    CYPHER = "cypher"
    ADMIN = "admin"


def scopes_of(names: Iterable[str]) -> list[Scope]:
    """Return scopes by their names. Raises QueryError for an unknown name."""
    scopes = []
    for name in names:
        if name not in set(Scope):
            raise QueryError(
                f"{name!r} is an unknown scope", hint=f"Give one of {', '.join(Scope)}."
            )
        scopes.append(Scope(name))
    return scopes


@dataclass(frozen=True)
class Principal:
    """An authenticated caller.

    `name` is that of its key, or `ISSUER#SUBJECT` of a person or program that an OpenID provider
    authenticated. `display_name` is for people to read; nothing is decided by it.
    """

    name: str
    scopes: frozenset[Scope]
    # The namespaces that it sees, and those that it describes; None: the same.
    visibility: Visibility = UNRESTRICTED
    write_visibility: Visibility | None = None
    display_name: str = ""
    has_key: bool = True
    # The server wants a client's certificate for events, and the connection has none.
    lacks_certificate: bool = field(default=False, compare=False)

    @property
    def writable(self) -> Visibility:
        """Return the namespaces that the principal may describe."""
        return self.visibility if self.write_visibility is None else self.write_visibility

    def has_scope(self, scope: Scope) -> bool:
        """Return True if the principal has the scope; admin includes every scope."""
        return scope in self.scopes or Scope.ADMIN in self.scopes

    def require(self, scope: Scope) -> None:
        """Check a scope; for cypher, also that the key covers all namespaces.

        Raises ForbiddenError.
        """
        if scope is Scope.INGEST and self.lacks_certificate:
            raise ForbiddenError(
                "sending events needs a client's certificate, and this connection has none",
                hint="Send the certificate of a client, signed by HEADWATER_TLS_CLIENT_CA.",
            )
        if not self.has_scope(scope) and not self.has_key:
            raise ForbiddenError(
                f"this needs a role with scope {scope}; {self.name!r} has {_listed(self.scopes)}",
                hint="Ask an administrator for a role, or for the group that has it.",
            )
        if not self.has_scope(scope):
            raise ForbiddenError(
                f"this needs a key with scope {scope}; {self.name!r} has {_listed(self.scopes)}",
                hint=f"`headwater keys create NAME --scope {scope}` creates one.",
            )
        if scope is Scope.CYPHER and not self.visibility.is_unrestricted:
            raise ForbiddenError(
                "Cypher cannot be limited to namespaces, so it needs a key for all of them",
                hint="Use GraphQL, or a key for all namespaces.",
            )

    def require_every_namespace(self, what: str) -> None:
        """Check that no namespace is hidden from the principal; `what` counts all of them.

        Raises ForbiddenError.
        """
        if not self.visibility.is_unrestricted:
            raise ForbiddenError(
                f"{what} counts the events and findings of all namespaces, but this key is "
                "restricted to some",
                hint="Use a key for all namespaces.",
            )


def _listed(scopes: frozenset[Scope]) -> str:
    return ", ".join(sorted(scopes)) or "none"


# Every caller of a Headwater that requires no keys.
ANONYMOUS = Principal("anonymous", frozenset({Scope.ADMIN}))
# A caller before authentication.
UNAUTHENTICATED = Principal("unauthenticated", frozenset(), Visibility(()))
