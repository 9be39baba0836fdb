"""The alerts of a graph now, for callers who see all of it or a part."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.alerts.current import current_alerts
from headwater.health.alerts.models import Status
from headwater.health.findings.models import Tier
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.health.findings.builders import at, episode, finding, save
from tests.run_builders import ds, job

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

FAILED = finding(episode("failed-run", job("load"), 10), Tier.P1)
STALE = finding(episode("stale-dataset", ds("b"), 30), Tier.P2, root=FAILED.id)


def test_an_alert_waits_and_then_fires(database: Database, view: GraphView) -> None:
    save(database, [(FAILED, ["etl"]), (STALE, ["db"])])
    [early] = current_alerts(view, at(10) + timedelta(seconds=1))
    [late] = current_alerts(view, at(60))
    assert (early.status, late.status) == (Status.WAITING, Status.FIRING)
    assert [one.id for one in late.findings] == [FAILED.id, STALE.id]
    ended = finding(episode("failed-run", job("load"), 10, end=50), Tier.P1)
    gone = finding(episode("stale-dataset", ds("b"), 30, end=50), Tier.P2, root=FAILED.id)
    save(database, [(ended, ["etl"]), (gone, ["db"])])
    assert current_alerts(view, at(60)) == []


def test_hidden_findings_are_left_out(database: Database, view: GraphView) -> None:
    save(database, [(FAILED, ["etl"]), (STALE, ["db"])])
    [shown] = current_alerts(view.visible_to(Visibility(("db",))), at(60))
    assert [one.id for one in shown.findings] == [STALE.id]
    assert shown.dedup_key.startswith("hidden:")
    assert current_alerts(view.visible_to(Visibility(("other",))), at(60)) == []
