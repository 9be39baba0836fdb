"""What receivers may see of an alert: their patterns, their keys, and stubs for the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from neo4j import Driver

from headwater.access.keys import Keys
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from headwater.health.alerts.grouping import alerts_of
from headwater.health.alerts.models import Reach
from headwater.health.alerts.receivers import Kind, Receiver
from headwater.health.alerts.visible import NOTHING, ReceiverViews, visible_alert
from headwater.health.findings.models import Affected
from headwater.lineage.view import GraphView
from headwater.schema.visibility import UNRESTRICTED, Visibility
from tests.health.alerts.finding_builders import consumer, finding, minutes

pytestmark = pytest.mark.neo4j


@pytest.fixture
def access(tmp_path: Path) -> Iterator[AccessStore]:
    store = AccessStore(tmp_path / "access.db")
    yield store
    store.close()


@pytest.fixture
def view(clean_graph: Driver, database: Database) -> GraphView:
    del clean_graph
    return GraphView(database)


def receiver(*namespaces: str, key: str = "") -> Receiver:
    return Receiver("r", Kind.WEBHOOK, "http://127.0.0.1:9/", namespaces=namespaces, key=key)


def test_without_a_key_the_patterns_count(view: GraphView) -> None:
    views = ReceiverViews(view)
    found = views.view_of(receiver("etl", "db*")).visibility
    assert found.includes("etl")
    assert found.includes("db-2")
    assert not found.includes("hr")
    assert views.view_of(receiver("*")).visibility == UNRESTRICTED


def test_a_key_decides_while_it_is_valid(view: GraphView, access: AccessStore) -> None:
    keys = Keys(access)
    keys.create("team", [Scope.READ], namespaces=["etl"], days=1)
    views = ReceiverViews(view, access)
    # The patterns of the receiver do not count.
    found = views.view_of(receiver("*", key="team")).visibility
    assert (found.includes("etl"), found.includes("db")) == (True, False)
    keys.revoke("team")
    assert views.view_of(receiver("*", key="team")).visibility == NOTHING


def test_an_unknown_key_sees_nothing(view: GraphView, access: AccessStore) -> None:
    assert ReceiverViews(view, access).view_of(receiver("*", key="nobody")).visibility == NOTHING
    assert ReceiverViews(view).view_of(receiver("*", key="team")).visibility == NOTHING


SECRET = finding("stale-source", "dataset:secret:salaries", owners=("payroll",))
SEEN = finding(
    "missing-run",
    began=5,
    root=SECRET.id,
    owners=("etl",),
    affected=Affected(datasets=2, consumers=(consumer("dataset:secret:bonus"),)),
)
[ALERT] = alerts_of([SECRET, SEEN], minutes(90))


def test_who_sees_everything_gets_the_alert_itself(view: GraphView) -> None:
    assert visible_alert(view, ALERT) is ALERT


def test_hidden_findings_and_names_are_left_out(view: GraphView) -> None:
    other = replace(ALERT, merged_into="finding:stale-source:dataset:secret:x@1", more_findings=4)
    found = visible_alert(view.visible_to(Visibility(("etl",))), other)
    assert found is not None
    assert [one.id for one in found.findings] == [SEEN.id]
    assert (found.status, found.since) == (ALERT.status, minutes(5))
    assert found.dedup_key.startswith("hidden:")
    assert (found.owners, found.consumers) == (("etl",), ())
    # Hidden consumers do not count.
    assert found.reach == Reach()
    assert (found.merged_into, found.more_findings) == ("", 0)
    for name in ("secret", "salaries", "bonus", "payroll"):
        assert name not in repr(found)


def test_the_key_of_an_alert_with_a_hidden_root_stays(view: GraphView) -> None:
    etl = view.visible_to(Visibility(("etl",)))
    later = finding("failed-run", "job:etl:late", began=9, root=SECRET.id)
    [more] = alerts_of([SECRET, SEEN, later], minutes(95))
    first, second = visible_alert(etl, ALERT), visible_alert(etl, more)
    assert first is not None
    assert second is not None
    assert first.dedup_key == second.dedup_key
    assert len(second.findings) == 2


def test_nothing_is_left_of_an_alert_without_a_visible_finding(view: GraphView) -> None:
    assert visible_alert(view.visible_to(Visibility(("db",))), ALERT) is None
    assert visible_alert(view.visible_to(NOTHING), ALERT) is None
