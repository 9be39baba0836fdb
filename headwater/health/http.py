"""Probes and metrics over HTTP.

GET /healthz   200 while the process answers
GET /readyz    200 if Neo4j answers, its migrations are applied, the spool is writable and folding
               makes progress; otherwise 503, with the result of each check and the reasons. Events
               are accepted even while Neo4j is away.
               A broken file of policies and an unreadable horizon of a rollup are failed
               checks, and the server stays ready. The result may be `READY_SECONDS` old.
GET /metrics   for Prometheus, with a key for all namespaces

All who wait share one check and one text of metrics (`headwater.health.shared_check`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from prometheus_client import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headwater.access.guard import principal_of
from headwater.cypher.driver.database import Database
from headwater.cypher.migrate import check_not_newer, lost_schema, migrations, pending
from headwater.errors import HeadwaterError
from headwater.governance.policies.store import PolicyStore
from headwater.health.folding import FoldingState
from headwater.health.metrics import SCRAPE_SECONDS_MAX, EventCounts, exposition
from headwater.health.policies import PolicyMetrics, check_policies
from headwater.health.rollups import check_rollups
from headwater.health.shared_check import SharedCheck
from headwater.ingest.spool.spool import Spool
from headwater.lineage.view import GraphView

CHECK_SECONDS_MAX = 5.0
# Callers without a key may ask, and each check commits to the spool.
READY_SECONDS = 1.0
_CHECKS = ("neo4j", "migrations", "spool", "folding")
_UNKNOWN = {"ok": False, "reason": "unknown while Neo4j does not answer"}


def routes(
    view: GraphView,
    spool: Spool,
    *collectors: Collector,
    policies: PolicyStore | None = None,
    neo4j_problem: Path | None = None,
) -> list[Route]:
    """Return the routes of health.

    `spool` is a connection for them alone. `collectors` are further metrics for /metrics.
    `neo4j_problem` is the file in which a supervisor explains why Neo4j does not answer.
    """
    database = view.database
    folding = FoldingState(database, spool)
    counts = EventCounts(spool, view, folding)
    if policies is not None:
        collectors = (*collectors, PolicyMetrics(policies))
    # One SQLite connection serves one thread at a time.
    turn = anyio.Lock()

    async def healthz(_: Request) -> Response:
        return Response("ok\n", media_type="text/plain")

    async def check_readiness() -> tuple[bytes, int]:
        """Return the body and the status of /readyz."""
        # In this order, whichever check ends first.
        checks: dict[str, dict[str, Any]] = dict.fromkeys(_CHECKS, _UNKNOWN)

        async def graph() -> None:
            checks["neo4j"] = await _checked(lambda: _neo4j(database), explanation=neo4j_problem)
            checks["migrations"] = (
                await _checked(lambda: _migrations(database)) if checks["neo4j"]["ok"] else _UNKNOWN
            )

        async def disk() -> None:
            async with turn:
                checks["spool"] = await _checked(spool.check_writable, abandon=False)

        async def progress() -> None:
            async with turn:
                checks["folding"] = await _checked(folding.check, abandon=False)

        async with anyio.create_task_group() as group:
            group.start_soon(graph)
            group.start_soon(disk)
        await progress() if checks["neo4j"]["ok"] else checks.update(folding=_UNKNOWN)
        reasons = [
            f"{name}: {check['reason']}" for name, check in checks.items() if not check["ok"]
        ]
        checks["rollups"] = (
            await _checked(lambda: check_rollups(database)) if checks["neo4j"]["ok"] else _UNKNOWN
        )
        if policies is not None:
            state = await anyio.to_thread.run_sync(policies.read)
            if state.directory:
                checks["policies"] = check_policies(state)
        body = msgspec.json.encode({"ready": not reasons, "reasons": reasons, "checks": checks})
        return body, 503 if reasons else 200

    async def read_metrics() -> bytes:
        """Return the text of /metrics."""
        async with turn:
            with anyio.move_on_after(SCRAPE_SECONDS_MAX):
                await anyio.to_thread.run_sync(counts.refresh, abandon_on_cancel=True)
            return await anyio.to_thread.run_sync(exposition, counts, *collectors)

    readiness = SharedCheck(check_readiness, seconds=READY_SECONDS)
    scrape = SharedCheck(read_metrics)

    async def readyz(_: Request) -> Response:
        body, status = await readiness.result()
        return Response(body, status, media_type="application/json")

    async def metrics(request: Request) -> Response:
        principal_of(request).require_every_namespace("/metrics")
        text = await scrape.result()
        return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})

    return [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)]


async def _checked(
    check: Callable[[], dict[str, Any] | None],
    *,
    abandon: bool = True,
    explanation: Path | None = None,
) -> dict[str, Any]:
    """Return the result of a check, with the figures that it returns.

    A check that must not outlive the request (`abandon` False) has a time limit of its own. If it
    fails, the text in the file `explanation` comes before the reason.
    """
    try:
        with anyio.fail_after(CHECK_SECONDS_MAX if abandon else None):
            found = await anyio.to_thread.run_sync(check, abandon_on_cancel=abandon)
    except TimeoutError:
        reason, hint = f"no answer within {CHECK_SECONDS_MAX:.0f} s", ""
    except HeadwaterError as error:
        reason, hint = error.message, error.hint
    else:
        return {"ok": True, **(found or {})}
    if explanation is not None and (text := _read_explanation(explanation)):
        reason = f"{text} ({reason})"
    return {"ok": False, "reason": reason, "hint": hint}


def _read_explanation(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _neo4j(database: Database) -> None:
    database.ask("RETURN 1", {}, seconds=CHECK_SECONDS_MAX)


def _migrations(database: Database) -> None:
    check_not_newer(database)
    missing, total = pending(database), len(migrations())
    if missing:
        raise HeadwaterError(
            f"{total - len(missing)} of {total} are applied; the next is {missing[0].name}",
            hint="Start a worker; it applies them.",
        )
    if lost := sorted(lost_schema(database)):
        raise HeadwaterError(
            f"the graph lacks {len(lost)} of its constraints and indexes; the first is {lost[0]}",
            hint="Restart the worker; it creates them.",
        )
