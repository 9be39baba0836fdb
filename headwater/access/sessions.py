"""Sessions of the page: a key is sent once, and a signed token stands for it in a cookie.

A token is `<key id>.<session id>.<expires>.<signature>`. It holds no secret of the key. Its
signature is an HMAC-SHA256 with the secret in `session.key` beside the access store. Every request
reads that file and looks the key up, so a new secret ends all sessions, and a revoked or expired
key ends its own, from the next request on. The access store keeps the ids of sessions that were
signed out until they would have expired.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from headwater.access.keys import Key, Keys
from headwater.access.principal import Principal, Scope
from headwater.access.secret_file import load_secret
from headwater.access.store import AccessStore
from headwater.errors import UnauthorizedError

_TOKEN = re.compile(r"([0-9a-f]{12}\.([0-9a-f]{32})\.([0-9]{1,12}))\.([A-Za-z0-9_-]{43})")
_PURPOSE = b"headwater session 1\0"
_HINT = "Sign in again."


@dataclass(frozen=True)
class Session:
    """A valid session. `expires` is in UTC."""

    id: str
    key: Key
    expires: datetime

    @property
    def principal(self) -> Principal:
        """Return the principal of the session: that of its key, with its present scopes."""
        return self.key.principal


class Sessions:
    """The sessions of the keys in a store."""

    def __init__(self, keys: Keys, store: AccessStore, secret_path: Path, *, seconds: int) -> None:
        self._keys = keys
        self._store = store
        self._secret_path = secret_path
        self._seconds = seconds

    def start(self, key_text: str) -> tuple[str, Session]:
        """Start a session of a key; return its token and the session.

        Raises UnauthorizedError unless the key is valid, and ForbiddenError unless it may read.
        """
        key = self._keys.key(key_text)
        key.principal.require(Scope.READ)
        expires = int(time.time()) + self._seconds
        if key.expires is not None:
            expires = min(expires, int(key.expires.timestamp()))
        session = Session(secrets.token_hex(16), key, datetime.fromtimestamp(expires, UTC))
        content = f"{key.id}.{session.id}.{expires}"
        return f"{content}.{self._signature(content)}", session

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
        key = self._keys.valid_key(token.partition(".")[0])
        return Session(id, key, datetime.fromtimestamp(expires, UTC))

    def end(self, session: Session) -> None:
        """End a session: its token is refused from the next request on."""
        with self._store.write() as connection:
            connection.execute("DELETE FROM ended_session WHERE expires <= ?", (int(time.time()),))
            connection.execute(
                "INSERT OR IGNORE INTO ended_session(id, expires) VALUES(?, ?)",
                (session.id, int(session.expires.timestamp())),
            )

    def _is_ended(self, id: str) -> bool:
        with self._store.read() as connection:
            rows = connection.execute("SELECT 1 FROM ended_session WHERE id = ?", (id,))
            return rows.fetchone() is not None

    def _signature(self, content: str) -> str:
        secret = load_secret(self._secret_path)
        digest = hmac.digest(secret, _PURPOSE + content.encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")
