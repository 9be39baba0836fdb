"""The root of an alert."""

from __future__ import annotations

from headwater.health.alerts.grouping import alerts_of
from headwater.health.alerts.models import Status
from tests.health.alerts.finding_builders import finding, minutes


def test_the_head_is_the_root_though_another_finding_began_before() -> None:
    root = finding(began=5)
    early = finding("stale-dataset", "dataset:db:mart", root=root.id)
    [alert] = alerts_of([early, root], minutes(30))
    assert alert.head == root
    assert alert.dedup_key == root.id


def test_without_the_root_the_head_is_the_first_open_finding() -> None:
    over = finding("row-count", "dataset:db:a", ended=20, root="finding:gone")
    still = finding("stale-dataset", "dataset:db:mart", began=5, root="finding:gone")
    [alert] = alerts_of([over, still], minutes(30))
    assert alert.head == still
    assert alert.dedup_key == "finding:gone"


def test_the_states_are_words_that_receivers_rely_on() -> None:
    assert [str(one) for one in Status] == ["waiting", "firing", "resolved"]
