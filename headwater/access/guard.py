"""Authenticate HTTP requests by key, token or session, and authorize them by the rules of their
route.

Every route is wrapped at its declared path, so no spelling of a path bypasses its rule. A refused
request gets 401 or 403 and an entry in the access log. Where keys are not required, every caller
may do everything. A key that is sent is still checked, so that its scopes can be tested. Without a
key, the cookie of a session of the page stands for one (`headwater.access.session_cookie`).

A bearer token that is no key is one of the OpenID provider, where one is configured. Its check asks
the provider only for an unknown key, in a thread of its own: the event loop never waits for it.

In a handler, `principal_of(request)` returns the principal of the request.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import replace

import anyio.to_thread
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from headwater.access.bounded_threads import BoundedThreads
from headwater.access.keys import Keys, is_key
from headwater.access.limits import FailedSignIns, Limiter, OverLimitError
from headwater.access.log import AccessLog
from headwater.access.oidc.sign_on import SignOn, is_token
from headwater.access.principal import (
    ANONYMOUS,
    CLIENT_CERTIFICATE,
    UNAUTHENTICATED,
    Principal,
    Scope,
)
from headwater.access.rules import OPEN, Rule, rule_of_route
from headwater.access.session_cookie import may_count, token_of
from headwater.access.sessions import Session, Sessions
from headwater.errors import ForbiddenError, HeadwaterError, UnauthorizedError
from headwater.logs.request_id import bind_principal
from headwater.web import CALLER, error_response_at

# A monitor of the server must see a caller at its limits, also its own.
_UNLIMITED = frozenset({"/metrics"})
KEY_REQUIRED = "this Headwater requires an API key"
KEY_HINT = (
    "Send `Authorization: Bearer hw_...`; `headwater keys create NAME --scope read` creates a key."
)
# The header of an answer with 401.
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="headwater"'}


class Guard:
    """Authenticates callers and wraps routes.

    `required`: every request needs a key or a token. `wants_certificates`: events need the
    certificate of a client too.
    """

    def __init__(
        self,
        keys: Keys,
        log: AccessLog,
        sessions: Sessions,
        *,
        required: bool,
        wants_certificates: bool = False,
        sign_on: SignOn | None = None,
    ) -> None:
        self.keys = keys
        self.log = log
        self.sessions = sessions
        self.required = required
        self.wants_certificates = wants_certificates
        self.sign_on = sign_on
        # While the provider is slow, further tokens with unknown keys wait for this one thread.
        self._asking = BoundedThreads("tokens with unknown keys", 1)
        # Without them nothing is limited.
        self.limiter: Limiter | None = None
        self.failed_sign_ins = FailedSignIns(0)

    def authenticate(self, authorization: str) -> Principal:
        """Return the principal of an `Authorization` header: a bearer token, or the password of a
        client that only sends a name and a password.

        Raises UnauthorizedError for an invalid key or token, and for a missing one where one is
        required; UnavailableError for a token that cannot be checked now.
        """
        token = _token_of(authorization)
        if self.sign_on is not None and is_token(token) and not is_key(token):
            return self.sign_on.principal(token)
        if token and (self.required or is_key(token)):
            return self.keys.principal(token)
        if self.required:
            raise UnauthorizedError(KEY_REQUIRED, hint=KEY_HINT)
        return ANONYMOUS

    def session(self, connection: HTTPConnection, path: str) -> Session | None:
        """Return the session of the cookie of a request to a declared path; None without a valid
        one.

        Raises ForbiddenError for a request that a session may not send.
        """
        token = token_of(connection)
        if not token:
            return None
        try:
            session = self.sessions.session(token)
        except UnauthorizedError:
            return None
        return session if may_count(connection, path) else None

    def place_for(
        self, scope: Connection, principal: Principal, *, is_ingest: bool = False
    ) -> AbstractAsyncContextManager[None]:
        """Return the place of a request or of a new subscription within the limits of its caller.

        To enter it waits for the place; it raises OverLimitError.
        """
        if self.limiter is None:
            return nullcontext()
        address = _address_of(scope, principal)
        return self.limiter.admit(principal.name, address=address, is_ingest=is_ingest)

    def identify(self, connection: HTTPConnection, path: str, authorization: str = "") -> Principal:
        """Return the principal of a request, by its key or else by the cookie of its session.

        `authorization` replaces the header. Raises UnauthorizedError where neither is valid and one
        is required, and ForbiddenError for a request that a session may not send.
        """
        authorization = authorization or connection.headers.get("authorization", "")
        session = None if authorization else self.session(connection, path)
        principal = session.principal if session is not None else self.authenticate(authorization)
        if self.wants_certificates and not connection.scope.get(CLIENT_CERTIFICATE):
            return replace(principal, lacks_certificate=True)
        return principal

    async def admit(self, connection: HTTPConnection, path: str, rule: Rule) -> Principal:
        """Return the principal of a request to a declared path; raise the errors of `identify`.

        An open route needs no key, but checks one that is sent.
        """
        authorization = connection.headers.get("authorization", "")
        if rule == OPEN and self.required and "authorization" not in connection.headers:
            session = self.session(connection, path)
            return session.principal if session is not None else UNAUTHENTICATED
        await self._read_unknown_key(authorization)
        return self.identify(connection, path)

    async def admit_socket(
        self, connection: HTTPConnection, path: str, authorization: str = ""
    ) -> Principal:
        """Return the principal of a WebSocket, by the same rule as that of a request.

        `authorization` replaces the header. Raises the errors of `identify`.
        """
        sent = authorization or connection.headers.get("authorization", "")
        await self._read_unknown_key(sent)
        return await anyio.to_thread.run_sync(self.identify, connection, path, authorization)

    async def _read_unknown_key(self, authorization: str) -> None:
        """Read the keys of the provider if a token names an unknown one and a read is due.

        Raises UnavailableError if too many tokens wait for that.
        """
        token = _token_of(authorization)
        if self.sign_on is not None and is_token(token) and self.sign_on.must_ask(token):
            await self._asking.run(self.sign_on.provider.refresh)

    def routes(self, routes: Iterable[BaseRoute]) -> list[BaseRoute]:
        """Wrap each route in its rule."""
        guarded = list(routes)
        for route in guarded:
            if isinstance(route, Route | Mount):
                route.app = _Guarded(route.app, self, route.path)
            elif not isinstance(route, WebSocketRoute):
                raise TypeError(f"{route!r} is no Route, Mount or WebSocketRoute")
        return guarded


def _address_of(scope: Connection, principal: Principal) -> str:
    """Return what distinguishes callers without a key; "" for one with a key."""
    has_key = principal not in (ANONYMOUS, UNAUTHENTICATED)
    return "" if has_key else (scope.get("client") or ("", 0))[0] or "unknown"


def _token_of(authorization: str) -> str:
    scheme, _, sent = authorization.strip().partition(" ")
    if scheme.lower() == "bearer":
        return sent.strip()
    if scheme.lower() != "basic":
        return ""
    try:
        password = base64.b64decode(sent.strip(), validate=True).decode().partition(":")[2]
    except ValueError:
        return ""
    return password if is_key(password) else ""


class _Guarded:
    """A route with its rule."""

    def __init__(self, app: ASGIApp, guard: Guard, path: str) -> None:
        self._app = app
        self._guard = guard
        self._path = path

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        rule = rule_of_route(scope["method"], self._path)
        principal = UNAUTHENTICATED
        try:
            principal = await self._guard.admit(HTTPConnection(scope), self._path, rule)
            if rule != OPEN:
                principal.require(rule)
        except HeadwaterError as error:
            await self._refuse(principal, scope, error)
            await _answer(error, scope["method"], self._path)(scope, receive, send)
            return
        scope.setdefault("state", {})["principal"] = principal
        scope[CALLER] = f"{principal.name} {_address_of(scope, principal)}"
        bind_principal(principal.name)

        # A cache between the browser and the API may keep what a cookie, and no header, opened.
        is_private = rule != OPEN and "authorization" not in HTTPConnection(scope).headers

        async def send_checked(message: Message) -> None:
            if message["type"] == "http.response.start":
                if message["status"] == 403:
                    error = ForbiddenError("the key does not allow this")
                    await self._refuse(principal, scope, error)
                if is_private:
                    MutableHeaders(scope=message).setdefault("cache-control", "no-store")
            await send(message)

        async with AsyncExitStack() as places:
            try:
                await self._enter(places, principal, scope, rule)
            except OverLimitError as error:
                await _answer(error, scope["method"], self._path)(scope, receive, send)
                return
            await self._app(scope, receive, send_checked)

    async def _enter(
        self, places: AsyncExitStack, principal: Principal, scope: Connection, rule: Rule
    ) -> None:
        """Wait for a place for a request within the limits of its caller. Raises OverLimitError."""
        is_limited = rule != OPEN or self._path.startswith("/graphql")
        if not is_limited or self._path in _UNLIMITED:
            return
        place = self._guard.place_for(scope, principal, is_ingest=rule is Scope.INGEST)
        await places.enter_async_context(place)

    async def _refuse(self, principal: Principal, scope: Connection, error: HeadwaterError) -> None:
        if error.status not in (401, 403):
            return
        client = (scope.get("client") or ("", 0))[0]
        await anyio.to_thread.run_sync(
            lambda: self._guard.log.record_refusal(
                principal.name,
                f"{scope['method']} {self._path}",
                why=error.message,
                client=client,
                status=error.status,
            )
        )


def _answer(error: HeadwaterError, method: str, path: str) -> ASGIApp:
    answer = error_response_at(error, method, path)
    if error.status == 401:
        answer.headers.update(CHALLENGE)
    return answer


def principal_of(connection: HTTPConnection) -> Principal:
    """Return the principal of a request; `UNAUTHENTICATED` if no guard wraps its route."""
    principal = connection.scope.get("state", {}).get("principal", UNAUTHENTICATED)
    assert isinstance(principal, Principal)
    return principal
