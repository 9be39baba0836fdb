"""The findings in an evidence pack: those of the subject and of everything upstream of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from headwater.cypher.driver.database import Row
from headwater.evidence.digest import Data
from headwater.health.findings.listing import findings_of
from headwater.health.findings.models import Finding
from headwater.lineage.nodes import read_nodes
from headwater.lineage.view import GraphView
from headwater.schema.urns import dataset_urn, job_urn, parse_urn

_WITH_FINDINGS = ("dataset", "job", "answer")


def list_findings(view: GraphView, urn: str, upstream: Iterable[str]) -> list[Data]:
    """Return the findings of a node and of the nodes upstream, by node and time.

    The findings of a run are those of its job, those of a version those of its dataset. At most 20
    of a node, open ones first.
    """
    urns = {urn, *upstream}
    rows = read_nodes(view, sorted(urns))
    subjects = {*_subjects(urns, rows)}
    found: list[Finding] = []
    for some in findings_of(view, sorted(subjects)).values():
        found += some
    entries = map(_entry, found)
    return sorted(entries, key=lambda entry: (entry["urn"], entry["firstSeen"], entry["id"]))


def _subjects(urns: Iterable[str], rows: Mapping[str, Row]) -> Iterator[str]:
    """Yield the datasets, jobs and answers that nodes are, or belong to."""
    for urn in urns:
        kind, parts = parse_urn(urn)
        row = rows.get(urn, {})
        if kind in _WITH_FINDINGS:
            yield urn
        elif kind == "run" and row.get("namespace") and row.get("pipelineName"):
            yield job_urn(row["namespace"], row["pipelineName"])
        elif row.get("dataset"):
            yield row["dataset"]
        elif kind == "column" and parts:
            yield dataset_urn(*parts[:2])


def _entry(finding: Finding) -> Data:
    episode = finding.episode
    return {
        "id": finding.id,
        "urn": episode.subject,
        "rule": episode.rule,
        "tier": str(finding.tier),
        "firstSeen": episode.first_seen,
        "lastSeen": episode.last_seen,
        "resolvedAt": episode.resolved_at,
        "resolvedBy": episode.resolved_by,
        "root": finding.root,
        "evidence": dict(episode.evidence),
    }
