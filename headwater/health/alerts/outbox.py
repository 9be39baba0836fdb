"""The outbox: which messages the receivers of alerts must get, as nodes of the graph.

`enqueue` runs in the transaction that writes the findings, and then at each tick, since time alone
makes an alert fire. It compares the alerts of the findings with the newest delivery to each
receiver, and writes a delivery where they differ. So a message exists exactly if its findings do,
a second run writes nothing, and a rebuild of the graph, which keeps deliveries, sends nothing
twice.

Metadata findings (P3) of an old graph may be thousands at once. A receiver gets at most
`NEW_P3_PER_HOUR` new alerts of them in any hour, and the rest later.

`messages` and `next_instant` are the pure part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

import msgspec

from headwater.cypher.driver.database import Transaction
from headwater.health.alerts.current import read_findings
from headwater.health.alerts.grouping import FLAPPING_SECONDS, alerts_of
from headwater.health.alerts.headlines import subject_name
from headwater.health.alerts.models import Alert, Status
from headwater.health.alerts.receivers import Receiver
from headwater.health.findings.models import Finding, Tier
from headwater.health.findings.rules import RULES

# A group grows while its cause lasts; receivers that are people hear of it so often at most.
UPDATE_SECONDS = 300
# Findings in one message. The others are counted.
FINDINGS_MAX = 50
# New alerts of the tier P3 that a receiver gets in any hour. P1 and P2 are never held back.
NEW_P3_PER_HOUR = 60
# Alerts that nothing changes are compared with the deliveries at least this often.
QUIET_SECONDS_MAX = 300
KEEP_DAYS = 30
VANISHED = "a later event"
_HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class LastDelivery:
    """The newest delivery of an alert to a receiver; `findings` were open when it was written."""

    receiver: str
    dedup_key: str
    number: int
    status: Status
    tier: Tier
    created_at: datetime
    findings: frozenset[str]

    @property
    def urn(self) -> str:
        """Return the urn of the delivery."""
        return delivery_urn(self.receiver, self.dedup_key, self.number)


@dataclass(frozen=True)
class Message:
    """A message that a receiver must get next; `previous` is the urn of the one before."""

    receiver: str
    number: int
    previous: str | None
    alert: Alert

    @property
    def urn(self) -> str:
        """Return the urn of its delivery."""
        return delivery_urn(self.receiver, self.alert.dedup_key, self.number)


@dataclass(frozen=True)
class Enqueued:
    """The number of deliveries that were written, and the instant before which none is due if
    the findings stay as they are."""

    count: int
    quiet_until: datetime


def delivery_urn(receiver: str, dedup_key: str, number: int) -> str:
    return f"delivery:{receiver}:{dedup_key}:{number}"


def enqueue(transaction: Transaction, instant: datetime, receivers: Sequence[Receiver]) -> Enqueued:
    """Write the deliveries that the findings and the instant require, and delete old ones.

    Raises UnavailableError.
    """
    if not receivers:
        return Enqueued(0, instant + timedelta(seconds=QUIET_SECONDS_MAX))
    last = {(one.receiver, one.dedup_key): one for one in _read_firing(transaction)}
    keys_fired = [one.dedup_key for one in last.values()]
    findings = read_findings(transaction.run, instant, keys_fired)
    alerts = alerts_of(findings, instant)
    keys = [alert.dedup_key for alert in alerts if alert.status is Status.FIRING]
    for row in transaction.run("read/alerts/newest_deliveries", keys=keys):
        one = _last_delivery(row)
        last[one.receiver, one.dedup_key] = one
    vanished = _read_vanished(transaction, instant, alerts, last.values())
    recent = _read_recent_p3(transaction, instant)
    found: list[Message] = []
    for receiver in receivers:
        times = recent.get(receiver.name, ())
        found += messages([*alerts, *vanished], last, receiver, instant, times)
    rows = sorted((_row(message, instant) for message in found), key=lambda row: str(row["urn"]))
    if rows:
        transaction.run("write/alerts/deliveries", rows=rows)
        before = instant - timedelta(days=KEEP_DAYS)
        transaction.run("write/alerts/delete_old_deliveries", before=before)
        return Enqueued(len(rows), instant)
    all_times = chain.from_iterable(recent.values())
    return Enqueued(0, next_instant(findings, last.values(), all_times, instant))


def messages(
    alerts: Iterable[Alert],
    last: Mapping[tuple[str, str], LastDelivery],
    receiver: Receiver,
    instant: datetime,
    recent_p3: Iterable[datetime] = (),
) -> list[Message]:
    """Return what a receiver must get next, in the order of the alerts.

    Args:
        alerts: All alerts that are open or were sent.
        last: The newest deliveries, by the name of the receiver and the key of the alert.
        receiver: Who gets the messages.
        instant: The now.
        recent_p3: When new alerts of the tier P3 were written for this receiver.
    """
    found = []
    for alert in alerts:
        before = last.get((receiver.name, alert.dedup_key))
        if not _is_due(alert, before, receiver, instant):
            continue
        number = before.number + 1 if before else 1
        found.append(Message(receiver.name, number, before.urn if before else None, alert))
    written = sum(not _has_passed(at, _HOUR, instant) for at in recent_p3)
    held_back = _held_back(found, last, max(NEW_P3_PER_HOUR - written, 0))
    return [message for message in found if message.urn not in held_back]


def next_instant(
    findings: Iterable[Finding],
    last: Iterable[LastDelivery],
    recent_p3: Iterable[datetime],
    instant: datetime,
) -> datetime:
    """Return an instant before which time alone makes no message due that is not due now."""
    pauses = (timedelta(seconds=UPDATE_SECONDS), timedelta(seconds=FLAPPING_SECONDS))
    changes = chain(
        chain.from_iterable(_instants_of(finding) for finding in findings),
        (one.created_at + pause for one in last for pause in pauses),
        (at + _HOUR for at in recent_p3),
    )
    latest = instant + timedelta(seconds=QUIET_SECONDS_MAX)
    return min((at for at in changes if instant < at < latest), default=latest)


def _instants_of(finding: Finding) -> Iterable[datetime]:
    """Return the instants at which the status of an alert with a finding may change."""
    episode = finding.episode
    instants = [
        episode.first_seen,
        episode.first_seen + timedelta(seconds=RULES[episode.rule].wait_seconds),
    ]
    if episode.resolved_at is not None:
        instants.append(episode.resolved_at + timedelta(seconds=FLAPPING_SECONDS))
    return instants


def _held_back(
    found: Iterable[Message], last: Mapping[tuple[str, str], LastDelivery], allowed: int
) -> set[str]:
    """Return the new messages of the tier P3 above the allowed number, the least affected."""
    new = [
        message
        for message in found
        if message.alert.tier is Tier.P3
        and message.alert.status is Status.FIRING
        and not _is_firing(last.get((message.receiver, message.alert.dedup_key)))
    ]
    new.sort(key=lambda message: (-_total(message.alert), message.alert.since, message.urn))
    return {message.urn for message in new[allowed:]}


def _total(alert: Alert) -> int:
    reach = alert.reach
    return reach.answers + reach.datasets + reach.jobs


def _is_firing(before: LastDelivery | None) -> bool:
    return before is not None and before.status is Status.FIRING


def _is_due(
    alert: Alert, before: LastDelivery | None, receiver: Receiver, instant: datetime
) -> bool:
    if alert.status is Status.RESOLVED:
        return _is_firing(before)
    if alert.status is Status.WAITING:
        return False
    if before is None or not _is_firing(before):
        is_flapping = before is not None and not _has_passed(
            before.created_at, timedelta(seconds=FLAPPING_SECONDS), instant
        )
        return not is_flapping and _is_wanted(alert, receiver)
    return _is_update(alert, before, receiver, instant)


def _is_wanted(alert: Alert, receiver: Receiver) -> bool:
    subjects = (subject_name(finding.episode.subject) for finding in alert.findings)
    return receiver.wants(alert.tier, alert.owners) and any(map(receiver.may_see, subjects))


def _is_update(alert: Alert, before: LastDelivery, receiver: Receiver, instant: datetime) -> bool:
    """Return True if an alert that fires has something to say since the last message."""
    if alert.tier < before.tier:
        return True
    findings = frozenset(_open_findings(alert))
    if receiver.follows_each_change:
        return findings != before.findings or alert.tier != before.tier
    pause = timedelta(seconds=UPDATE_SECONDS)
    return not findings <= before.findings and _has_passed(before.created_at, pause, instant)


def _has_passed(since: datetime, pause: timedelta, instant: datetime) -> bool:
    """Return True if a pause is over; also if it began further ahead than it lasts.

    A clock that was ahead wrote such a beginning.
    """
    return abs(instant - since) >= pause


def _open_findings(alert: Alert) -> list[str]:
    return [one.id for one in alert.findings if one.is_open][:FINDINGS_MAX]


def _read_firing(transaction: Transaction) -> list[LastDelivery]:
    return [_last_delivery(row) for row in transaction.run("read/alerts/firing_deliveries")]


def _read_recent_p3(transaction: Transaction, instant: datetime) -> dict[str, list[datetime]]:
    """Return when new alerts of the tier P3 were written in the last hour, by receiver."""
    recent: dict[str, list[datetime]] = {}
    for row in transaction.run("read/alerts/recent_p3", since=instant - _HOUR):
        recent.setdefault(row["receiver"], []).append(row["createdAt"])
    return recent


def _read_vanished(
    transaction: Transaction,
    instant: datetime,
    alerts: Iterable[Alert],
    last: Iterable[LastDelivery],
) -> list[Alert]:
    """Return as resolved the alerts whose findings no longer exist."""
    keys = {alert.dedup_key for alert in alerts}
    homes: dict[str, str] = {}
    for alert in alerts:
        homes |= {finding.id: alert.dedup_key for finding in alert.findings}
    urns = sorted(
        {
            one.dedup_key: one.urn
            for one in last
            if one.status is Status.FIRING and one.dedup_key not in keys
        }.values()
    )
    if not urns:
        return []
    rows = transaction.run("read/alerts/payloads", urns=urns)
    return [_vanished(alert_of(row["payload"]), homes, instant) for row in rows]


def _vanished(alert: Alert, homes: Mapping[str, str], instant: datetime) -> Alert:
    """Return an alert as resolved at an instant: a later event removed its findings, or showed
    their cause, which gave them a `homes`: the key of another alert by the id of the finding."""
    findings = [
        replace(one, episode=replace(one.episode, resolved_at=instant, resolved_by=VANISHED))
        if one.is_open and one.id not in homes
        else one
        for one in alert.findings
    ]
    return replace(
        alert,
        status=Status.RESOLVED,
        findings=tuple(findings),
        resolved_at=instant,
        merged_into=next((homes[one.id] for one in findings if one.id in homes), ""),
    )


def alert_of(payload: str) -> Alert:
    """Return the alert of a delivery."""
    return msgspec.json.decode(payload, type=Alert)


def payload_of(alert: Alert) -> str:
    """Return an alert as JSON, with at most `FINDINGS_MAX` findings."""
    more = max(len(alert.findings) - FINDINGS_MAX, 0) + alert.more_findings
    shown = replace(alert, findings=alert.findings[:FINDINGS_MAX], more_findings=more)
    return msgspec.json.encode(shown).decode()


def _last_delivery(row: Mapping[str, Any]) -> LastDelivery:
    return LastDelivery(
        receiver=row["receiver"],
        dedup_key=row["dedupKey"],
        number=row["number"],
        status=Status(row["status"]),
        tier=Tier(row["tier"]),
        created_at=row["createdAt"],
        findings=frozenset(row["findings"]),
    )


def _row(message: Message, instant: datetime) -> dict[str, Any]:
    alert = message.alert
    properties = {
        "receiver": message.receiver,
        "dedupKey": alert.dedup_key,
        "number": message.number,
        "previous": message.previous,
        "isNewest": True,
        "status": str(alert.status),
        "tier": str(alert.tier),
        "title": alert.title,
        "findings": _open_findings(alert),
        "createdAt": instant,
        "queuedAt": instant,
        "nextAt": instant,
        "attempts": 0,
        "state": "waiting",
        "payload": payload_of(alert),
    }
    return {"urn": message.urn, "previous": message.previous, "properties": properties}
