"""What people read: worked out by hand, and to be understood in ten seconds."""

from __future__ import annotations

import json
from dataclasses import replace

from headwater.health.alerts.bodies import body_of, pagerduty_key
from headwater.health.alerts.facts import (
    NO_FACTS,
    AlertFacts,
    Cause,
    DatasetAge,
    LastSuccess,
    Replay,
    Violation,
)
from headwater.health.alerts.grouping import alerts_of
from headwater.health.alerts.models import Alert
from headwater.health.alerts.receivers import Kind
from headwater.health.alerts.texts import alert_text, markdown, plain
from headwater.health.findings.models import Affected, Tier
from tests.health.alerts.finding_builders import consumer, finding, minutes

URL = "https://headwater.example.com"
FACTS = AlertFacts(
    freshness=(DatasetAge("dataset:db:raw", minutes(-90), "dataset:file:in", minutes(-95)),),
    violations=(Violation("dataset:db:raw", "raw failed a check of its data", minutes(-60)),),
    last_successes=(LastSuccess("job:etl:orders", "run:1", minutes(-60)),),
    causes=(Cause("run:0", "the run before changed its code", minutes(-61)),),
    replay=Replay("run:2", (("job:etl:orders",), ("job:etl:mart", "job:etl:kpi")), 3, 1),
)


def alert(ended: float | None = None) -> Alert:
    affected = Affected(
        answers=1,
        datasets=24,
        critical=1,
        consumers=(
            consumer("answer:daily-revenue", "finance"),
            consumer("dataset:db:mart", is_critical=True),
        ),
    )
    root = finding(tier=Tier.P1, owners=("etl",), affected=affected, ended=ended)
    root = replace(
        root,
        episode=replace(
            root.episode, evidence={"run": "run:2", "error": "disk full", "failures": 3}
        ),
    )
    late = finding("stale-dataset", "dataset:db:mart", began=5, root=root.id, ended=ended)
    [found] = alerts_of([root, late], minutes(30))
    return found


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


def body(kind: Kind, ended: float | None = None, before: str | None = None) -> object:
    return json.loads(
        body_of(kind, alert(ended), NO_FACTS, public_url=URL, instant=minutes(31), before=before)
    )


def test_slack_has_a_header_the_lines_and_the_links() -> None:
    found = body(Kind.SLACK)
    assert isinstance(found, dict)
    header, section, links = found["blocks"]
    assert header["text"]["text"].startswith(":red_circle: P1: orders failed.")
    assert "*Owners*: etl, finance\n" in section["text"]["text"]
    assert f"<{URL}/runbooks/failed-run|What to do>" in links["elements"][0]["text"]
    done = body(Kind.SLACK, ended=20)
    assert isinstance(done, dict)
    assert done["text"].startswith("Resolved: orders failed.")


def test_slack_does_not_read_marks_of_the_data() -> None:
    [found] = alerts_of([finding("row-count", "dataset:db:<!channel>")], minutes(30))
    text = body_of(Kind.SLACK, found, NO_FACTS, instant=minutes(31))
    assert json.loads(text)["text"].startswith("P2: &lt;!channel&gt; has an unusual")


def test_pagerduty_triggers_and_resolves_one_incident() -> None:
    firing, done = body(Kind.PAGERDUTY), body(Kind.PAGERDUTY, ended=20)
    assert isinstance(firing, dict)
    assert isinstance(done, dict)
    assert (firing["event_action"], done["event_action"]) == ("trigger", "resolve")
    assert firing["dedup_key"] == done["dedup_key"] == alert().dedup_key
    assert firing["payload"]["severity"] == "critical"
    assert firing["payload"]["source"] == "etl"
    assert firing["client_url"] == f"{URL}/jobs/job%3Aetl%3Aorders"
    assert "routing_key" not in firing


def test_pagerduty_gets_a_hash_of_a_key_that_it_would_refuse() -> None:
    assert pagerduty_key("x" * 255) == "x" * 255
    assert len(pagerduty_key("x" * 256)) == 64
