"""Refuse requests that a web page of another site sends through a browser on this machine.

Without keys, everyone who reaches the API may use it, and so could any page open in a browser that
reaches it. Two headers prevent that. `Host` must be a name of this server: a foreign name may
resolve to its address (DNS rebinding). `Origin`, which browsers add, must be this server's own
address (cross-site request forgery), or one of those that the operator allows. Over HTTPS the page
must be of HTTPS too. Over HTTP it may be, as a proxy may speak TLS and not forward the scheme.

The names of a server are those of loopback and those in HEADWATER_ALLOWED_HOSTS. If it admits
anonymous clients from elsewhere, an IP address and a name without a dot are names of it as well: no
page on the internet has such an address.

Starlette's TrustedHostMiddleware checks neither IPv6 hosts nor origins, and answers 400 in plain
text.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple
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
    "List the origin of the page in HEADWATER_CORS_ORIGINS, for example https://dash.example.com, "
    "and another name of this server in HEADWATER_ALLOWED_HOSTS, for example lineage.example.com; "
    "or require keys with HEADWATER_REQUIRE_KEYS=true."
)


class ForeignPageError(HeadwaterError):
    """A request for a foreign host name, or from a page of another site."""

    status = 403


class BadHostError(HeadwaterError):
    """A `Host` header that is no name of a host."""

    status = 400


class HostNames(NamedTuple):
    """The names by which clients may call this server; without `names` any name will do.

    `local`: an IP address and a name without a dot will do as well.
    """

    names: frozenset[str] = frozenset()
    local: bool = False

    def include(self, name: str) -> bool:
        """Return True for a name of this server."""
        if not self.names or name in self.names:
            return True
        return self.local and ("." not in name or _is_address(name))


class OriginCheck:
    """ASGI middleware that refuses foreign hosts and origins.

    Requests of pages of `origins` pass too; their host is checked all the same.
    """

    def __init__(
        self, app: ASGIApp, hosts: HostNames, origins: frozenset[str] = frozenset()
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
        refusal = self._refusal(host, origin, scope.get("scheme", "http"))
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            # A close before the accept becomes status 403.
            await send({"type": "websocket.close", "reason": refusal.message})
        else:
            await error_response(refusal)(scope, receive, send)

    def _refusal(self, host: str, origin: str, scheme: str) -> HeadwaterError | None:
        """Return the error for a request with these headers, or None."""
        name = _hostname(host) if host else None
        if host and not name:
            shown = host[:_SHOWN_CHARACTERS]
            return BadHostError(f"the Host header {shown!r} is no name of a host")
        if name and not self._hosts.include(name):
            shown = host[:_SHOWN_CHARACTERS]
            return ForeignPageError(
                f"the Host header {shown!r} is no name of this server", hint=_HINT
            )
        if origin and origin not in self._origins and not _is_own(origin, host, scheme):
            shown = origin[:_SHOWN_CHARACTERS]
            return ForeignPageError(f"pages of {shown!r} may not use this Headwater", hint=_HINT)
        return None


@lru_cache(maxsize=256)
def _hostname(host: str) -> str | None:
    """Return the name in a `Host` header, without the port; None if the header is malformed."""
    try:
        parts = urlsplit(f"//{host}")
        parts.port  # noqa: B018, raises for a port that is no number
    except ValueError:
        return None
    return parts.hostname if parts.netloc == host and "@" not in host else None


def _is_own(origin: str, host: str, scheme: str) -> bool:
    """Return True for the origin of a server with this `Host` header and scheme of the request."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    schemes = ("https",) if scheme in ("https", "wss") else ("http", "https")
    return parts.scheme in schemes and parts.netloc == host


@lru_cache(maxsize=256)
def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_from_own_page(connection: HTTPConnection, *, is_write: bool) -> bool:
    """Return True unless headers show that a page of another origin caused a request.

    Browsers add `Sec-Fetch-Site` to every request, and `Origin` to a write. A write without both is
    not known to come from a page of this server.
    """
    headers = connection.headers
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    scheme = connection.scope.get("scheme", "http")
    if origin is not None and not _is_own(origin, headers.get("host", ""), scheme):
        return False
    if is_write:
        return site == "same-origin" or (site is None and origin is not None)
    return site in (None, "same-origin", "none")


def allowed_hosts(settings: Settings) -> HostNames:
    """Return the host names of this server; any name will do if callers need keys."""
    if settings.keys_required:
        return HostNames()
    names = LOOPBACK | settings.host_names
    if settings.public_url and (name := urlsplit(settings.public_url).hostname):
        names |= {name}
    return HostNames(names, local=settings.allow_anonymous)


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
