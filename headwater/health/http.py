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

from headwater.cypher.database import Database
from headwater.cypher.migrate import pending
from headwater.errors import HeadwaterError
from headwater.health.metrics import Counts, exposition
from headwater.ingest.spool import Spool

CHECK_SECONDS_MAX = 5.0


def routes(database: Database, spool: Spool) -> list[Route]:
    """The routes of health. `spool` is a connection of their own."""
    counts = Counts(spool, database)
    # One SQLite connection serves one thread at a time.
    turn = anyio.Lock()

    async def healthz(_: Request) -> Response:
        return Response("ok\n", media_type="text/plain")

    async def readyz(_: Request) -> Response:
        async with turn:
            checks = {
                "neo4j": await _checked(lambda: _neo4j(database)),
                "migrations": await _checked(lambda: _migrations(database)),
                "spool": await _checked(spool.check_writable),
            }
        ready = all(check["ok"] for check in checks.values())
        body = msgspec.json.encode({"ready": ready, "checks": checks})
        return Response(body, 200 if ready else 503, media_type="application/json")

    async def metrics(_: Request) -> Response:
        async with turn:
            text = await anyio.to_thread.run_sync(exposition, counts)
        return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})

    return [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)]


async def _checked(check: Callable[[], object]) -> dict[str, Any]:
    try:
        with anyio.fail_after(CHECK_SECONDS_MAX):
            await anyio.to_thread.run_sync(check, abandon_on_cancel=True)
    except TimeoutError:
        return {"ok": False, "why": f"no answer within {CHECK_SECONDS_MAX:.0f} s"}
    except HeadwaterError as error:
        return {"ok": False, "why": error.message, "mend": error.mend}
    return {"ok": True}


def _neo4j(database: Database) -> None:
    database.ask("RETURN 1", {}, seconds=CHECK_SECONDS_MAX)


def _migrations(database: Database) -> None:
    missing = [query.name for query in pending(database)]
    if missing:
        raise HeadwaterError(f"not applied yet: {', '.join(missing)}", mend="Start a worker; it applies them.")
