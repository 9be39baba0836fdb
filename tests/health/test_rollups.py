"""The check of rollups: late runs are counted, and unreadable horizons are a failed check."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from headwater.health import http
from headwater.health.metrics import EventCounts
from headwater.ingest.spool.spool import Spool
from headwater.lineage.view import GraphView
from tests.guards import guard_of

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


def readiness(database: Database, tmp_path: Path) -> dict[str, Any]:
    """Return the answer of /readyz."""
    with (
        closing(Spool(tmp_path / "spool.db")) as spool,
        closing(AccessStore(tmp_path / "access.db")) as access,
    ):
        routes = guard_of(access).routes(http.routes(GraphView(database), spool))
        with TestClient(Starlette(routes=routes)) as client:
            return dict(client.get("/readyz").json())


def record(database: Database, horizons: str, late: int) -> None:
    with database.write() as transaction:
        transaction.run("write/maintenance/retention", horizons=horizons)
        transaction.run("write/maintenance/count_late_runs", late=late)


def test_without_a_rollup_no_run_is_late(database: Database, tmp_path: Path) -> None:
    assert readiness(database, tmp_path)["checks"]["rollups"] == {"ok": True, "lateRuns": 0}


def test_late_runs_are_a_figure_and_a_metric(database: Database, tmp_path: Path) -> None:
    record(database, "[]", late=3)
    assert readiness(database, tmp_path)["checks"]["rollups"] == {"ok": True, "lateRuns": 3}
    with closing(Spool(tmp_path / "spool.db")) as spool:
        counts = EventCounts(spool, GraphView(database))
        counts.refresh()
        values = {sample.name: sample.value for one in counts.collect() for sample in one.samples}
    assert values["headwater_late_runs_total"] == 3


def test_an_unreadable_horizon_is_a_failed_check_of_a_ready_server(
    database: Database, tmp_path: Path
) -> None:
    before = readiness(database, tmp_path)
    record(database, '[{"at":1,"rules":{"days":{"*":null},"sample":{},"sampled_days":{}}}]', late=0)
    after = readiness(database, tmp_path)
    assert (after["checks"]["rollups"]["ok"], after["ready"]) == (False, before["ready"])
    assert "cannot be read: 1" in after["checks"]["rollups"]["reason"]
