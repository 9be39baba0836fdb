"""The test alert that shows that a receiver can be reached."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headwater.health.alerts.models import Status
from headwater.health.alerts.receivers import Kind, Receiver
from headwater.health.alerts.trial import TITLE, send_trial, trial_alert
from headwater.health.findings.models import Tier
from tests.health.alerts.finding_builders import NOON
from tests.health.alerts.http_receivers import http_receiver


def test_a_trial_is_marked_and_resolved() -> None:
    with http_receiver() as peer:
        attempt = send_trial(Receiver("hook", Kind.WEBHOOK, peer.url))
    assert attempt.is_delivered
    assert [one.body["status"] for one in peer.received] == ["firing", "resolved"]
    assert {one.body["title"] for one in peer.received} == {TITLE}
    assert len({one.body["dedupKey"] for one in peer.received}) == 1
    assert len(set(peer.keys)) == 2


@pytest.mark.parametrize("status", [Status.FIRING, Status.RESOLVED])
def test_a_trial_is_about_a_job_that_does_not_exist(status: Status) -> None:
    alert = trial_alert("abc", status, NOON)
    is_over = status is Status.RESOLVED
    assert alert.dedup_key == "finding:failed-run:job:headwater:test@abc"
    assert (alert.tier, alert.since) == (Tier.P3, NOON - timedelta(minutes=1))
    assert alert.head.is_open is not is_over
    assert alert.resolved_at == (NOON if is_over else None)


def test_a_trial_ends_with_the_first_refusal() -> None:
    with http_receiver() as peer:
        peer.answers.append((500, {}))
        attempt = send_trial(Receiver("hook", Kind.WEBHOOK, peer.url))
    assert (attempt.is_delivered, attempt.error) == (False, "the receiver answered 500")
    assert len(peer.received) == 1
