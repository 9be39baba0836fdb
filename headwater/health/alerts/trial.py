"""A marked test alert, which shows that a receiver can be reached."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from headwater.health.alerts.bodies import body_of
from headwater.health.alerts.facts import NO_FACTS
from headwater.health.alerts.models import Alert, Reach, Status
from headwater.health.alerts.receivers import Receiver
from headwater.health.alerts.senders import Attempt, idempotency_key, send
from headwater.health.findings.models import Episode, Finding, Tier
from headwater.schema.urns import job_urn

TITLE = "Test of Headwater's alerts. Nothing is wrong, nothing is to be done"


def send_trial(receiver: Receiver, public_url: str = "") -> Attempt:
    """Send an alert that fires, and the message that it is resolved."""
    key = uuid.uuid4().hex
    before: str | None = None
    attempt = Attempt(False, "nothing was sent")
    for status in (Status.FIRING, Status.RESOLVED):
        instant = datetime.now(UTC)
        alert = trial_alert(key, status, instant)
        before = body_of(
            receiver.kind,
            alert,
            NO_FACTS,
            public_url=public_url,
            instant=instant,
            before=before,
        )
        attempt = send(receiver, before, idempotency_key(f"{key} {status}"))
        if not attempt.is_delivered:
            break
    return attempt


def trial_alert(key: str, status: Status, instant: datetime) -> Alert:
    """Return a test alert of the lowest tier about a job that does not exist."""
    is_over = status is Status.RESOLVED
    episode = Episode(
        "failed-run",
        job_urn("headwater", "test"),
        key,
        first_seen=instant - timedelta(minutes=1),
        last_seen=instant,
        resolved_at=instant if is_over else None,
        resolved_by="the end of the test" if is_over else None,
    )
    finding = Finding(episode, Tier.P3, episode.id)
    return Alert(
        dedup_key=finding.id,
        status=status,
        tier=Tier.P3,
        title=TITLE,
        findings=(finding,),
        consumers=(),
        more_consumers=0,
        reach=Reach(),
        owners=(),
        since=episode.first_seen,
        resolved_at=episode.resolved_at,
    )
