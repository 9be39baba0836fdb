"""The identity of a finding, and when it is open."""

from __future__ import annotations

from dataclasses import replace

from headwater.health.findings.models import Tier
from tests.health.findings.builders import episode, finding


def test_the_id_names_the_rule_the_node_and_the_episode() -> None:
    one = episode("failed-run", "job:etl:load", key="run:1")
    assert one.id == "finding:failed-run:job:etl:load@run:1"
    assert finding(one).id == one.id
    assert finding(one).root == one.id


def test_later_evidence_does_not_change_the_id() -> None:
    early = episode("row-count", "dataset:db:orders", 0, key="artifact:1")
    late = episode("row-count", "dataset:db:orders", 5, 9, key="artifact:1", end=10, rows=7)
    assert early.id == late.id
    others = [replace(early, rule="mean"), replace(early, subject="dataset:db:x")]
    others.append(replace(early, key="artifact:2"))
    assert len({early.id, *(one.id for one in others)}) == 4


def test_a_finding_is_open_until_its_history_shows_the_end() -> None:
    assert finding(episode("failed-run", "job:etl:load")).is_open
    assert not finding(episode("failed-run", "job:etl:load", end=5)).is_open


def test_tiers_sort_by_urgency() -> None:
    assert sorted([Tier.P3, Tier.P1, Tier.P2]) == [Tier.P1, Tier.P2, Tier.P3]
    assert [str(one) for one in Tier] == ["P1", "P2", "P3"]
