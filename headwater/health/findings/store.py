"""Findings as nodes of the graph: their properties, and the difference to what is stored.

A pass writes only the findings that are new or changed, so a second pass over the same history
writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row, Transaction
from headwater.health.findings.models import Affected, Consumer, Episode, Finding, Tier

_ROWS_PER_QUERY_MAX = 1_000
_WRITTEN_BY_NEO4J = ("urn", "changedAt")
# What each finding has; empty lists and zeros are kept.
_ALWAYS_PRESENT = {
    "urn", "rule", "subject", "firstSeen", "lastSeen", "evidence", "tier", "root", "owners",
    "affectedDatasets", "affectedJobs", "affectedAnswers", "affectedCritical", "consumers",
    "consumerDetails",
}  # fmt: skip


@dataclass(frozen=True)
class Changes:
    """What a pass writes: rows of new and changed findings, and the urns of those to delete."""

    rows: list[Row] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Return how many findings change."""
        return len(self.rows) + len(self.deleted)


def finding_row(finding: Finding, namespaces: Iterable[str]) -> Row:
    """Return the node of a finding; `namespaces` decide who may see it: its subject and all that
    it discloses."""
    episode, affected = finding.episode, finding.affected
    details = [
        {"kind": one.kind, "owners": list(one.owners), "isCritical": one.is_critical}
        for one in affected.consumers
    ]
    properties = {
        **_episode_properties(episode),
        "tier": str(finding.tier),
        "isOpen": finding.is_open,
        "root": finding.root,
        "owners": list(finding.owners),
        "namespaces": sorted(set(namespaces)),
        "affectedDatasets": affected.datasets,
        "affectedJobs": affected.jobs,
        "affectedAnswers": affected.answers,
        "affectedCritical": affected.critical,
        "affectedTruncated": True if affected.truncated else None,
        "consumers": [one.urn for one in affected.consumers],
        "consumerDetails": _to_json(details),
    }
    return {"urn": finding.id, "properties": properties}


def episode_of(properties: Mapping[str, Any]) -> Episode:
    """Return the episode of a node."""
    subject, rule, urn = properties["subject"], properties["rule"], properties["urn"]
    return Episode(
        rule=rule,
        subject=subject,
        key=urn.removeprefix(f"finding:{rule}:{subject}@"),
        first_seen=properties["firstSeen"],
        last_seen=properties["lastSeen"],
        resolved_at=properties.get("resolvedAt"),
        resolved_by=properties.get("resolvedBy"),
        evidence=json.loads(properties["evidence"]),
    )


def has_episode(properties: Mapping[str, Any], episode: Episode) -> bool:
    """Return True if a node has exactly this episode."""
    return _episode_properties(episode_of(properties)) == _episode_properties(episode)


def is_whole(properties: Mapping[str, Any]) -> bool:
    """Return True unless a node was read in the middle of the commit that writes it: Neo4j shows a
    commit piece by piece."""
    if not properties.keys() >= _ALWAYS_PRESENT:
        return False
    return len(properties["consumers"]) == len(json.loads(properties["consumerDetails"]))


def finding_of(properties: Mapping[str, Any]) -> Finding:
    """Return the finding of a node."""
    details = json.loads(properties["consumerDetails"])
    consumers = [
        Consumer(consumer, one["kind"], tuple(one["owners"]), one["isCritical"])
        for consumer, one in zip(properties["consumers"], details, strict=True)
    ]
    return Finding(
        episode=episode_of(properties),
        tier=Tier(properties["tier"]),
        root=properties["root"],
        owners=tuple(properties["owners"]),
        affected=Affected(
            datasets=properties["affectedDatasets"],
            jobs=properties["affectedJobs"],
            answers=properties["affectedAnswers"],
            critical=properties["affectedCritical"],
            consumers=tuple(consumers),
            truncated=properties.get("affectedTruncated", False),
        ),
    )


def changes(stored: Mapping[str, Row], rows: Sequence[Row]) -> Changes:
    """Return what makes the stored findings equal to these rows.

    `stored` holds the properties by urn of every finding of the subjects that the rows are about.
    """
    derived = {row["urn"] for row in rows}
    return Changes(
        rows=[row for row in rows if _present(stored.get(row["urn"], {})) != _present(row)],
        deleted=sorted(stored.keys() - derived),
    )


def write_changes(transaction: Transaction, changed: Changes) -> None:
    """Write changes in the order of their urns, so that two writers cannot deadlock."""
    for urns in chunks(changed.deleted, _ROWS_PER_QUERY_MAX):
        transaction.run("write/findings/delete_findings", urns=urns)
    ordered = sorted(changed.rows, key=lambda row: str(row["urn"]))
    for rows in chunks(ordered, _ROWS_PER_QUERY_MAX):
        transaction.run("write/findings/findings", rows=rows)


def _episode_properties(episode: Episode) -> dict[str, Any]:
    return {
        "rule": episode.rule,
        "subject": episode.subject,
        "firstSeen": episode.first_seen,
        "lastSeen": episode.last_seen,
        "resolvedAt": episode.resolved_at,
        "resolvedBy": episode.resolved_by,
        "evidence": _to_json(episode.evidence),
    }


def _present(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties that a node keeps of a row, or has, in one form."""
    properties = row.get("properties", row)
    return {
        key: value
        for key, value in properties.items()
        if value is not None and key not in _WRITTEN_BY_NEO4J
    }


def _to_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
