"""The snapshot of the day, kept recent by the API."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from headwater.errors import UnavailableError
from headwater.health.figures import daily
from headwater.health.figures.daily import keep_recent, run_daily_snapshots
from headwater.health.figures.snapshots import history
from headwater.lineage.view import GraphView
from tests.health.figures.story import NOW


@pytest.mark.neo4j
def test_a_snapshot_is_taken_again_after_some_hours_and_on_the_next_day(story: GraphView) -> None:
    morning = NOW + timedelta(hours=1)
    assert keep_recent(story, morning)
    assert not keep_recent(story, morning + timedelta(hours=5))
    assert keep_recent(story, morning + timedelta(hours=7))
    next_day = NOW + timedelta(days=1, minutes=1)
    assert keep_recent(story, next_day)
    [first, second] = history(story, ["coverage"], days=2, now=next_day)["coverage"]
    assert (first.taken_at, second.taken_at) == (morning + timedelta(hours=7), next_day)


def test_an_unavailable_graph_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()
    tries = []

    def fail(_: GraphView) -> bool:
        tries.append(1)
        if len(tries) == 2:
            stop.set()
        raise UnavailableError("Neo4j does not answer")

    monkeypatch.setattr(daily, "START_SECONDS", 0.0)
    monkeypatch.setattr(daily, "CHECK_SECONDS", 0.0)
    monkeypatch.setattr(daily, "keep_recent", fail)
    run_daily_snapshots(None, stop)  # type: ignore[arg-type]
    assert len(tries) == 2
