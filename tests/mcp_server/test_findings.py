"""The summary of findings for assistants."""

from __future__ import annotations

from datetime import UTC, datetime

from headwater.client.records import Finding, FindingImpact
from headwater.mcp_server.answers import Findings
from headwater.mcp_server.summaries import findings

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_findings_in_lines() -> None:
    one = Finding(
        id="finding:mean:dataset:db:a@1",
        rule="mean",
        title="The mean of a column moved",
        severity="P2",
        urn="dataset:db:a",
        first_seen=NOON,
        last_seen=NOON,
        root="finding:failed-run:job:etl:load@1",
        owners=("mia",),
        affected=FindingImpact(answers=1, datasets=2),
    )
    head, first, affected, cause, owners = findings(Findings((one,), more=True))
    assert head == "findings: 1, more exist"
    assert first.startswith("P2 mean dataset:db:a open since 2026-01-01")
    assert affected == "  affected: 1 answers, 2 datasets, 0 jobs, 0 critical"
    assert cause == "  caused by finding:failed-run:job:etl:load@1"
    assert owners == "  notify mia"
