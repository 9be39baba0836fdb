"""Which messages are due: new alerts about metadata are bounded, and time is not asked in vain."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from headwater.health.alerts.grouping import alerts_of
from headwater.health.alerts.models import Status
from headwater.health.alerts.outbox import (
    NEW_P3_PER_HOUR,
    LastDelivery,
    Message,
    messages,
    next_instant,
)
from headwater.health.alerts.receivers import Kind, Receiver
from headwater.health.findings.models import Affected, Finding, Tier
from tests.health.alerts.finding_builders import finding, minutes

HOOK = Receiver("hook", Kind.WEBHOOK, "http://127.0.0.1:1/")
DAY = 24 * 60


class Outbox:
    """The deliveries to one receiver, as the graph keeps them."""

    def __init__(self) -> None:
        self.last: dict[tuple[str, str], LastDelivery] = {}
        self.sent: list[tuple[datetime, Message]] = []
        self.new_p3: list[datetime] = []

    def due(self, findings: list[Finding], instant: datetime) -> list[Message]:
        alerts = alerts_of(findings, instant)
        return messages(alerts, self.last, HOOK, instant, self.new_p3)

    def send(self, findings: list[Finding], instant: datetime) -> None:
        """Send what is due at an instant."""
        for message in self.due(findings, instant):
            alert = message.alert
            key = (message.receiver, alert.dedup_key)
            before = self.last.get(key)
            is_new = before is None or before.status is not Status.FIRING
            if is_new and alert.tier is Tier.P3:
                self.new_p3.append(instant)
            self.sent.append((instant, message))
            self.last[key] = LastDelivery(
                receiver=message.receiver,
                dedup_key=alert.dedup_key,
                number=message.number,
                status=alert.status,
                tier=alert.tier,
                created_at=instant,
                findings=frozenset(one.id for one in alert.findings if one.is_open),
            )

    def keys_sent(self) -> list[str]:
        return [message.alert.dedup_key for _, message in self.sent]


def metadata(number: int, jobs: int = 0, ended: float | None = None) -> Finding:
    return finding(
        "orphan-dataset",
        f"dataset:db:{number:04d}",
        ended=ended,
        tier=Tier.P3,
        affected=Affected(jobs=jobs),
    )


def test_the_most_affected_are_sent_first() -> None:
    found = [metadata(number, jobs=number) for number in range(150)]
    urgent = [finding(subject=f"job:etl:{number}", tier=Tier.P2) for number in range(100)]
    outbox = Outbox()
    outbox.send(found + urgent, minutes(5))
    first = set(outbox.keys_sent())
    assert first == {one.id for one in [*urgent, *found[90:]]}
    outbox.send(found + urgent, minutes(64.9))
    assert len(outbox.sent) == 160
    outbox.send(found + urgent, minutes(65))
    assert set(outbox.keys_sent()) - first == {one.id for one in found[30:90]}


def test_a_held_back_alert_that_resolves_or_becomes_urgent() -> None:
    found = [metadata(number, jobs=200 - number) for number in range(62)]
    outbox = Outbox()
    outbox.send(found, minutes(5))
    resolved = metadata(60, jobs=140, ended=10)
    urgent = replace(found[61], tier=Tier.P2)
    outbox.send([*found[:60], resolved, urgent], minutes(11))
    assert outbox.keys_sent()[60:] == [urgent.id]


def test_updates_and_ends_are_not_held_back() -> None:
    found = [metadata(number) for number in range(60)]
    outbox = Outbox()
    outbox.send(found, minutes(5))
    outbox.send([metadata(number, ended=6) for number in range(60)], minutes(7))
    assert [message.alert.status for _, message in outbox.sent[60:]] == [Status.RESOLVED] * 60


@pytest.mark.parametrize("seed", range(3))
def test_each_alert_is_sent_in_the_end_or_resolves_before(seed: int) -> None:
    chance = random.Random(seed)
    histories = [drawn(chance, number) for number in range(300)]
    outbox = Outbox()
    for minute in range(0, DAY, 20):
        outbox.send([at_minute(one, minute) for one in histories], minutes(minute))
    began: Mapping[str, datetime] = {
        message.alert.dedup_key: at for at, message in reversed(outbox.sent)
    }
    for one in histories:
        assert one.id in began or not one.is_open
        if one.tier is not Tier.P3 and one.is_open:
            seen = max(one.episode.first_seen, minutes(0))
            assert began[one.id] <= seen + timedelta(minutes=30)
    for at in outbox.new_p3:
        in_an_hour = [other for other in outbox.new_p3 if at <= other < at + timedelta(hours=1)]
        assert len(in_an_hour) <= NEW_P3_PER_HOUR
    still_firing = {key for (_, key), one in outbox.last.items() if one.status is Status.FIRING}
    assert still_firing == {one.id for one in histories if one.is_open}


def drawn(chance: random.Random, number: int) -> Finding:
    """Return a finding of any tier that begins within half a day, and that may end."""
    tier = chance.choice([Tier.P1, Tier.P2, Tier.P3, Tier.P3, Tier.P3])
    began = chance.uniform(-60, DAY / 2)
    ended = began + chance.uniform(1, DAY / 3) if chance.random() < 0.5 else None
    rule = "orphan-dataset" if tier is Tier.P3 else chance.choice(["failed-run", "stale-dataset"])
    return finding(
        rule,
        f"dataset:db:{number}",
        began=began,
        ended=ended,
        tier=tier,
        affected=Affected(datasets=chance.randrange(50)),
    )


def at_minute(one: Finding, minute: float) -> Finding:
    """Return a finding as it was at an instant: open until its end."""
    end = one.episode.resolved_at
    if end is None or end <= minutes(minute):
        return one
    episode = replace(one.episode, resolved_at=None, resolved_by=None)
    return replace(one, episode=episode)


@pytest.mark.parametrize("seed", range(5))
def test_until_the_next_instant_time_makes_nothing_due(seed: int) -> None:
    chance = random.Random(seed)
    histories = [drawn(chance, number) for number in range(80)]
    histories += [finding(key=str(key), began=key * 5, ended=key * 5 + 3) for key in range(9)]
    outbox = Outbox()
    for minute in range(0, DAY // 2, 37):
        known = [at_minute(one, minute) for one in histories]
        outbox.send(known, minutes(minute))
        assert outbox.due(known, minutes(minute)) == []
        until = next_instant(known, outbox.last.values(), outbox.new_p3, minutes(minute))
        assert minutes(minute) < until <= minutes(minute + 5)
        for share in (0.2, 0.9, 0.999):
            instant = minutes(minute) + (until - minutes(minute)) * share
            assert outbox.due(known, instant) == []


def test_a_message_from_a_clock_that_was_ahead_delays_nothing() -> None:
    """Neither a pause nor the bound on P3 lasts until the time that the clock showed."""
    outbox, first = Outbox(), finding(tier=Tier.P3)
    outbox.send([first], minutes(10 * DAY))
    (key,) = outbox.last
    outbox.new_p3 = [minutes(10 * DAY)] * NEW_P3_PER_HOUR
    more = [first, finding(subject="job:etl:other", root=first.id, tier=Tier.P3)]
    assert len(outbox.due(more, minutes(20))) == 1
    outbox.last[key] = replace(outbox.last[key], status=Status.RESOLVED)
    assert len(outbox.due([first], minutes(20))) == 1
