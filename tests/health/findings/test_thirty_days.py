"""Thirty days of a shop: each planted problem is found and alerted, and nothing else.

live: events come hour by hour, and the detector looks several times a day at what changed. It makes
  a full pass in the afternoon.
shuffled: all events in random order, many of them twice, with one pass at the end.
rebuilt: the graph is erased and made again from all events, with one pass at the end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import requests

from headwater.chunks import chunks
from headwater.cypher.driver.database import Database
from headwater.health.alerts.alertmanager import alertmanager_body, with_ends
from headwater.health.alerts.grouping import alerts_of
from headwater.health.alerts.models import Alert, Status
from headwater.health.alerts.texts import alert_text
from headwater.health.findings.detector import Detector
from headwater.health.findings.models import Finding
from headwater.health.findings.store import finding_of
from headwater.health.findings.sweep import sweep
from headwater.ingest.write.cache import WriteCache
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.end_to_end.conftest import wait_for
from tests.event_builders import write_batch
from tests.health.findings.alertmanagers import PROGRAM, alertmanager
from tests.health.findings.thirty_days.expected import GROUPS
from tests.health.findings.thirty_days.innocent import CHANGES
from tests.health.findings.thirty_days.plan import DAYS, at
from tests.health.findings.thirty_days.problems import PROBLEMS
from tests.health.findings.thirty_days.story import history, shuffled
from tests.run_builders import Event

pytestmark = [pytest.mark.neo4j, pytest.mark.slow, pytest.mark.timeout(1200)]

END = at(DAYS + 1, "00:00")
# Hours of the passes of a day.
_BUSY = (3, 4, 6, 10, 15)
_QUIET = (24,)
# Rule, subject, first seen, resolved, tier, rule and subject of the root.
Outline = tuple[str, str, datetime, datetime | None, str, str, str]
EXPECTED: set[Outline] = {
    (
        one.rule,
        one.subject,
        one.first_seen,
        one.resolved_at,
        one.tier,
        group.root.rule,
        group.root.subject,
    )
    for group in GROUPS
    for one in group.findings
}
_BUSY_DAYS = {
    (time - at(0, "00:00")).days
    for group in GROUPS
    for one in group.findings
    for time in (one.first_seen, one.resolved_at)
    if time is not None
}


@dataclass
class Life:
    """What the passes saw: findings at any time, and the alerts of each instant."""

    findings: dict[str, Finding] = field(default_factory=dict)
    seen: set[tuple[str, str, datetime]] = field(default_factory=set)
    alerts: list[tuple[datetime, list[Alert]]] = field(default_factory=list)


def read_findings(database: Database) -> dict[str, Finding]:
    rows = database.ask("MATCH (f:Finding) RETURN properties(f) AS properties", {})
    found = [finding_of(row["properties"]) for row in rows]
    return {finding.id: finding for finding in found}


def outlines(findings: dict[str, Finding]) -> set[Outline]:
    return {_outline(one, findings[one.root]) for one in findings.values()}


def _outline(one: Finding, root: Finding) -> Outline:
    episode, cause = one.episode, root.episode
    return (
        episode.rule,
        episode.subject,
        episode.first_seen,
        episode.resolved_at,
        str(one.tier),
        cause.rule,
        cause.subject,
    )


def write_all(database: Database, events: Sequence[Event]) -> None:
    cache = WriteCache()
    for batch in chunks(events, 1000):
        write_batch(database, batch, cache)


def passes() -> Iterator[tuple[datetime, list[Event]]]:
    """Yield the instant of each pass, with the events that came since the one before.

    A day on which a finding begins or ends has several, the last in the afternoon, when nothing
    comes and the clock alone decides. Another day has one.
    """
    waiting = deque(history())
    for day in range(1, DAYS + 1):
        for hour in _BUSY if day in _BUSY_DAYS else _QUIET:
            instant = at(day, f"{hour}:00")
            sent = []
            while waiting and waiting[0].at < instant:
                sent.append(waiting.popleft().event)
            yield instant, sent
    assert len(waiting) == 0


@dataclass
class Clock:
    """The clock of the detector."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture(scope="module")
