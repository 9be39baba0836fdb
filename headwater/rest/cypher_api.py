"""Auditors' queries over HTTP: the catalog of audit queries, and Cypher of the auditor's own.

    GET  /cypher          lists the catalog: each query with its purpose, parameters and columns
    POST /cypher/{name}   runs a query of the catalog; the body is its parameters, a JSON object
    POST /cypher          runs one statement; the body is {"query": "...", "parameters": {...}}

An answer is {"columns", "rows", "truncated"}. Each query is recorded with its principal before it
runs, and a second time with its outcome. A query that cannot be recorded does not run. Nothing
restricts a query to some namespaces, so only a principal that sees all namespaces may send one.
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

from headwater.cypher.query_catalog import Query, load_queries
from headwater.cypher.sandbox.run import (
    AUDIT_SECONDS_MAX,
    StatementResult,
    run_audit,
    run_text,
)
from headwater.errors import ForbiddenError, HeadwaterError, NotFoundError, UnavailableError
from headwater.lineage.view import GraphView
from headwater.rest.operations import read_json
from headwater.web import error_response, json_response, read_body

BODY_BYTES_MAX = 256 * 1024
# The number of queries that run at once; the others wait. Lineage has threads of its own.
THREADS_MAX = 4
# Neo4j ends a query between two rows only. A caller gets an answer after this time in any case, and
# the query no longer counts as one that runs.
ANSWER_SECONDS_MAX = AUDIT_SECONDS_MAX + 15.0

ViewOf = Callable[[Request], GraphView]
# Records the request, its query, and "asked", "answered ..." or "failed ...". Raises if it cannot.
Record = Callable[[Request, str, str], None]


class Statement(msgspec.Struct, forbid_unknown_fields=True):
    """A Cypher statement of an auditor."""

    query: str
    parameters: dict[str, Any] = {}


def routes(view_of: ViewOf, record: Record) -> list[Route]:
    """Return the routes; `view_of` returns the graph as the principal may see it."""
    threads = anyio.CapacityLimiter(THREADS_MAX)

    async def list_queries(_: Request) -> Response:
        return json_response({"queries": describe_audits()})

    async def run_query(request: Request) -> Response:
        body = await read_body(request, BODY_BYTES_MAX)
        parameters = read_json(body, dict[str, Any]) if body.strip() else {}
        name = request.path_params["name"]
        return await run_recorded(
            request, _text(name, parameters), lambda view: _audit(view, name, parameters)
        )

    async def run_statement(request: Request) -> Response:
        statement = read_json(await read_body(request, BODY_BYTES_MAX), Statement)
        text = _text(statement.query, statement.parameters)
        return await run_recorded(
            request,
            text,
            lambda view: run_text(view.database, statement.query, statement.parameters),
        )

    async def run_recorded(
        request: Request, text: str, run: Callable[[GraphView], StatementResult]
    ) -> Response:
        view = view_of(request)
        if not view.visibility.is_unrestricted:
            raise ForbiddenError(
                "Cypher cannot be restricted to namespaces, and this key sees only some of them",
                hint="Use a key for all namespaces, or send the question to GraphQL.",
            )
        answer = partial(_run_recorded, partial(record, request, text), lambda: run(view))
        try:
            with anyio.fail_after(ANSWER_SECONDS_MAX):
                result = await anyio.to_thread.run_sync(
                    answer, limiter=threads, abandon_on_cancel=True
                )
        except TimeoutError:
            record(request, text, f"failed: no answer within {ANSWER_SECONDS_MAX:.0f} s")
            raise UnavailableError(
                f"Neo4j did not end the query within {ANSWER_SECONDS_MAX:.0f} s",
                hint="Ask for less, or wait until fewer queries run.",
            ) from None
        return json_response(result)

    return [
        Route("/cypher", _with_errors(list_queries), methods=["GET"]),
        Route("/cypher", _with_errors(run_statement), methods=["POST"]),
        Route("/cypher/{name}", _with_errors(run_query), methods=["POST"]),
    ]


def describe_audits() -> list[dict[str, Any]]:
    """Return the audit queries by name: purpose, parameters and columns of each."""
    audits = [one for key, one in sorted(load_queries().items()) if key.startswith("audit/")]
    return [_description(one) for one in audits]


def _with_errors(
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


def _run_recorded(
    record: Callable[[str], None], run: Callable[[], StatementResult]
) -> Mapping[str, Any]:
    record("asked")
    try:
        result = run()
    except HeadwaterError as error:
        record(f"failed: {error.message}")
        raise
    record(f"answered with {len(result.rows)} rows")
    return {"columns": result.columns, "rows": result.rows, "truncated": result.truncated}


def _audit(view: GraphView, name: str, parameters: Mapping[str, Any]) -> StatementResult:
    if f"audit/{name}" not in load_queries():
        raise NotFoundError(
            f"no audit query is named {name[:100]!r}", hint="List them with GET /cypher."
        )
    return run_audit(view.database, f"audit/{name}", parameters)


def _description(query: Query) -> dict[str, Any]:
    parameters = [
        {
            "name": parameter.name,
            "type": parameter.type,
            "required": parameter.required,
            "default": parameter.default,
        }
        for parameter in query.parameters
    ]
    columns = [column.strip() for column in query.returns.split(",")]
    name = query.name.removeprefix("audit/")
    return {"name": name, "purpose": query.purpose, "parameters": parameters, "columns": columns}


def _text(query: str, parameters: Mapping[str, Any]) -> str:
    return f"{query} {msgspec.json.encode(parameters).decode()}" if parameters else query
