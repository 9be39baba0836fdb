"""One producer with a problem of every rule at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from headwater.health.findings.producers.detect import detect_producer
from headwater.health.findings.producers.history import (
    Growth,
    NewNames,
    ParentRuns,
    ProducerHistory,
)
from headwater.ingest.producer_days import DayCounts
from tests.health.findings.producers.daily_counts import GOOD, URN, counted, day

START = datetime(2026, 3, 2, tzinfo=UTC)
NOON = START + timedelta(days=3, hours=12)


def test_the_episodes_of_all_rules_by_rule_and_beginning() -> None:
    spike = NewNames(day(2), 80, START + timedelta(days=2), START + timedelta(days=2, hours=1))
    history = ProducerHistory(
        URN,
        "p",
        days=(
            (day(0), DayCounts(100, late=9)),
            (day(1), DayCounts(100, ahead=90)),
            (day(2), DayCounts(100, late=9)),
            (day(3), GOOD),
        ),
        growths=(Growth("dataset", "db", START - timedelta(days=30), (spike,)),),
        parents=(ParentRuns(day(1), 20, 5), ParentRuns(day(2), 20, 20)),
    )
    assert [(one.rule, one.key) for one in detect_producer(history, NOON)] == [
        ("cardinality", "dataset:db:2026-03-04"),
        ("clock-skew", "2026-03-03"),
        ("slow-hook", "2026-03-02"),
        ("slow-hook", "2026-03-04"),
        ("uncorrelated-ids", "2026-03-03"),
    ]


def test_only_the_end_of_a_spike_depends_on_the_instant() -> None:
    days = counted(DayCounts(100, ahead=90), GOOD)
    assert detect_producer(days, NOON) == detect_producer(days, NOON + timedelta(days=400))


def test_a_producer_without_problems_has_no_episode() -> None:
    assert detect_producer(counted(GOOD, GOOD), NOON) == []
    assert detect_producer(ProducerHistory(URN, "p"), NOON) == []
