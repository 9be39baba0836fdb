"""Auditors' questions over HTTP: the library by name, and Cypher of their own.

    GET  /cypher          the library: each query with what it is for, its parameters and columns
    POST /cypher/{name}   runs a query of it; the body is its parameters, a JSON object
    POST /cypher          runs one statement; the body is {"query": "...", "parameters": {...}}

An answer is {"columns", "rows", "truncated"}. What is asked is recorded before it runs, so that whatever a statement
does is known by whom, and once more with how it came out; what cannot be recorded does not run. Nothing holds such a
query to some namespaces, so that only whoever sees everything may ask.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import anyio
import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import Query, load_queries
from headwater.cypher.sandbox.run import Answered, run_audit, run_text
from headwater.errors import ForbiddenError, HeadwaterError, NotFoundError
from headwater.rest.operations import read_json
from headwater.web import error_response, json_response, read_body

BODY_BYTES_MAX = 256 * 1024
# So many at once; the others wait, and lineage has threads of its own.
THREADS_MAX = 4

Reader = Callable[[Request], Database]
# Told who asks (by the request), what, and "asked", "answered ..." or "failed ...". Raises when it cannot be kept.
Record = Callable[[Request, str, str], None]


class Asked(msgspec.Struct, forbid_unknown_fields=True):
    """A statement of somebody's own."""

    query: str
    parameters: dict[str, Any] = {}


def routes(reader: Reader, record: Record) -> list[Route]:
    """The routes. `reader` gives the graph as whoever asks may see it."""
    threads = anyio.CapacityLimiter(THREADS_MAX)

    async def listed(_: Request) -> Response:
        audits = [one for key, one in sorted(load_queries().items()) if key.startswith("audit/")]
        return json_response({"queries": [_described(one) for one in audits]})

    async def named(request: Request) -> Response:
        body = await read_body(request, BODY_BYTES_MAX)
        parameters = read_json(body, dict[str, Any]) if body.strip() else {}
        name = request.path_params["name"]
        return await recorded(
            request, _spelled(name, parameters), lambda database: _audit(database, name, parameters)
        )

    async def free(request: Request) -> Response:
        asked = read_json(await read_body(request, BODY_BYTES_MAX), Asked)
        what = _spelled(asked.query, asked.parameters)
        return await recorded(
            request, what, lambda database: run_text(database, asked.query, asked.parameters)
        )

    async def recorded(
        request: Request, what: str, ask: Callable[[Database], Answered]
    ) -> Response:
        database = reader(request)
        if not database.visibility.is_unrestricted:
            raise ForbiddenError(
                "whoever asks sees some namespaces only, and nothing would hold Cypher to them",
                hint="Use a key for all namespaces, or ask GraphQL.",
            )
        answer = partial(_recorded, partial(record, request, what), lambda: ask(database))
        return json_response(await anyio.to_thread.run_sync(answer, limiter=threads))

    return [
        Route("/cypher", _answered(listed), methods=["GET"]),
        Route("/cypher", _answered(free), methods=["POST"]),
        Route("/cypher/{name}", _answered(named), methods=["POST"]),
    ]


def _answered(
    endpoint: Callable[[Request], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except ClientDisconnect:
            return Response(status_code=400)
        except HeadwaterError as error:
            return error_response(error)

    return answered


def _recorded(record: Callable[[str], None], ask: Callable[[], Answered]) -> Mapping[str, Any]:
    record("asked")
    try:
        found = ask()
    except HeadwaterError as error:
        record(f"failed: {error.message}")
        raise
    record(f"answered with {len(found.rows)} rows")
    return {"columns": found.columns, "rows": found.rows, "truncated": found.truncated}


def _audit(database: Database, name: str, parameters: Mapping[str, Any]) -> Answered:
    if f"audit/{name}" not in load_queries():
        raise NotFoundError(
            f"there is no query {name[:100]!r}", hint="GET /cypher lists the library."
        )
    return run_audit(database, f"audit/{name}", parameters)


def _described(found: Query) -> dict[str, Any]:
    parameters = [
        {"name": one.name, "type": one.type, "required": one.required, "default": one.default}
        for one in found.parameters
    ]
    columns = [column.strip() for column in found.returns.split(",")]
    name = found.name.removeprefix("audit/")
    return {"name": name, "purpose": found.purpose, "parameters": parameters, "columns": columns}


def _spelled(what: str, parameters: Mapping[str, Any]) -> str:
    return f"{what} {msgspec.json.encode(parameters).decode()}" if parameters else what
