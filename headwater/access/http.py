"""Routes for administrators: the API keys, without their secrets, and the access log.

GET /access/keys               all keys, revoked and expired ones included
GET /access/log?first&before   the newest entries, newest first; the request is itself an entry
"""

from __future__ import annotations

import anyio.to_thread
import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headwater.access.guard import principal_of
from headwater.access.keys import Keys
from headwater.access.log import AccessLog, Entry
from headwater.errors import QueryError
from headwater.web import json_response


def routes(keys: Keys, log: AccessLog) -> list[Route]:
    """Return the routes of keys and of the access log."""

    async def list_keys(_: Request) -> Response:
        listed_keys = await anyio.to_thread.run_sync(keys.list)
        return json_response(
            {"keys": [{**msgspec.to_builtins(key), "state": key.state} for key in listed_keys]}
        )

    async def list_entries(request: Request) -> Response:
        first, before = _number(request, "first", 100), _number(request, "before", 0)
        name = principal_of(request).name
        entries = await anyio.to_thread.run_sync(lambda: _read(log, name, first, before))
        return json_response({"entries": entries})

    return [Route("/access/keys", list_keys), Route("/access/log", list_entries)]


def _read(log: AccessLog, principal: str, first: int, before: int) -> list[Entry]:
    log.append(principal, "GET /access/log", "done", first=first, before=before)
    return log.entries(first=first, before=before or None)


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, str(default))
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise QueryError(f"{name} {text[:50]!r} is no whole number")
    return int(text)