def life(database: Database, view: GraphView) -> Life:
    empty(database)
    found, cache = Life(), WriteCache()
    clock = Clock(at(1, "00:00"))
    detector = Detector(database, clock=clock)
    detector.full_pass()
    for instant, events in passes():
        clock.now = instant
        if events:
            write_batch(database, events, cache)
            with pytest.MonkeyPatch.context() as patch:
                # Only what changed: else a full pass would be due at each of these instants.
                patch.setattr("headwater.health.findings.detector.FULL_PASS_EVERY", timedelta.max)
                while detector.step() is not None:
                    pass
        else:
            sweep(view, None, instant)
        found.findings = read_findings(database)
        found.seen.update(
            (one.episode.rule, one.episode.subject, one.episode.first_seen)
            for one in found.findings.values()
        )
        found.alerts.append((instant, alerts_of(found.findings.values(), instant)))
    return found


def test_the_history_has_twelve_problems_and_forty_changes() -> None:
    assert (len(PROBLEMS), len(CHANGES)) == (12, 40)
    names = {edit.__name__ for edit in (*PROBLEMS, *CHANGES)}
    assert len(names) == 52
    assert {group.problem for group in GROUPS} == {edit.__name__ for edit in PROBLEMS} | {
        "quick_retry"
    }
    assert all(edit.__doc__ for edit in (*PROBLEMS, *CHANGES))


def test_live(life: Life) -> None:
    assert outlines(life.findings) == EXPECTED


def test_no_pass_saw_another_finding(life: Life) -> None:
    assert life.seen == {outline[:3] for outline in EXPECTED}


def test_each_problem_is_one_alert(life: Life) -> None:
    fired: dict[tuple[str, str], datetime] = {}
    tiers: dict[tuple[str, str], str] = {}
    ended: dict[tuple[str, str], datetime] = {}
    for instant, alerts in life.alerts:
        for alert in alerts:
            root = life.findings[alert.dedup_key].episode
            key = (root.rule, root.subject)
            if alert.status is Status.FIRING:
                assert key not in ended, f"{key} fires again"
                fired.setdefault(key, instant)
                tiers[key] = min(str(alert.tier), tiers.get(key, "P3"))
            elif alert.status is Status.RESOLVED and key in fired:
                ended.setdefault(key, instant)
    instants = [instant for instant, _ in life.alerts]

    def first_pass(after: datetime) -> datetime:
        return min(instant for instant in instants if instant >= after)

    expected = {(one.root.rule, one.root.subject): one for one in GROUPS if one.alerted_at}
    assert fired == {key: first_pass(one.alerted_at or END) for key, one in expected.items()}
    assert tiers == {key: one.tier for key, one in expected.items()}
    assert ended == {
        key: first_pass(one.resolved_at)
        for key, one in expected.items()
        if one.resolved_at is not None
    }


@pytest.mark.skipif(PROGRAM is None, reason="no Alertmanager on this machine")
def test_an_alertmanager_shows_one_group_for_each_root_cause(life: Life, tmp_path: Path) -> None:
    largest: dict[str, tuple[datetime, Alert]] = {}
    for instant, alerts in life.alerts:
        for alert in alerts:
            if alert.status is Status.FIRING:
                before = largest.get(alert.dedup_key)
                if before is None or _open_count(alert) > _open_count(before[1]):
                    largest[alert.dedup_key] = (instant, alert)
    now = datetime.now(UTC)
    bodies = [
        with_ends(alertmanager_body(alert, alert_text(alert), "", instant), now)
        for instant, alert in largest.values()
    ]
    with alertmanager(tmp_path) as url:
        for body in bodies:
            requests.post(f"{url}/api/v2/alerts", json=body, timeout=30).raise_for_status()
        wanted = {key: _open_count(alert) for key, (_, alert) in largest.items()}
        assert len(wanted) == len([one for one in GROUPS if one.alerted_at])

        def shown() -> dict[str, int]:
            groups = requests.get(f"{url}/api/v2/alerts/groups", timeout=30).json()
            assert len({group["labels"]["root"] for group in groups}) == len(groups)
            return {group["labels"]["root"]: len(group["alerts"]) for group in groups}

        wait_for(lambda: shown() == wanted)


def _open_count(alert: Alert) -> int:
    return sum(finding.is_open for finding in alert.findings)


def test_shuffled_with_duplicates(database: Database, view: GraphView, life: Life) -> None:
    empty(database)
    write_all(database, shuffled(seed=16))
    sweep(view, None, END)
    found = read_findings(database)
    assert outlines(found) == EXPECTED
    assert found == life.findings


def test_rebuilt(database: Database, view: GraphView, life: Life) -> None:
    empty(database)
    write_all(database, [sent.event for sent in history()])
    sweep(view, None, END)
    assert read_findings(database) == life.findings
