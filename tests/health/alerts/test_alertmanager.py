"""The alerts that an Alertmanager gets, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headwater.health.alerts.alertmanager import alertmanager_body, with_ends
from headwater.health.alerts.grouping import alerts_of
from headwater.health.alerts.models import Alert, Status
from headwater.health.alerts.texts import alert_text
from headwater.health.findings.models import Finding, Tier
from tests.health.alerts.alert_samples import URL
from tests.health.alerts.finding_builders import NOON, finding, minutes


def alert_of(*findings: Finding) -> Alert:
    [found] = alerts_of(findings, minutes(30))
    return found


def posted(alert: Alert, url: str = "", before: Any = ()) -> list[dict[str, Any]]:
    return alertmanager_body(alert, alert_text(alert, public_url=url), url, minutes(30), before)


ROOT = finding(tier=Tier.P1, owners=("etl",))
LATE = finding("stale-dataset", "dataset:db:mart", began=5, root=ROOT.id)


def test_one_alert_for_each_finding_and_one_group() -> None:
    root, late = posted(alert_of(ROOT, LATE), URL)
    assert root["labels"] == {
        "alertname": "failed-run",
        "rule": "failed-run",
        "tier": "P1",
        "severity": "critical",
        "job": "orders",
        "namespace": "etl",
        "owner": "etl",
        "finding": ROOT.id,
        "root": ROOT.id,
        "cause": "true",
    }
    # The name of the alert is the rule of the root; its owners count for all.
    assert late["labels"] == {
        "alertname": "failed-run",
        "rule": "stale-dataset",
        "tier": "P1",
        "severity": "critical",
        "dataset": "mart",
        "namespace": "db",
        "owner": "etl",
        "finding": LATE.id,
        "root": ROOT.id,
        "cause": "false",
    }


def test_annotations_and_times() -> None:
    _, late = posted(alert_of(ROOT, LATE), URL)
    assert late["startsAt"] == "2026-03-02T12:05:00Z"
    assert "endsAt" not in late
    assert late["generatorURL"] == f"{URL}/lineage?urn=dataset%3Adb%3Amart"
    annotations = late["annotations"]
    assert annotations["summary"] == "orders failed. Affected: nobody known"
    assert annotations["finding"] == "mart has no new version, though one was due"
    assert annotations["runbook_url"] == f"{URL}/runbooks/stale-dataset"
    assert annotations["owners"] == "etl"
    assert annotations["link"] == f"{URL}/datasets/dataset%3Adb%3Amart"


@pytest.mark.parametrize(
    ("tier", "severity"), [(Tier.P1, "critical"), (Tier.P2, "warning"), (Tier.P3, "info")]
)
def test_the_severity_follows_the_tier(tier: Tier, severity: str) -> None:
    [found] = posted(alert_of(finding(tier=tier)))
    assert (found["labels"]["tier"], found["labels"]["severity"]) == (str(tier), severity)


def test_an_empty_or_a_long_label_is_not_sent() -> None:
    [found] = posted(alert_of(finding("clock-skew", "producer:" + "x" * 1_500)))
    labels = found["labels"]
    assert len(labels["producer"]) == 1_000
    assert not {"namespace", "owner"} & labels.keys()
    # Without an address of the page there are no links to it.
    assert "generatorURL" not in found
    assert "link" not in found["annotations"]


def test_what_no_longer_fires_is_ended_with_its_old_labels() -> None:
    first = posted(alert_of(ROOT, LATE))
    over = replace(LATE, episode=replace(LATE.episode, resolved_at=minutes(20)))
    root, ended = posted(alert_of(ROOT, over), before=first)
    assert (root["labels"], root["startsAt"]) == (first[0]["labels"], first[0]["startsAt"])
    assert "endsAt" not in root
    assert ended == {**first[1], "endsAt": "2026-03-02T12:30:00Z"}
    # It was ended, so the next message leaves it out.
    assert posted(alert_of(ROOT, over), before=[root, ended]) == [root]


def test_a_changed_label_ends_the_old_alert() -> None:
    first = posted(alert_of(ROOT))
    lower = alert_of(replace(ROOT, tier=Tier.P2))
    firing, ended = posted(lower, before=first)
    assert (firing["labels"]["tier"], ended["labels"]["tier"]) == ("P2", "P1")
    assert "endsAt" not in firing
    assert "endsAt" in ended


@pytest.mark.parametrize("status", [Status.WAITING, Status.RESOLVED])
def test_an_alert_that_does_not_fire_posts_only_ends(status: Status) -> None:
    first = posted(alert_of(ROOT, LATE))
    quiet = replace(alert_of(ROOT, LATE), status=status)
    assert posted(quiet) == []
    assert [one["endsAt"] for one in posted(quiet, before=first)] == ["2026-03-02T12:30:00Z"] * 2


def test_firing_alerts_end_by_themselves_and_ends_stay() -> None:
    firing: dict[str, Any] = {"labels": {"rule": "a"}}
    ended = {"labels": {"rule": "b"}, "endsAt": "2026-03-02T11:00:00Z"}
    assert [one["endsAt"] for one in with_ends([firing, ended], NOON)] == [
        "2026-03-02T12:15:00Z",
        "2026-03-02T11:00:00Z",
    ]
