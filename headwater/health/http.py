"""Probes and metrics over HTTP.

GET /healthz   200 while the process answers at all
GET /readyz    200 when Neo4j answers, its migrations are applied and the spool can be written; otherwise 503,
               with what is not ready and why. Events are accepted even while Neo4j is away.
GET /metrics   for Prometheus
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headwater.cypher.driver.database import Database
from headwater.cypher.migrate import pending
from headwater.errors import HeadwaterError
from headwater.health.metrics import SCRAPE_SECONDS_MAX, Counts, exposition
from headwater.ingest.spool.spool import Spool
from headwater.lineage.view import GraphView

CHECK_SECONDS_MAX = 5.0
_UNKNOWN = {"ok": False, "why": "not known while Neo4j does not answer"}


def routes(view: GraphView, spool: Spool) -> list[Route]:
    """The routes of health. `spool` is a connection of their own."""
    database, counts = view.database, Counts(spool, view)
    # One SQLite connection serves one thread at a time.
    turn = anyio.Lock()

    async def healthz(_: Request) -> Response:
        return Response("ok\n", media_type="text/plain")

    async def readyz(_: Request) -> Response:
        checks: dict[str, dict[str, Any]] = {}

        async def graph() -> None:
            checks["neo4j"] = await _checked(lambda: _neo4j(database))
            checks["migrations"] = (
                await _checked(lambda: _migrations(database)) if checks["neo4j"]["ok"] else _UNKNOWN
            )

        async def disk() -> None:
            async with turn:
                checks["spool"] = await _checked(spool.check_writable, abandon=False)

        async with anyio.create_task_group() as both:
            both.start_soon(graph)
            both.start_soon(disk)
        ready = all(check["ok"] for check in checks.values())
        body = msgspec.json.encode({"ready": ready, "checks": checks})
        return Response(body, 200 if ready else 503, media_type="application/json")

    async def metrics(_: Request) -> Response:
        async with turn:
            with anyio.move_on_after(SCRAPE_SECONDS_MAX):
                await anyio.to_thread.run_sync(counts.refresh, abandon_on_cancel=True)
            text = await anyio.to_thread.run_sync(exposition, counts)
        return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})

    return [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)]


async def _checked(check: Callable[[], object], *, abandon: bool = True) -> dict[str, Any]:
    """What came of a check. One that must not go on behind our back (`abandon` False) has a bound of its own."""
    try:
        with anyio.fail_after(CHECK_SECONDS_MAX if abandon else None):
            await anyio.to_thread.run_sync(check, abandon_on_cancel=abandon)
    except TimeoutError:
        return {"ok": False, "why": f"no answer within {CHECK_SECONDS_MAX:.0f} s"}
    except HeadwaterError as error:
        return {"ok": False, "why": error.message, "hint": error.hint}
    return {"ok": True}


def _neo4j(database: Database) -> None:
    database.ask("RETURN 1", {}, seconds=CHECK_SECONDS_MAX)


def _migrations(database: Database) -> None:
    missing = [query.name for query in pending(database)]
    if missing:
        raise HeadwaterError(
            f"not applied yet: {', '.join(missing)}", hint="Start a worker; it applies them."
        )
