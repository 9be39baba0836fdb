"""Evidence packs over HTTP.

GET /api/v1/evidence?urn=URN&at=INSTANT&depth=N   the pack of a node with its digest, as JSON

`at` is now by default. The pack holds what the key may see.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headwater.errors import EventError, HeadwaterError, QueryError
from headwater.evidence.digest import Data, add_digest
from headwater.evidence.pack import build_pack
from headwater.lineage.traversal.request import DEPTH_DEFAULT
from headwater.lineage.view import GraphView
from headwater.schema.events import parse_instant, to_datetime
from headwater.web import error_response, json_response

PATH = "/api/v1/evidence"
# A pack takes many statements; further ones wait.
THREADS_MAX = 4
_DEPTH_DIGITS_MAX = 9
_PARAMETERS = ("urn", "at", "depth")


def routes(view_of: Callable[[Request], GraphView]) -> list[Route]:
    """Return the route; `view_of` returns the graph as the principal of a request may see it."""
    threads = anyio.CapacityLimiter(THREADS_MAX)

    async def get_pack(request: Request) -> Response:
        try:
            document = await anyio.to_thread.run_sync(
                _build, view_of(request), dict(request.query_params), limiter=threads
            )
        except HeadwaterError as error:
            return error_response(error)
        return json_response(document)

    return [Route(PATH, get_pack, methods=["GET"])]


def _build(view: GraphView, parameters: dict[str, str]) -> Data:
    unknown = sorted(parameters.keys() - {*_PARAMETERS})
    if unknown:
        raise QueryError(f"{unknown[0]!r} is no parameter", hint=f"Give {', '.join(_PARAMETERS)}.")
    urn = parameters.get("urn")
    if not urn:
        raise QueryError("the parameter `urn` is missing", hint=f"{PATH}?urn=dataset:db:orders")
    depth = parameters.get("depth", str(DEPTH_DEFAULT))
    if not depth.isascii() or not depth.isdigit() or len(depth) > _DEPTH_DIGITS_MAX:
        raise QueryError(f"`depth` {depth[:40]!r} must be a whole number")
    return add_digest(build_pack(view, urn, at=_instant(parameters.get("at")), depth=int(depth)))


def _instant(text: str | None) -> datetime:
    if not text:
        return datetime.now(UTC)
    try:
        return to_datetime(parse_instant(text, field="at"))
    except EventError as error:
        raise QueryError(error.message, hint=error.hint) from error
