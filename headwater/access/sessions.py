"""Sessions of the page: a key is sent once, and a signed token stands for it in a cookie.

A token is `<key id>.<session id>.<expires>.<signature>`. It holds no secret of the key. Its
signature is an HMAC-SHA256 with the secret in `session.key` beside the access store. Every request
reads that file and looks the key up, so a new secret ends all sessions, and a revoked or expired
key ends its own, from the next request on. The access store keeps the ids of sessions that were
signed out until they would have expired, and of the last `_EXPIRED_MAX` for longer. So a clock that
was ahead for a while brings none of them back.

In the session of a person whom an OpenID provider authenticated, `oidc` stands for the key id. The
access store keeps the claims that give its roles until it ends; the present roles count.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headwater.access.keys import Keys
from headwater.access.oidc.sign_on import SignOn
from headwater.access.principal import Principal, Scope
from headwater.access.secret_file import load_secret
from headwater.access.store import AccessStore
from headwater.errors import UnauthorizedError

_OIDC = "oidc"
_TOKEN = re.compile(r"((?:[0-9a-f]{12}|oidc)\.([0-9a-f]{32})\.([0-9]{1,12}))\.([A-Za-z0-9_-]{43})")
_PURPOSE = b"headwater session 1\0"
_HINT = "Sign in again."
_EXPIRED_MAX = 10_000


@dataclass(frozen=True)
class Session:
    """A valid session, with the present scopes of its principal. `expires` is in UTC.

    `key_id` is the id of its key, or `oidc`.
    """

    id: str
    key_id: str
    principal: Principal
    expires: datetime


class Sessions:
    """The sessions of the keys in a store, and of people whom an OpenID provider authenticated."""

    def __init__(
        self,
        keys: Keys,
        store: AccessStore,
        secret_path: Path,
        *,
        seconds: int,
        sign_on: SignOn | None = None,
    ) -> None:
        self._keys = keys
        self._store = store
        self._secret_path = secret_path
        self._seconds = seconds
        self._sign_on = sign_on

    def start(self, key_text: str) -> tuple[str, Session]:
        """Start a session of a key; return its token and the session.

        Raises UnauthorizedError unless the key is valid, and ForbiddenError unless it may read.
        """
        key = self._keys.key(key_text)
        key.principal.require(Scope.READ)
        expires = int(time.time()) + self._seconds
        if key.expires is not None:
            expires = min(expires, int(key.expires.timestamp()))
        return self._signed(key.id, secrets.token_hex(16), key.principal, expires)

    def start_signed_on(self, claims: Mapping[str, Any]) -> tuple[str, Session]:
        """Start a session of verified claims; return its token and the session.

        It ends with the token of the claims at the latest. Raises ForbiddenError unless the claims
        give a role that may read.
        """
        assert self._sign_on is not None
        principal = self._sign_on.roles.principal_of(claims)
        principal.require(Scope.READ)
        now = int(time.time())
        expires = min(now + self._seconds, int(claims["exp"]))
        id = secrets.token_hex(16)
        kept = json.dumps(self._sign_on.kept_claims(claims))
        with self._store.write() as connection:
            connection.execute("DELETE FROM oidc_session WHERE expires <= ?", (now,))
            connection.execute(
                "INSERT INTO oidc_session(id, claims, expires) VALUES(?, ?, ?)", (id, kept, expires)
            )
        return self._signed(_OIDC, id, principal, expires)

    def session(self, token: str) -> Session:
        """Return the session of a token. Raises UnauthorizedError unless it is valid."""
        match = _TOKEN.fullmatch(token)
        if match is None or not hmac.compare_digest(
            self._signature(match.group(1)), match.group(4)
        ):
            raise UnauthorizedError("the session is not valid", hint=_HINT)
        id, expires = match.group(2), int(match.group(3))
        if expires <= time.time() or self._is_ended(id):
            raise UnauthorizedError("the session has ended", hint=_HINT)
        key_id = token.partition(".")[0]
        if key_id == _OIDC:
            principal = self._signed_on(id)
        else:
            principal = self._keys.valid_key(key_id).principal
        return Session(id, key_id, principal, datetime.fromtimestamp(expires, UTC))

    def end(self, session: Session) -> None:
        """End a session: its token is refused from the next request on."""
        with self._store.write() as connection:
            connection.execute(
                "DELETE FROM ended_session WHERE expires <= ? AND rowid <= "
                "(SELECT max(rowid) FROM ended_session) - ?",
                (int(time.time()), _EXPIRED_MAX),
            )
            connection.execute("DELETE FROM oidc_session WHERE id = ?", (session.id,))
            connection.execute(
                "INSERT OR IGNORE INTO ended_session(id, expires) VALUES(?, ?)",
                (session.id, int(session.expires.timestamp())),
            )

    def _signed(
        self, key_id: str, id: str, principal: Principal, expires: int
    ) -> tuple[str, Session]:
        content = f"{key_id}.{id}.{expires}"
        session = Session(id, key_id, principal, datetime.fromtimestamp(expires, UTC))
        return f"{content}.{self._signature(content)}", session

    def _signed_on(self, id: str) -> Principal:
        """Return the present principal of a stored session. Raises UnauthorizedError."""
        with self._store.read() as connection:
            rows = connection.execute("SELECT claims FROM oidc_session WHERE id = ?", (id,))
            row = rows.fetchone()
        claims = json.loads(row[0]) if row else {}
        if self._sign_on is None or claims.get("iss") != self._sign_on.provider.issuer:
            raise UnauthorizedError("the session has ended", hint=_HINT)
        principal = self._sign_on.roles.principal_of(claims)
        if not principal.has_scope(Scope.READ):
            raise UnauthorizedError("the session has no role any more", hint=_HINT)
        return principal

    def _is_ended(self, id: str) -> bool:
        with self._store.read() as connection:
            rows = connection.execute("SELECT 1 FROM ended_session WHERE id = ?", (id,))
            return rows.fetchone() is not None

    def _signature(self, content: str) -> str:
        secret = load_secret(self._secret_path)
        digest = hmac.digest(secret, _PURPOSE + content.encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")
