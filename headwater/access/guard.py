"""Asks everybody who comes over HTTP for a key, where keys are needed, and judges by the rules what it is for.

Every route is wrapped where it is made, by the path it is declared with, so that no way of writing a path leads past
its rule. What a key may not do is answered with 401 or 403 and told to the log. Where no keys are needed, whoever comes
may do everything; a key that is sent is judged all the same, so that what it may do can be tried.

Inside, `principal_of(request)` is whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterable

import anyio.to_thread
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from headwater.access.keys import Keys, is_key
from headwater.access.log import AccessLog
from headwater.access.principal import ANONYMOUS, UNAUTHENTICATED, Principal
from headwater.access.rules import OPEN, Rule, rule_of_route
from headwater.errors import ForbiddenError, HeadwaterError, UnauthorizedError
from headwater.web import error_response

_HINT = (
    "Send `Authorization: Bearer hw_...`; `headwater keys create NAME --scope read` makes a key."
)


class Guard:
    """Who comes, and whether they may. `needed`: whether nobody may do anything without a key."""

    def __init__(self, keys: Keys, log: AccessLog, *, required: bool) -> None:
        self.keys = keys
        self.log = log
        self.required = required

    def authenticate(self, authorization: str) -> Principal:
        """Whoever sends this header. Raises UnauthorizedError for a key that is not valid, and without one where one is
        needed."""
        scheme, _, sent = authorization.strip().partition(" ")
        sent = sent.strip() if scheme.lower() == "bearer" else ""
        if sent and (self.required or is_key(sent)):
            return self.keys.principal(sent)
        if self.required:
            raise UnauthorizedError("this Headwater asks for a key", hint=_HINT)
        return ANONYMOUS

    def routes(self, routes: Iterable[BaseRoute]) -> list[BaseRoute]:
        """The same routes, each behind its rule."""
        guarded = list(routes)
        for route in guarded:
            if isinstance(route, Route | Mount):
                route.app = _Guarded(route.app, self, route.path)
            elif not isinstance(route, WebSocketRoute):
                raise TypeError(f"{route!r} cannot be guarded")
        return guarded


class _Guarded:
    """One route behind its rule."""

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
            principal = self._admit(HTTPConnection(scope), rule)
            if rule != OPEN:
                principal.require(rule)
        except HeadwaterError as error:
            await self._refuse(principal, scope, error)
            await _answer(error)(scope, receive, send)
            return
        scope.setdefault("state", {})["principal"] = principal

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 403:
                await self._refuse(principal, scope, ForbiddenError("not with this key"))
            await send(message)

        await self._app(scope, receive, watched)

    def _admit(self, connection: HTTPConnection, rule: Rule) -> Principal:
        """What is open to all is open without a key too; one that is sent counts."""
        authorization = connection.headers.get("authorization", "")
        return (
            UNAUTHENTICATED
            if rule == OPEN and self._guard.required and not authorization
            else self._guard.authenticate(authorization)
        )

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


def _answer(error: HeadwaterError) -> ASGIApp:
    answer = error_response(error)
    if error.status == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="headwater"'
    return answer


def principal_of(connection: HTTPConnection) -> Principal:
    """Whoever asks; nobody, where no guard stood before."""
    found = getattr(connection.state, "principal", UNAUTHENTICATED)
    assert isinstance(found, Principal)
    return found
