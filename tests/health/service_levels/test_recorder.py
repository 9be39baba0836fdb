"""The recorder: the growth of counters by hand, and what it writes to a real Neo4j."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client import Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import CollectorRegistry

from headwater.cypher.driver.database import Database
from headwater.health.service_levels.recorder import Reading, Recorder, Storage
from headwater.health.service_levels.samples import Counts, delete_old_samples, read_samples
from headwater.lineage.view import GraphView
from tests.canonical import canonical, empty

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def text(*, within: int, late: int, answered: int, failed: int, received: int = 0) -> str:
    """Return metrics: events within 0.05 s and after 60 s, questions, and received events."""
    bounds = ("0.05", "0.1", "0.25", "0.5", "1.0", "2.0", "5.0", "10.0", "30.0", "60.0")
    buckets = [f'headwater_ingest_lag_seconds_bucket{{le="{le}"}} {within}' for le in bounds]
    buckets += [
        f'headwater_ingest_lag_seconds_bucket{{le="{le}"}} {within + late}'
        for le in ("300.0", "1800.0", "7200.0", "+Inf")
    ]
    lines = [
        "# TYPE headwater_ingest_lag_seconds histogram",
        *buckets,
        "# TYPE headwater_questions counter",
        f'headwater_questions_total{{outcome="answered"}} {answered}',
        f'headwater_questions_total{{outcome="failed"}} {failed}',
        'headwater_questions_total{outcome="refused"} 7',
        "# TYPE headwater_events_received counter",
        f"headwater_events_received_total {received}",
    ]
    return "\n".join([*lines, ""])


def families(content: str) -> list[Metric]:
    return list(text_string_to_metric_families(content))


def test_a_reading_and_its_growth() -> None:
    first = Reading.of(families(text(within=90, late=5, answered=40, failed=1)))
    assert first.counts() == {"M5": Counts(90, 95), "M9": Counts(40, 41)}
    second = Reading.of(families(text(within=100, late=6, answered=50, failed=1)))
    assert second.since(first).counts() == {"M5": Counts(10, 11), "M9": Counts(10, 10)}
    # The processes restarted, and their counters began again.
    third = Reading.of(families(text(within=3, late=0, answered=2, failed=2)))
    assert third.since(second).counts() == {"M5": Counts(3, 3), "M9": Counts(2, 3)}


def test_the_cost_of_a_million_events(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "store").write_bytes(b"x" * 3_000)
    (tmp_path / "spool.db").write_bytes(b"x" * 1_000)
    storage = Storage((tmp_path / "spool.db", tmp_path / "data", tmp_path / "none"), 0.5, 1.0)
    assert storage.bytes() == 4_000
    # 4 kB for two events are 2 GB for a million, at a half each.
    assert storage.cost_per_million(2) == pytest.approx(1.0)
    assert storage.cost_per_million(0) is None


@pytest.mark.neo4j
def test_samples_of_an_hour_and_the_next(view: GraphView, tmp_path: Path) -> None:
    empty(view.database)
    delete_old_samples(view.database, NOON + timedelta(days=1_000))
    (tmp_path / "spool.db").write_bytes(b"x" * 1_000)
    contents = [
        text(within=100, late=0, answered=10, failed=0, received=10),
        text(within=110, late=0, answered=19, failed=1, received=10),
        text(within=110, late=2, answered=19, failed=1, received=10),
        text(within=115, late=2, answered=29, failed=1, received=10),
    ]
    times = [NOON, NOON + timedelta(minutes=2), NOON + timedelta(minutes=11)]
    times.append(NOON + timedelta(minutes=61))
    readings = iter(map(families, contents))
    storage = Storage((tmp_path / "spool.db",), 1.0, 2.0)
    recorder = Recorder(view, lambda: next(readings), storage)
    before = canonical(view.database)
    for at in times:
        recorder.record(at)
    assert canonical(view.database) == before
    first, second = read_samples(view, "M5", NOON)
    assert (first.hour, first.counts, second.counts) == (NOON, Counts(10, 12), Counts(5, 5))
    assert first.slots[:3] == (Counts(10, 10), Counts(), Counts(0, 2))
    assert (first.buckets[0], first.buckets[10]) == (10.0, 2.0)
    assert [one.counts for one in read_samples(view, "M9", NOON)] == [Counts(9, 10), Counts(10, 10)]
    # 1 kB for ten events is 0.1 GB for a million.
    cost = read_samples(view, "M10", NOON)[-1]
    assert cost.value == pytest.approx(0.1)
    assert cost.target == 2.0


@pytest.mark.neo4j
def test_the_gauges_and_the_samples_of_an_evaluation(database: Database, view: GraphView) -> None:
    empty(database)
    delete_old_samples(database, NOON + timedelta(days=1_000))
    recorder = Recorder(view, list, Storage((), 1.0, 1.0))
    recorder.evaluate(NOON)
    # An empty graph has no findings in 30 days; nothing else was measured.
    assert [one.value for one in read_samples(view, "M7", NOON)] == [0.0]
    assert read_samples(view, "M2", NOON) == []
    registry = CollectorRegistry()
    registry.register(recorder)
    exposed = generate_latest(registry).decode().splitlines()
    assert 'headwater_service_level_met{id="M7"} 1.0' in exposed
    assert 'headwater_service_level_target{id="M5"} 60.0' in exposed
    assert not any(line.startswith('headwater_service_level_value{id="M5"}') for line in exposed)
