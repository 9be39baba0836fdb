"""Tokens of tiles: each opens one figure to anybody who has it, with the visibility of one key.

A token is `<key id>.<expires>.<signature>`. Its signature is an HMAC-SHA256 of the figure, the id
of the key and the end, with the secret in `tile.key` beside the access store. Every request looks
the key up, so revoking it ends its tiles. A new secret ends all tiles. Without required keys a
token may name no key; it then counts only while the API requires none.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from pathlib import Path

from headwater.access.keys import Key, Keys
from headwater.access.principal import ANONYMOUS, Principal, Scope
from headwater.access.secret_file import load_secret
from headwater.errors import NotFoundError, UnauthorizedError

_TOKEN = re.compile(r"([0-9a-f]{12}|-)\.([0-9]{1,12})\.([A-Za-z0-9_-]{43})")
_PURPOSE = b"headwater tile 1\0"
_NO_KEY = "-"
_HINT = "`headwater tile FIGURE` makes a new address."


class TileTokens:
    """The tokens of the tiles of a server."""

    def __init__(self, keys: Keys, secret_path: Path, *, required: bool) -> None:
        self._keys = keys
        self._secret_path = secret_path
        self._required = required

    def sign(self, figure: str, key: Key | None, *, seconds: int) -> str:
        """Return a token of a figure; without a key, for an API that requires none.

        Raises ForbiddenError for a key that may not read.
        """
        expires = int(time.time()) + seconds
        if key is not None:
            key.principal.require(Scope.READ)
            if key.expires is not None:
                expires = min(expires, int(key.expires.timestamp()))
        content = f"{_NO_KEY if key is None else key.id}.{expires}"
        return f"{content}.{self._signature(figure, content)}"

    def principal(self, figure: str, token: str) -> Principal:
        """Return whose visibility a token of a figure has. Raises NotFoundError."""
        match = _TOKEN.fullmatch(token)
        content = token.rpartition(".")[0]
        if match is None or not hmac.compare_digest(
            self._signature(figure, content), match.group(3)
        ):
            raise NotFoundError("this address of a tile is not valid", hint=_HINT)
        if int(match.group(2)) <= time.time():
            raise NotFoundError("this address of a tile has expired", hint=_HINT)
        if match.group(1) == _NO_KEY:
            if self._required:
                raise NotFoundError("a tile needs a key, because this API requires one")
            return ANONYMOUS
        try:
            principal = self._keys.valid_key(match.group(1)).principal
        except UnauthorizedError as error:
            raise NotFoundError("the key of this tile is not valid any more", hint=_HINT) from error
        principal.require(Scope.READ)
        return principal

    def _signature(self, figure: str, content: str) -> str:
        signed = _PURPOSE + f"{figure}\0{content}".encode()
        digest = hmac.digest(load_secret(self._secret_path), signed, hashlib.sha256)
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")
