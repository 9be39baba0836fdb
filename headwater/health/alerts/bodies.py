"""The body of a message for each kind of receiver, as it is saved with the delivery."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any

from headwater.health.alerts.alertmanager import SEVERITIES, alertmanager_body
from headwater.health.alerts.facts import AlertFacts
from headwater.health.alerts.headlines import subject_name
from headwater.health.alerts.models import Alert, Status
from headwater.health.alerts.payload import JsonObject, webhook_body
from headwater.health.alerts.receivers import Kind
from headwater.health.alerts.texts import AlertText, alert_text, markdown, plain

# The limits of Slack and PagerDuty.
_SLACK_TEXT_MAX, _SLACK_HEADER_MAX = 2_900, 150
_SUMMARY_MAX, _DEDUP_KEY_MAX = 1_024, 255
_MARKS = {"P1": ":red_circle:", "P2": ":large_orange_circle:", "P3": ":white_circle:"}


def body_of(
    kind: Kind,
    alert: Alert,
    facts: AlertFacts,
    *,
    public_url: str = "",
    instant: datetime,
    before: str | None = None,
) -> str:
    """Return the body of a message as JSON text; the same arguments give the same text.

    `before` is the body of the message before, if one was sent.
    """
    text = alert_text(alert, facts, public_url)
    body: Any
    if kind is Kind.SLACK:
        body = slack_body(alert, text)
    elif kind is Kind.PAGERDUTY:
        body = pagerduty_body(alert, text, webhook_body(alert, facts, public_url))
    elif kind is Kind.ALERTMANAGER:
        posted = json.loads(before) if before else ()
        body = alertmanager_body(alert, text, public_url, instant, posted)
    elif kind is Kind.APPRISE:
        body = {"title": text.title, "body": markdown(text)}
    else:
        body = {**webhook_body(alert, facts, public_url), "text": plain(text)}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def slack_body(alert: Alert, text: AlertText) -> JsonObject:
    """Return a message of Slack's incoming webhooks, in blocks."""
    mark = ":large_green_circle:"
    if alert.status is Status.FIRING:
        mark = _MARKS[alert.tier]
    lines = "\n".join(f"*{line.label}*: {_slack_text(line.text)}" for line in text.lines)
    links = " · ".join(f"<{url}|{name}>" for name, url in text.links.items())
    blocks: list[JsonObject] = [
        {
            "type": "header",
            "text": {"type": "plain_text", "text": _cut(f"{mark} {text.title}", _SLACK_HEADER_MAX)},
        },
        {"type": "section", "text": {"type": "mrkdwn", "text": _cut(lines, _SLACK_TEXT_MAX)}},
    ]
    if links:
        blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": links}]})
    return {"text": _slack_text(text.title), "blocks": blocks}


def pagerduty_body(alert: Alert, text: AlertText, details: JsonObject) -> JsonObject:
    """Return an event of PagerDuty's Events API v2, without its routing key."""
    subject = subject_name(alert.head.episode.subject)
    event: JsonObject = {
        "event_action": "resolve" if alert.status is Status.RESOLVED else "trigger",
        "dedup_key": pagerduty_key(alert.dedup_key),
        "client": "Headwater",
        "payload": {
            "summary": _cut(text.title, _SUMMARY_MAX),
            "source": subject.namespace or subject.name,
            "component": subject.name,
            "group": alert.owners[0] if alert.owners else "",
            "class": alert.head.episode.rule,
            "severity": SEVERITIES[alert.tier],
            "timestamp": alert.since.isoformat(),
            "custom_details": {"text": plain(text), **details},
        },
        "links": [{"href": url, "text": name} for name, url in text.links.items()],
    }
    if "Page" in text.links:
        event["client_url"] = text.links["Page"]
    return event


def pagerduty_key(dedup_key: str) -> str:
    """Return the key of an alert, or its hash if PagerDuty would refuse its length."""
    if len(dedup_key) <= _DEDUP_KEY_MAX:
        return dedup_key
    return hashlib.sha256(dedup_key.encode()).hexdigest()


def _slack_text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _cut(text: str, characters_max: int) -> str:
    return text if len(text) <= characters_max else f"{text[: characters_max - 1]}…"
