"""Refuse requests that a web page of another site sends through a browser on this machine.

Without keys, every program on loopback may use the API, and so could any page open in a local
browser. Two headers prevent that. `Host` must be a loopback name: a foreign name may resolve to
127.0.0.1 (DNS rebinding). `Origin`, which browsers add, must be this server's own address
(cross-site request forgery), or one of those that the operator allows.

Starlette's TrustedHostMiddleware checks neither IPv6 hosts nor origins, and answers 400 in plain
text.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater.errors import HeadwaterError
from headwater.settings import LOOPBACK, Settings
from headwater.web import error_response

_SHOWN_CHARACTERS = 100
_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")
_HINT = (
    "List the origin of the page in HEADWATER_CORS_ORIGINS, for example https://dash.example.com. "
    "For another host name set HEADWATER_REQUIRE_KEYS=true to require keys instead, or, behind a "
    "proxy that authenticates callers, HEADWATER_ALLOW_ANONYMOUS=true."
)


class ForeignPageError(HeadwaterError):
    """A request for a foreign host name, or from a page of another site."""

    status = 403


class OriginCheck:
    """ASGI middleware that refuses foreign hosts and origins.

    An empty `hosts` allows every host name. Requests of pages of `origins`
    pass too; their host is checked all the same.
    """

    def __init__(
        self, app: ASGIApp, hosts: frozenset[str], origins: frozenset[str] = frozenset()
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        origin = headers.get(b"origin", b"").decode("latin-1")
        refusal = self._refusal(host, origin)
        if not refusal:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            # A close before the accept becomes status 403.
            await send({"type": "websocket.close", "reason": refusal})
        else:
            await error_response(ForeignPageError(refusal, hint=_HINT))(scope, receive, send)

    def _refusal(self, host: str, origin: str) -> str:
        """Return the reason for refusing a request with these headers, or ""."""
        if self._hosts and host and _hostname(host) not in self._hosts:
            return f"the Host header {host[:_SHOWN_CHARACTERS]!r} is no loopback name"
        if origin and origin not in self._origins and urlsplit(origin).netloc != host:
            return f"pages of {origin[:_SHOWN_CHARACTERS]!r} may not use this Headwater"
        return ""


@lru_cache(maxsize=256)
def _hostname(host: str) -> str | None:
    """Return the name in a `Host` header, without the port."""
    return urlsplit(f"//{host}").hostname


def is_from_own_page(connection: HTTPConnection, *, is_write: bool) -> bool:
    """Return True unless headers show that a page of another origin caused a request.

    Browsers add `Sec-Fetch-Site` to every request, and `Origin` to a write. A write without both is
    not known to come from a page of this server.
    """
    headers = connection.headers
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
        return False
    if is_write:
        return site == "same-origin" or (site is None and origin is not None)
    return site in (None, "same-origin", "none")


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """Return the host names of this server.

    The set is empty if callers need keys or the operator allows anonymous callers.
    """
    return frozenset() if settings.allow_anonymous or settings.keys_required else LOOPBACK


def cors_middleware(origins: frozenset[str]) -> list[Middleware]:
    """Return the middleware that lets pages of these origins read answers; none without origins.

    It must follow `OriginCheck`, which refuses the pages of all other origins.
    """
    if not origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=sorted(origins),
            allow_methods=_METHODS,
            # Each header that a client asks for; the origin is trusted.
            allow_headers=["*"],
            allow_credentials=True,
            expose_headers=["Retry-After", "WWW-Authenticate"],
        )
    ]
