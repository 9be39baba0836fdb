"""The outbox: which messages exist, and that they exist once."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.health.alerts.models import Status
from headwater.health.alerts.outbox import alert_of, enqueue
from headwater.health.alerts.receivers import Kind, Receiver
from headwater.health.findings.models import Tier
from tests.health.alerts.alert_stores import change, deliveries, enqueue_at, store
from tests.health.alerts.finding_builders import finding, minutes

pytestmark = pytest.mark.neo4j
HOOK = Receiver("hook", Kind.WEBHOOK, "http://127.0.0.1:1/")
PAGER = Receiver("pager", Kind.PAGERDUTY, routing_key="r")
MANAGER = Receiver("manager", Kind.ALERTMANAGER, "http://127.0.0.1:1")


@pytest.fixture(autouse=True)
def _clean(clean_graph: Driver) -> None:
    del clean_graph


def tick(database: Database, at: float, *receivers: Receiver) -> int:
    return enqueue_at(database, minutes(at), *(receivers or (HOOK,)))


def sent(database: Database) -> list[tuple[str, str, int, datetime]]:
    """Return the receiver, the status, the number and the time of each delivery."""
    return [
        (one["receiver"], one["status"], one["number"], one["createdAt"])
        for one in deliveries(database)
    ]


def test_an_alert_fires_once_and_is_resolved_once(database: Database) -> None:
    failed = finding()
    store(database, failed)
    assert [tick(database, at) for at in (0.5, 1, 1, 2, 400)] == [0, 1, 0, 0, 0]
    store(database, finding(ended=500))
    assert [tick(database, at) for at in (500, 501)] == [1, 0]
    assert sent(database) == [
        ("hook", "firing", 1, minutes(1)),
        ("hook", "resolved", 2, minutes(500)),
    ]
    first, second = deliveries(database)
    assert first["urn"] == f"delivery:hook:{failed.id}:1"
    assert (second["previous"], "isNewest" in first) == (first["urn"], False)
    assert alert_of(first["payload"]).findings == (failed,)


def test_nothing_is_sent_of_findings_that_ended_before_they_were_seen(database: Database) -> None:
    store(database, finding(ended=30))
    assert tick(database, 31) == 0


def test_each_receiver_gets_the_tiers_that_it_wants(database: Database) -> None:
    store(database, finding(tier=Tier.P2), finding(subject="job:etl:b", tier=Tier.P1))
    tick(database, 5, HOOK, PAGER)
    assert [(one["receiver"], one["tier"]) for one in deliveries(database)] == [
        ("hook", "P1"),
        ("hook", "P2"),
        ("pager", "P1"),
    ]


def test_a_receiver_of_other_namespaces_gets_nothing(database: Database) -> None:
    store(database, finding())
    other = Receiver("other", Kind.WEBHOOK, "http://127.0.0.1:1/", namespaces=("team-b*",))
    theirs = Receiver("theirs", Kind.WEBHOOK, "http://127.0.0.1:1/", owners=("b",))
    assert tick(database, 5, other, theirs) == 0


def test_a_new_receiver_gets_what_fires(database: Database) -> None:
    store(database, finding())
    tick(database, 5, HOOK)
    tick(database, 6, HOOK, MANAGER)
    assert [row[:3] for row in sent(database)] == [("hook", "firing", 1), ("manager", "firing", 1)]


def test_a_more_urgent_tier_is_sent_at_once(database: Database) -> None:
    store(database, finding(tier=Tier.P2))
    tick(database, 5)
    store(database, finding(tier=Tier.P1))
    tick(database, 5.1)
    store(database, finding(tier=Tier.P3))
    tick(database, 300)
    assert [(one["number"], one["tier"]) for one in deliveries(database)] == [(1, "P2"), (2, "P1")]


def test_further_findings_are_sent_after_a_pause(database: Database) -> None:
    root = finding()
    more = finding("stale-dataset", "dataset:db:mart", began=3, root=root.id)
    store(database, root)
    tick(database, 5)
    store(database, root, more)
    # Five minutes after the message before.
    assert [tick(database, at) for at in (6, 9.9, 10, 16)] == [0, 0, 1, 0]
    last = deliveries(database)[-1]
    assert last["findings"] == [root.id, more.id]


def test_an_alertmanager_gets_each_change_at_once(database: Database) -> None:
    root = finding()
    more = finding("stale-dataset", "dataset:db:mart", began=3, root=root.id)
    store(database, root)
    tick(database, 5, MANAGER)
    store(database, root, more)
    assert [tick(database, at, MANAGER) for at in (5.1, 5.2)] == [1, 0]
    store(database, finding(ended=6), more)
    assert [tick(database, at, MANAGER) for at in (6, 6.1)] == [1, 0]


def test_a_finding_that_a_late_event_removes_resolves(database: Database) -> None:
    store(database, finding())
    tick(database, 5)
    store(database)
    assert [tick(database, at) for at in (6, 7)] == [1, 0]
    alert = alert_of(deliveries(database)[-1]["payload"])
    assert (alert.status, alert.resolved_at, alert.merged_into) == (
        Status.RESOLVED,
        minutes(6),
        "",
    )
    assert alert.findings[0].episode.resolved_by == "a later event"


def test_an_alert_ends_when_its_cause_becomes_known(database: Database) -> None:
    alone = finding("stale-dataset", "dataset:db:mart")
    store(database, alone)
    tick(database, 6)
    cause = finding(began=-10)
    store(database, cause, finding("stale-dataset", "dataset:db:mart", root=cause.id))
    assert tick(database, 7) == 2
    by_key = {one["dedupKey"]: one for one in deliveries(database)[1:]}
    assert by_key[cause.id]["status"] == "firing"
    assert by_key[alone.id]["status"] == "resolved"
    assert alert_of(by_key[alone.id]["payload"]).merged_into == cause.id


def test_a_late_event_that_reopens_a_finding_waits_ten_minutes(database: Database) -> None:
    store(database, finding())
    tick(database, 2)
    store(database, finding(ended=3))
    tick(database, 3)
    store(database, finding())
    assert [tick(database, at) for at in (4, 12.9, 13, 14)] == [0, 0, 1, 0]
    assert [row[1:3] for row in sent(database)] == [("firing", 1), ("resolved", 2), ("firing", 3)]


def test_a_problem_that_returns_is_quiet_at_first(database: Database) -> None:
    store(database, finding(key="1"))
    tick(database, 5)
    store(database, finding(key="1", ended=6), finding(key="2", began=8))
    assert [tick(database, at) for at in (9.5, 15.9, 16)] == [1, 0, 1]
    assert [row[1] for row in sent(database)] == ["firing", "resolved", "firing"]


def test_deliveries_are_kept_for_thirty_days(database: Database) -> None:
    lasting, brief = finding(), finding(subject="job:etl:b")
    store(database, lasting, brief)
    tick(database, 5)
    store(database, lasting, finding(subject="job:etl:b", ended=10))
    tick(database, 11)
    change(database, state="delivered")
    month = timedelta(days=31) / timedelta(minutes=1)
    store(database, lasting, finding(key="new", began=month, tier=Tier.P1))
    tick(database, month + 5)
    # The alert that still fires keeps its newest delivery, or it would be sent again.
    assert [one["dedupKey"] for one in deliveries(database)] == [
        lasting.id,
        finding(key="new").id,
    ]


def test_new_alerts_about_metadata_are_sent_sixty_an_hour(database: Database) -> None:
    found = [
        finding("orphan-dataset", f"dataset:db:{number:03d}", tier=Tier.P3) for number in range(65)
    ]
    store(database, *found, finding(tier=Tier.P2))
    assert [tick(database, at) for at in (5, 6, 64.9, 65, 66)] == [61, 0, 0, 5, 0]
    assert len({one["dedupKey"] for one in deliveries(database)}) == 66
    # What the receiver may not see was withheld, and does not count.
    change(database, state="withheld")
    more = [
        finding("orphan-dataset", f"dataset:db:more{number}", tier=Tier.P3) for number in range(59)
    ]
    store(database, *found, *more, finding(tier=Tier.P2))
    assert tick(database, 67) == 59


def test_two_writers_of_one_message_write_it_once(database: Database) -> None:
    store(database, finding())
    first, second = database.begin(), database.begin()
    assert enqueue(first, minutes(5), (HOOK,)).count == 1
    # The second has read before the first commits.
    rows = second.run("read/alerts/firing_deliveries")
    first.commit().result()
    assert (rows, enqueue(second, minutes(5), (HOOK,)).count) == ([], 0)
    second.commit().result()
    assert len(deliveries(database)) == 1
