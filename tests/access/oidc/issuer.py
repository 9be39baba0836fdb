"""An issuer on a real socket: its documents, and tokens that its keys sign."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from joserfc import jwk, jwt
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.browser import listening

AUDIENCE = "headwater"
Key = jwk.RSAKey | jwk.ECKey | jwk.OKPKey


class Issuer:
    """The keys of an issuer, which tests add, remove and make unreachable."""

    def __init__(self) -> None:
        self.url = ""
        self.named = ""
        self.keys: list[Key] = [jwk.RSAKey.generate_key(2048, {"kid": "rsa", "use": "sig"})]
        self.extra: list[dict[str, Any]] = []
        self.reads = 0
        self.status = 200

    @property
    def key(self) -> Key:
        return self.keys[0]

    async def discovery(self, _: Request) -> Response:
        content = {"issuer": self.named or self.url, "jwks_uri": f"{self.url}/keys"}
        return JSONResponse(content, self.status)

    async def jwks(self, _: Request) -> Response:
        self.reads += 1
        keys = [key.as_dict(private=False) for key in self.keys]
        return JSONResponse({"keys": [*keys, *self.extra]}, self.status)

    def claims(self, **changed: Any) -> dict[str, Any]:
        """Return valid claims; a changed one that is None is absent."""
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "ann",
            "iat": now,
            "exp": now + 300,
            "groups": ["headwater-viewer"],
            **changed,
        }
        return {name: value for name, value in claims.items() if value is not None}

    def token(
        self, key: Key | None = None, header: dict[str, Any] | None = None, **changed: Any
    ) -> str:
        """Return a token that a key signs, by default the first one of the issuer."""
        key = key or self.key
        algorithm = {"RSA": "RS256", "EC": "ES256", "OKP": "EdDSA"}[key.key_type]
        sent = {"alg": algorithm, "kid": key.kid, "typ": "JWT", **(header or {})}
        sent = {name: value for name, value in sent.items() if value is not None}
        return jwt.encode(sent, self.claims(**changed), key, algorithms=[sent["alg"]])


@contextmanager
def serving_issuer() -> Iterator[Issuer]:
    """Serve the documents of an issuer."""
    issuer = Issuer()
    routes = [
        Route("/.well-known/openid-configuration", issuer.discovery),
        Route("/keys", issuer.jwks),
    ]
    with listening(Starlette(routes=routes)) as url:
        issuer.url = url
        yield issuer
