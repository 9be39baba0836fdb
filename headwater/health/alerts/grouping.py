"""The alerts of a set of findings at an instant: one for each root cause.

`alerts_of` is a pure function of the findings and the instant. An alert fires once one of its
findings has lasted for the wait of its rule, and it is resolved once none is open. It then stays
firing while any finding of the group is open. A group that never lasted is not an alert, so a
failure that a retry repairs at once disturbs nobody.

A problem that returns soon after its end is flapping: the second group waits until
`FLAPPING_SECONDS` after the end of the first. If it is still open then, it fires.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from headwater.health.alerts.headlines import title_of
from headwater.health.alerts.models import Alert, Reach, Status
from headwater.health.findings.models import Consumer, Finding
from headwater.health.findings.rules import RULES

CONSUMERS_MAX = 20
FLAPPING_SECONDS = 600

# Rule and subject: a problem that returns has both.
_Ends = Mapping[tuple[str, str], Sequence[datetime]]


def alerts_of(findings: Iterable[Finding], instant: datetime) -> list[Alert]:
    """Return the alerts of these findings at an instant, the most urgent first.

    Args:
        findings: All findings of every group, and those that ended up to `FLAPPING_SECONDS` before
            the beginning of an open one. Their order does not matter; a finding counts once.
        instant: The time at which the alerts are wanted.
    """
    groups: dict[str, dict[str, Finding]] = defaultdict(dict)
    for finding in findings:
        if finding.episode.first_seen <= instant:
            groups[finding.root][finding.id] = finding
    ends = _ends_of(groups)
    alerts = [_alert(key, list(group.values()), ends, instant) for key, group in groups.items()]
    return sorted(alerts, key=lambda alert: (alert.tier, alert.since, alert.dedup_key))


def in_order_of_cause(root: str, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings of one group: the root, the open ones by their beginning, the others."""
    return tuple(
        sorted(
            findings,
            key=lambda one: (one.id != root, not one.is_open, one.episode.first_seen, one.id),
        )
    )


def _alert(key: str, group: list[Finding], ends: _Ends, instant: datetime) -> Alert:
    ordered = in_order_of_cause(key, group)
    return alert_with(key, _status(ordered, ends, instant), ordered)


def alert_with(key: str, status: Status, ordered: Sequence[Finding]) -> Alert:
    """Return the alert of findings of one group, which are in the order of cause."""
    open_findings = [finding for finding in ordered if finding.is_open]
    counted = open_findings or ordered
    consumers = _consumers(counted)
    reach = _reach(counted)
    head = ordered[0].episode
    return Alert(
        dedup_key=key,
        status=status,
        tier=min(finding.tier for finding in counted),
        title=title_of(head.rule, head.subject, reach),
        findings=tuple(ordered),
        consumers=tuple(consumers[:CONSUMERS_MAX]),
        more_consumers=max(_total(reach), len(consumers)) - min(len(consumers), CONSUMERS_MAX),
        reach=reach,
        owners=_owners(counted, consumers),
        since=min(finding.episode.first_seen for finding in ordered),
        resolved_at=None if open_findings else _last_end(ordered),
    )


def _status(ordered: Sequence[Finding], ends: _Ends, instant: datetime) -> Status:
    if not any(finding.is_open for finding in ordered):
        return Status.RESOLVED
    has_lasted = any(_has_lasted(finding, instant) for finding in ordered)
    if not has_lasted or instant < _end_of_flapping(ordered[0], ends):
        return Status.WAITING
    return Status.FIRING


def _has_lasted(finding: Finding, instant: datetime) -> bool:
    """Return True if a finding lasted for the wait of its rule."""
    wait = timedelta(seconds=RULES[finding.episode.rule].wait_seconds)
    return finding.episode.first_seen + wait <= (finding.episode.resolved_at or instant)


def _ends_of(groups: Mapping[str, Mapping[str, Finding]]) -> _Ends:
    """Return when the problems ended that somebody was alerted to."""
    ends: dict[tuple[str, str], list[datetime]] = defaultdict(list)
    for key, group in groups.items():
        head = in_order_of_cause(key, group.values())[0]
        end = _last_end(group.values())
        if end is not None and any(_has_lasted(finding, end) for finding in group.values()):
            ends[head.episode.rule, head.episode.subject].append(end)
    return ends


def _end_of_flapping(head: Finding, ends: _Ends) -> datetime:
    """Return the instant before which a problem that returned does not fire."""
    began = head.episode.first_seen
    pause = timedelta(seconds=FLAPPING_SECONDS)
    last = [
        end
        for end in ends.get((head.episode.rule, head.episode.subject), ())
        if end <= began <= end + pause
    ]
    return max(last) + pause if last else began


def _last_end(findings: Iterable[Finding]) -> datetime | None:
    """Return the end of the last finding; None if one is open."""
    ends = [finding.episode.resolved_at for finding in findings]
    return None if None in ends else max(end for end in ends if end is not None)


def _reach(findings: Iterable[Finding]) -> Reach:
    """Return the largest reach of the findings: that of a cause contains those of its effects."""
    affected = [finding.affected for finding in findings]
    return Reach(
        answers=max(one.answers for one in affected),
        datasets=max(one.datasets for one in affected),
        jobs=max(one.jobs for one in affected),
        critical=max(one.critical for one in affected),
        truncated=any(one.truncated for one in affected),
    )


def _total(reach: Reach) -> int:
    return reach.answers + reach.datasets + reach.jobs


def _consumers(findings: Iterable[Finding]) -> list[Consumer]:
    """Return the affected nodes once each: by the tier of the most urgent finding that affects
    them, then answers, critical nodes and the others."""
    best: dict[str, tuple[tuple[str, bool, bool, str], Consumer]] = {}
    for finding in findings:
        for one in finding.affected.consumers:
            rank = (
                finding.tier.value,
                not one.urn.startswith("answer:"),
                not one.is_critical,
                one.urn,
            )
            if one.urn not in best or rank < best[one.urn][0]:
                best[one.urn] = rank, one
    return [consumer for _, consumer in sorted(best.values(), key=lambda item: item[0])]


def _owners(findings: Sequence[Finding], consumers: Sequence[Consumer]) -> tuple[str, ...]:
    """Return the owners of the findings by cause, then those of the affected."""
    names: dict[str, None] = {}
    owners = [one.owners for one in findings] + [one.owners for one in consumers]
    for some in owners:
        names |= dict.fromkeys(some)
    return tuple(names)
