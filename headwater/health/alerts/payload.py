"""The body of a webhook: everything about an alert as JSON.

docs/how-to/alerts.md describes the fields. Names that clients rely on: dedupKey, tier, status,
title, findings, consumers, owners, links.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from headwater.health.alerts.facts import NO_FACTS, AlertFacts
from headwater.health.alerts.headlines import headline, short_name
from headwater.health.alerts.links import links_of
from headwater.health.alerts.models import Alert
from headwater.health.findings.models import Consumer, Finding

JsonObject = dict[str, Any]


def webhook_body(alert: Alert, facts: AlertFacts = NO_FACTS, public_url: str = "") -> JsonObject:
    """Return an alert as the JSON object that a webhook receives."""
    reach = alert.reach
    return {
        "dedupKey": alert.dedup_key,
        "tier": str(alert.tier),
        "status": str(alert.status),
        "title": alert.title,
        "since": _iso(alert.since),
        "resolvedAt": _iso(alert.resolved_at),
        "mergedInto": alert.merged_into or None,
        "findings": [_finding(one, alert, public_url) for one in alert.findings],
        "moreFindings": alert.more_findings,
        "consumers": [_consumer(one) for one in alert.consumers],
        "moreConsumers": alert.more_consumers,
        "affected": {
            "answers": reach.answers,
            "datasets": reach.datasets,
            "jobs": reach.jobs,
            "critical": reach.critical,
            "truncated": reach.truncated,
        },
        "owners": list(alert.owners),
        "freshness": [
            {
                "dataset": one.dataset,
                "newestAt": _iso(one.newest_at),
                "oldestSource": one.oldest_source,
                "oldestSourceAt": _iso(one.oldest_source_at),
            }
            for one in facts.freshness
        ],
        "violations": [
            {"node": one.node, "text": one.text, "at": _iso(one.at)} for one in facts.violations
        ],
        "lastSuccesses": [
            {"node": one.node, "run": one.run, "at": _iso(one.at)} for one in facts.last_successes
        ],
        "rootCauses": [
            {"node": one.node, "text": one.text, "at": _iso(one.at)} for one in facts.causes
        ],
        "replayPlan": _replay(facts),
        "traces": [
            {"traceId": one.trace_id, "run": one.run, "url": one.url} for one in facts.traces
        ],
        "links": links_of(alert.head, public_url),
    }


def _finding(finding: Finding, alert: Alert, public_url: str) -> JsonObject:
    episode = finding.episode
    return {
        "id": finding.id,
        "rule": episode.rule,
        "urn": episode.subject,
        "title": headline(episode.rule, episode.subject),
        "tier": str(finding.tier),
        "isCause": finding.id == alert.dedup_key,
        "firstSeen": _iso(episode.first_seen),
        "lastSeen": _iso(episode.last_seen),
        "resolvedAt": _iso(episode.resolved_at),
        "resolvedBy": episode.resolved_by,
        "evidence": episode.evidence,
        "owners": list(finding.owners),
        "links": links_of(finding, public_url),
    }


def _consumer(consumer: Consumer) -> JsonObject:
    return {
        "urn": consumer.urn,
        "kind": consumer.kind,
        "name": short_name(consumer.urn),
        "owners": list(consumer.owners),
        "isCritical": consumer.is_critical,
    }


def _replay(facts: AlertFacts) -> JsonObject | None:
    replay = facts.replay
    if replay is None:
        return None
    return {
        "run": replay.run,
        "runs": replay.runs,
        "steps": [list(step) for step in replay.steps],
        "answers": replay.answers,
    }


def _iso(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat().replace("+00:00", "Z")
