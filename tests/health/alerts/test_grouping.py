"""Alerts of findings: one for each root cause, without transients and flapping."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.health.alerts.grouping import CONSUMERS_MAX, alerts_of
from headwater.health.alerts.headlines import HEADLINES
from headwater.health.alerts.models import Alert, Status
from headwater.health.findings.models import Affected, Finding, Tier
from headwater.health.findings.rules import RULES
from tests.health.alerts.finding_builders import consumer, finding, minutes


def only(findings: list[Finding], at: float) -> Alert:
    (alert,) = alerts_of(findings, minutes(at))
    return alert


def test_findings_with_one_root_are_one_alert() -> None:
    root = finding(tier=Tier.P2, owners=("etl",))
    stale = finding(
        "stale-dataset",
        "dataset:db:mart",
        began=10,
        root=root.id,
        tier=Tier.P1,
        owners=("marts", "etl"),
    )
    other = finding("row-count", "dataset:db:other")
    first, second = alerts_of([stale, other, root], minutes(30))
    assert (first.dedup_key, first.tier, first.findings) == (root.id, Tier.P1, (root, stale))
    assert (first.owners, first.since) == (("etl", "marts"), minutes(0))
    assert (second.dedup_key, second.tier) == (other.id, Tier.P2)


def test_an_alert_fires_after_the_wait_of_its_rule() -> None:
    # failed-run waits for 60 s.
    assert only([finding()], 0.99).status is Status.WAITING
    assert only([finding()], 1).status is Status.FIRING


def test_an_alert_stays_firing_while_a_finding_is_open() -> None:
    root = finding(ended=20)
    consequence = finding("stale-dataset", "dataset:db:mart", began=19, root=root.id)
    # stale-dataset waits for 300 s, but the group has already lasted.
    assert only([root, consequence], 21).status is Status.FIRING


def test_an_alert_is_resolved_when_all_of_its_findings_are() -> None:
    root = finding(ended=20, tier=Tier.P2)
    consequence = finding(
        "stale-dataset", "dataset:db:mart", began=5, ended=40, root=root.id, tier=Tier.P1
    )
    alert = only([root, consequence], 41)
    assert (alert.status, alert.resolved_at) == (Status.RESOLVED, minutes(40))
    assert alert.tier is Tier.P1


def test_the_tier_is_that_of_the_open_findings() -> None:
    root = finding(ended=20, tier=Tier.P1)
    consequence = finding("stale-dataset", "dataset:db:mart", root=root.id, tier=Tier.P3)
    assert only([root, consequence], 21).tier is Tier.P3


def test_a_missing_root_leaves_its_key() -> None:
    alert = only([finding("stale-dataset", "dataset:db:mart", root="finding:gone")], 30)
    assert alert.dedup_key == "finding:gone"
    assert alert.title.startswith("mart has no new version")


def test_findings_of_the_future_wait() -> None:
    assert alerts_of([finding(began=5)], minutes(4)) == []


def test_a_problem_that_returns_within_ten_minutes_waits() -> None:
    before = finding(key="1", began=0, ended=5)
    again = finding(key="2", began=8)
    statuses = {
        at: alert.status
        for at in (12, 14.9, 15)
        for alert in alerts_of([before, again], minutes(at))
        if alert.dedup_key == again.id
    }
    # The first ended at 5, so the second is quiet until 15 and fires if it is still open then.
    assert statuses == {12: Status.WAITING, 14.9: Status.WAITING, 15: Status.FIRING}


def test_a_transient_does_not_silence_the_next_failure() -> None:
    # Nobody was alerted to the first: it ended within its wait.
    before = finding(key="1", began=0, ended=0.5)
    again = finding(key="2", began=3)
    (alert,) = (one for one in alerts_of([before, again], minutes(4)) if one.dedup_key == again.id)
    assert alert.status is Status.FIRING


def test_a_problem_that_returns_later_fires_at_once() -> None:
    before = finding(key="1", began=0, ended=5)
    again = finding(key="2", began=15.1)
    (alert,) = (
        one for one in alerts_of([before, again], minutes(16.1)) if one.dedup_key == again.id
    )
    assert alert.status is Status.FIRING


def test_consumers_are_ordered_by_tier_then_urgency() -> None:
    table = consumer("dataset:db:a")
    golden = consumer("dataset:db:z", is_critical=True)
    report = consumer("answer:report")
    board = consumer("answer:board")
    urgent = finding(
        tier=Tier.P1,
        affected=Affected(answers=1, datasets=2, critical=1, consumers=(report, golden, table)),
    )
    lesser = finding(
        "stale-dataset",
        "dataset:db:mart",
        root=urgent.id,
        affected=Affected(answers=2, consumers=(board, report)),
    )
    alert = only([urgent, lesser], 30)
    assert alert.consumers == (report, golden, table, board)
    assert (alert.reach.answers, alert.reach.datasets, alert.reach.critical) == (2, 2, 1)


def test_at_most_twenty_consumers_are_named() -> None:
    named = tuple(consumer(f"dataset:db:{number:02}") for number in range(20))
    affected = Affected(datasets=133, jobs=7, consumers=named)
    alert = only([finding(affected=affected)], 30)
    assert len(alert.consumers) == CONSUMERS_MAX
    assert alert.more_consumers == 120


@pytest.mark.parametrize(
    ("affected", "title"),
    [
        (Affected(), "orders failed. Affected: nobody known"),
        (Affected(answers=1), "orders failed. Affected: 1 answer"),
        (
            Affected(answers=2, datasets=1, jobs=3, critical=1),
            "orders failed. Affected: 2 answers, 1 dataset and 3 jobs (1 critical)",
        ),
        (
            Affected(datasets=2000, truncated=True),
            "orders failed. Affected: at least 2,000 datasets",
        ),
    ],
)
def test_the_title_says_what_where_and_who(affected: Affected, title: str) -> None:
    assert only([finding(affected=affected)], 30).title == title


def test_a_long_name_is_cut_at_its_beginning() -> None:
    subject = "dataset:db:" + "a" * 300 + "/orders"
    title = only([finding("row-count", subject)], 30).title
    assert title.startswith("…aaa")
    assert "/orders has an unusual number of rows" in title
    assert len(title) < 200


def test_a_producer_has_a_readable_name() -> None:
    alert = only([finding("clock-skew", "producer:https%3A//github.com/etl")], 30)
    assert alert.title.startswith("https://github.com/etl sends times that are wrong.")


def test_every_rule_has_a_headline() -> None:
    assert HEADLINES.keys() == RULES.keys()
    assert all("{name}" in text for text in HEADLINES.values())


_SUBJECTS = ("job:etl:a", "job:etl:b", "dataset:db:c")
_RULES = ("failed-run", "missing-run", "stale-dataset", "row-count")


@st.composite
def histories(draw: st.DrawFn) -> list[Finding]:
    """Return findings with causes among them, some resolved."""
    found: dict[str, Finding] = {}
    for number in range(draw(st.integers(0, 8))):
        began = draw(st.integers(0, 60))
        lasted = draw(st.none() | st.integers(0, 30))
        roots = sorted(one.root for one in found.values())
        one = finding(
            draw(st.sampled_from(_RULES)),
            draw(st.sampled_from(_SUBJECTS)),
            key=str(number),
            began=began,
            ended=None if lasted is None else began + lasted,
            tier=draw(st.sampled_from(Tier)),
            root=draw(st.none() | st.sampled_from(roots)) if roots else None,
            owners=tuple(draw(st.lists(st.sampled_from("xyz"), max_size=2, unique=True))),
        )
        found[one.id] = one
    return list(found.values())


@given(histories(), st.integers(0, 120), st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(
    findings: list[Finding], at: int, shuffler: random.Random
) -> None:
    shuffled = findings + findings[: len(findings) // 2]
    shuffler.shuffle(shuffled)
    assert alerts_of(shuffled, minutes(at)) == alerts_of(findings, minutes(at))


@given(histories(), st.integers(0, 120))
def test_each_finding_is_in_the_alert_of_its_root(findings: list[Finding], at: int) -> None:
    alerts = alerts_of(findings, minutes(at))
    begun = {one.id: one.root for one in findings if one.episode.first_seen <= minutes(at)}
    assert {one.id: alert.dedup_key for alert in alerts for one in alert.findings} == begun
    assert sum(len(alert.findings) for alert in alerts) == len(begun)


@given(histories(), st.integers(0, 120))
def test_an_open_group_is_resolved_never_and_fires_in_the_end(
    findings: list[Finding], at: int
) -> None:
    for alert in alerts_of(findings, minutes(at)):
        has_open = any(one.is_open for one in alert.findings)
        assert (alert.status is Status.RESOLVED) is not has_open
    later = minutes(at) + timedelta(days=1)
    assert all(alert.status is not Status.WAITING for alert in alerts_of(findings, later))


@given(histories(), st.integers(0, 60), st.integers(0, 60))
def test_an_open_alert_never_returns_to_waiting(
    findings: list[Finding], at: int, more: int
) -> None:
    firing = {
        alert.dedup_key
        for alert in alerts_of(findings, minutes(at + 60))
        if alert.status is Status.FIRING
    }
    later = {
        alert.dedup_key: alert.status for alert in alerts_of(findings, minutes(at + 60 + more))
    }
    assert all(later[key] is Status.FIRING for key in firing)
