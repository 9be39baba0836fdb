"""The route /session: sign in, sign out, and whose session it is.

GET     the caller: name, scopes and namespaces; null for a caller without a key where one is needed
        `provider`: the name of the OpenID provider by which people sign in, if there is one
POST    {"key": "hw_..."}: start a session and set its cookie
DELETE  end the session of the cookie

The key is only in the body of POST: no address, no cookie, no log and no answer holds it.
"""

from __future__ import annotations

from typing import Any

import anyio.to_thread
import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route

from headwater.access.guard import Guard, principal_of
from headwater.access.origin import is_from_own_page
from headwater.access.principal import ANONYMOUS, UNAUTHENTICATED, Principal
from headwater.access.session_cookie import PATH, delete_cookie, require_json, set_cookie
from headwater.access.sessions import Session
from headwater.errors import ForbiddenError, HeadwaterError, QueryError
from headwater.web import json_response, read_body

_BODY_BYTES_MAX = 4_096


class _SignIn(msgspec.Struct):
    key: str


def routes(guard: Guard, provider: str = "") -> list[Route]:
    """Return the routes of sessions. `provider`: the name of the one by which people sign in."""

    async def show(request: Request) -> Response:
        session = await anyio.to_thread.run_sync(guard.session, request, PATH)
        return _answer(principal_of(request), session, provider)

    async def sign_in(request: Request) -> Response:
        if request.headers.get("origin") and not is_from_own_page(request, is_write=True):
            raise ForbiddenError("pages of other sites may not sign in")
        require_json(request)
        body = await read_body(request, _BODY_BYTES_MAX)
        try:
            sent = msgspec.json.decode(body, type=_SignIn)
        except (msgspec.MsgspecError, ValueError) as error:
            raise QueryError('the body must be {"key": "hw_..."}') from error
        address = request.client.host if request.client else ""
        guard.failed_sign_ins.add(address)
        try:
            token, session = await anyio.to_thread.run_sync(guard.sessions.start, sent.key.strip())
        except HeadwaterError as error:
            await anyio.to_thread.run_sync(_record_refusal, guard, request, error)
            raise
        guard.failed_sign_ins.take_back(address)
        await anyio.to_thread.run_sync(
            lambda: guard.log.append(
                session.principal.name, f"POST {PATH}", "done", key=session.key_id
            )
        )
        response = _answer(session.principal, session)
        set_cookie(response, request, token, session)
        return response

    async def sign_out(request: Request) -> Response:
        session = await anyio.to_thread.run_sync(guard.session, request, PATH)
        if session is not None:
            await anyio.to_thread.run_sync(guard.sessions.end, session)
        response = Response(status_code=204)
        delete_cookie(response, request)
        return response

    return [
        Route(PATH, show, methods=["GET"]),
        Route(PATH, sign_in, methods=["POST"]),
        Route(PATH, sign_out, methods=["DELETE"]),
    ]


def _answer(principal: Principal, session: Session | None, provider: str = "") -> Response:
    shown: dict[str, Any] | None = None
    if principal != UNAUTHENTICATED:
        shown = {
            "name": principal.name,
            "scopes": sorted(principal.scopes),
            "namespaces": list(principal.visibility.patterns),
            "anonymous": principal == ANONYMOUS,
        }
        if principal.display_name:
            shown["displayName"] = principal.display_name
    expires = session.expires if session is not None else None
    content: dict[str, Any] = {"principal": shown, "expires": expires}
    if provider:
        content["provider"] = provider
    return json_response(content, headers={"cache-control": "no-store"})


def _record_refusal(guard: Guard, connection: HTTPConnection, error: HeadwaterError) -> None:
    # The guard records answers of 403 itself.
    if error.status == 401:
        client = connection.client.host if connection.client else ""
        guard.log.record_refusal(
            UNAUTHENTICATED.name, f"POST {PATH}", why=error.message, client=client, status=401
        )
