"""The bodies of messages to each kind of receiver."""

from __future__ import annotations

import json

import pytest

from headwater.health.alerts.bodies import body_of, pagerduty_key
from headwater.health.alerts.facts import NO_FACTS
from headwater.health.alerts.grouping import alerts_of
from headwater.health.alerts.receivers import Kind
from tests.health.alerts.alert_samples import FACTS, URL, alert
from tests.health.alerts.finding_builders import finding, minutes


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


@pytest.mark.parametrize("kind", list(Kind))
def test_the_same_arguments_give_the_same_text(kind: Kind) -> None:
    first, second = (body_of(kind, alert(), FACTS, instant=minutes(31)) for _ in range(2))
    assert first == second
    assert "\n" not in first


def test_a_webhook_has_the_fields_and_the_text_for_people() -> None:
    found = body(Kind.WEBHOOK)
    assert isinstance(found, dict)
    assert found["dedupKey"] == alert().dedup_key
    assert found["text"].splitlines()[0] == (
        "P1: orders failed. Affected: 1 answer and 24 datasets (1 critical)"
    )


def test_apprise_has_a_title_and_markdown() -> None:
    found = body(Kind.APPRISE)
    assert isinstance(found, dict)
    assert found["title"] == "P1: orders failed. Affected: 1 answer and 24 datasets (1 critical)"
    assert found["body"].splitlines()[2] == "- **Since**: 2026-03-02 12:00 UTC. Act now."


def test_alertmanager_ends_what_the_message_before_had() -> None:
    before = body_of(Kind.ALERTMANAGER, alert(), NO_FACTS, instant=minutes(31))
    done = body(Kind.ALERTMANAGER, ended=20, before=before)
    assert isinstance(done, list)
    assert [one["endsAt"] for one in done] == ["2026-03-02T12:31:00Z"] * 2
    assert body(Kind.ALERTMANAGER, ended=20) == []


def test_slack_gets_no_more_than_it_takes() -> None:
    [found] = alerts_of([finding("row-count", f"dataset:db:{'x' * 500}")], minutes(30))
    message = json.loads(body_of(Kind.SLACK, found, NO_FACTS, instant=minutes(31)))
    header, section = message["blocks"]
    assert len(header["text"]["text"]) == 150
    assert header["text"]["text"].endswith("…")
    assert len(section["text"]["text"]) <= 2_900
