"""An alert as Alertmanager's API v2 has it: one of its alerts for each open finding.

All of them have the label `root`, so that `group_by: [root]` makes one notification of each root
cause. The finding of the root has `cause="true"`, so that it can inhibit the others. Labels are the
identity of an alert in an Alertmanager: if one changes, the alert with the old labels is ended.

An alert without an end is repeated before `LIFETIME_SECONDS` are over (`with_ends`). So alerts end
by themselves if Headwater is away for longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from headwater.health.alerts.headlines import headline, subject_name
from headwater.health.alerts.links import links_of
from headwater.health.alerts.models import Alert, Status
from headwater.health.alerts.texts import AlertText, plain
from headwater.health.findings.models import Finding, Tier
from headwater.health.findings.runbooks import runbook_url

LIFETIME_SECONDS = 900
RESEND_SECONDS = 180
SEVERITIES = {Tier.P1: "critical", Tier.P2: "warning", Tier.P3: "info"}
_VALUE_CHARACTERS_MAX = 1_000

JsonObject = dict[str, Any]


def alertmanager_body(
    alert: Alert,
    text: AlertText,
    public_url: str,
    instant: datetime,
    before: Iterable[Mapping[str, Any]] = (),
) -> list[JsonObject]:
    """Return the alerts to post, those that fire without an end.

    Args:
        alert: The alert of Headwater.
        text: The alert as text for people.
        public_url: The address of the page, or nothing.
        instant: The end of the alerts that no longer fire.
        before: What was posted last; what fired then and does not now is ended.
    """
    firing = []
    if alert.status is Status.FIRING:
        firing = [
            _posted(finding, alert, text, public_url)
            for finding in alert.findings
            if finding.is_open
        ]
    labels = [one["labels"] for one in firing]
    ended = [
        {**one, "endsAt": _iso(instant)}
        for one in before
        if "endsAt" not in one and one["labels"] not in labels
    ]
    return firing + ended


def with_ends(alerts: Iterable[Mapping[str, Any]], instant: datetime) -> list[JsonObject]:
    """Return alerts as they are posted at an instant: those that fire end later, unless they are
    posted again before."""
    ends = _iso(instant + timedelta(seconds=LIFETIME_SECONDS))
    return [{"endsAt": ends, **one} for one in alerts]


def _posted(finding: Finding, alert: Alert, text: AlertText, public_url: str) -> JsonObject:
    episode = finding.episode
    links = links_of(finding, public_url)
    found = {
        "labels": _labels(finding, alert),
        "annotations": {
            "summary": alert.title,
            "finding": headline(episode.rule, episode.subject),
            "description": plain(text),
            "runbook_url": runbook_url(episode.rule, public_url),
            "owners": ", ".join(alert.owners),
            **({"link": links["page"]} if "page" in links else {}),
        },
        "startsAt": _iso(episode.first_seen),
    }
    if "lineage" in links:
        found["generatorURL"] = links["lineage"]
    return found


def _labels(finding: Finding, alert: Alert) -> dict[str, str]:
    subject = subject_name(finding.episode.subject)
    owners = finding.owners or alert.owners
    labels = {
        "alertname": alert.head.episode.rule,
        "rule": finding.episode.rule,
        "tier": str(alert.tier),
        "severity": SEVERITIES[alert.tier],
        subject.kind.lower(): subject.name,
        "namespace": subject.namespace or "",
        "owner": owners[0] if owners else "",
        "finding": finding.id,
        "root": alert.dedup_key,
        "cause": "true" if finding.id == alert.head.id else "false",
    }
    return {name: value[:_VALUE_CHARACTERS_MAX] for name, value in labels.items() if value}


def _iso(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")
