"""What people read: worked out by hand, and to be understood in ten seconds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headwater.health.alerts.grouping import alerts_of
from headwater.health.alerts.texts import alert_text, markdown, plain
from headwater.health.findings.models import Tier
from tests.health.alerts.alert_samples import FACTS, URL, alert
from tests.health.alerts.finding_builders import finding, minutes


def test_a_firing_alert_in_plain_words() -> None:
    assert plain(alert_text(alert(), FACTS, URL)).splitlines() == [
        "P1: orders failed. Affected: 1 answer and 24 datasets (1 critical)",
        "Since: 2026-03-02 12:00 UTC. Act now.",
        "Affected: answer daily-revenue, critical dataset mart and 23 more",
        "Owners: etl, finance",
        "Evidence: error disk full; failures 3",
        "It led to: mart has no new version, though one was due",
        "Likely cause: the run before changed its code",
        "Recent violations: raw failed a check of its data",
        "Data upstream: raw is from 2026-03-02 10:30 UTC",
        "Last success: orders at 2026-03-02 11:00 UTC",
        "Run again: orders, then mart and kpi",
        f"What to do: {URL}/runbooks/failed-run",
        f"Page: {URL}/jobs/job%3Aetl%3Aorders",
        f"Lineage: {URL}/lineage?urn=job%3Aetl%3Aorders",
    ]


@pytest.mark.parametrize(
    ("evidence", "line"),
    [
        (
            {"checks": [{"check": "not_null", "column": "id", "run": "run:1"}], "count": 1},
            "checks not_null of id",
        ),
        (
            {"columns": [{"column": "mail", "before": "string", "after": None}], "unusedLost": 0},
            "columns mail (before string, gone)",
        ),
        (
            {"counts": [{"measure": "row count", "column": "", "mean": 1000.0, "value": 10.0}]},
            "counts row count (mean 1,000, value 10)",
        ),
        (
            {"appeared": ["dataset:db:c_2024"], "vanished": ["dataset:db:c_2023"], "before": 4},
            "appeared c_2024; vanished c_2023; before 4",
        ),
        (
            {"inputs": [f"dataset:db:t{number}" for number in range(5)]},
            "inputs t0, t1, t2 and 2 more",
        ),
        ({"outputs": ["dataset:db:t"], "consumers": ["job:a:b"], "failures": 2}, "failures 2"),
        ({"readers": [{"job": "job:a:b"}], "count": 1}, None),
    ],
)
def test_the_evidence_names_what_is_wrong(evidence: dict[str, object], line: str | None) -> None:
    root = finding(tier=Tier.P2)
    root = replace(root, episode=replace(root.episode, evidence=evidence))
    [found] = alerts_of([root], minutes(30))
    lines = dict(alert_text(found).lines)
    assert lines.get("Evidence") == line


def test_a_resolved_alert_in_plain_words() -> None:
    assert plain(alert_text(alert(ended=20))).splitlines() == [
        "Resolved: orders failed. Affected: 1 answer and 24 datasets (1 critical)",
        "Lasted: 2026-03-02 12:00 UTC to 2026-03-02 12:20 UTC",
        "Ended by: run:later",
    ]


def test_an_alert_whose_cause_became_known() -> None:
    merged = replace(alert(ended=20), merged_into="finding:other")
    lines = plain(alert_text(merged)).splitlines()
    assert lines[1:] == ["Why: its cause is known by now; the alert of the cause goes on"]


def test_markdown_has_no_marks_of_the_data() -> None:
    strange = finding("row-count", "dataset:db:*a_b*", owners=("[x](http://evil)",))
    [found] = alerts_of([strange], minutes(30))
    assert markdown(alert_text(found)).splitlines()[:5] == [
        "**P2: \\*a\\_b\\* has an unusual number of rows. Affected: nobody known**",
        "",
        "- **Since**: 2026-03-02 12:00 UTC. Act today.",
        "- **Owners**: \\[x\\](http://evil)",
    ]
