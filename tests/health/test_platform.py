"""The state of the platform, from metrics worked out by hand and from a real spool."""

from __future__ import annotations

import math
from contextlib import closing
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from headwater.cypher.driver.database import Database
from headwater.health.platform import Latency, PlatformReader, platform_state, quantile
from headwater.ingest.spool.spool import Spool
from headwater.lineage.view import GraphView

METRICS = """\
# TYPE headwater_events_received_total counter
headwater_events_received_total 10.0
# TYPE headwater_events_folded_total counter
headwater_events_folded_total 6.0
# TYPE headwater_events_dead_total counter
headwater_events_dead_total 1.0
# TYPE headwater_events_refused_total counter
headwater_events_refused_total 2.0
# TYPE headwater_events_refused_created gauge
headwater_events_refused_created 1700000000.0
# TYPE headwater_spool_depth gauge
headwater_spool_depth 3.0
# TYPE headwater_spool_oldest_seconds gauge
headwater_spool_oldest_seconds 1.5
# TYPE headwater_neo4j_up gauge
headwater_neo4j_up 1.0
# TYPE headwater_findings_lag_seconds gauge
headwater_findings_lag_seconds 2.5
# TYPE headwater_findings_open gauge
headwater_findings_open{rule="failed-run",tier="P1"} 1.0
headwater_findings_open{rule="failed-run",tier="P2"} 3.0
# TYPE headwater_ingest_lag_seconds histogram
headwater_ingest_lag_seconds_bucket{le="1.0"} 2.0
headwater_ingest_lag_seconds_bucket{le="2.0"} 4.0
headwater_ingest_lag_seconds_bucket{le="+Inf"} 4.0
headwater_ingest_lag_seconds_count 4.0
headwater_ingest_lag_seconds_sum 4.0
# TYPE headwater_request_seconds histogram
headwater_request_seconds_bucket{route="/a",status="200",le="1.0"} 1.0
headwater_request_seconds_bucket{route="/a",status="200",le="+Inf"} 1.0
headwater_request_seconds_bucket{route="/a",status="404",le="1.0"} 1.0
headwater_request_seconds_bucket{route="/a",status="404",le="+Inf"} 1.0
headwater_request_seconds_bucket{route="/b",status="200",le="1.0"} 0.0
headwater_request_seconds_bucket{route="/b",status="200",le="+Inf"} 3.0
"""


def test_a_quantile_lies_evenly_within_its_bucket() -> None:
    buckets = {1.0: 2.0, 2.0: 4.0, math.inf: 4.0}
    assert quantile(0.5, buckets) == 1.0
    assert quantile(0.75, buckets) == 1.5
    assert quantile(0.25, buckets) == 0.5
    assert quantile(1.0, buckets) == 2.0
    # Beyond the last bound, that bound stands for it.
    assert quantile(0.9, {1.0: 1.0, math.inf: 2.0}) == 1.0
    assert quantile(0.5, {1.0: 0.0, math.inf: 0.0}) is None
    assert quantile(0.5, {}) is None


def test_the_state_of_known_metrics() -> None:
    state = platform_state(text_string_to_metric_families(METRICS))
    assert (state.received, state.folded, state.dead, state.refused) == (10, 6, 1, 2)
    assert (state.waiting, state.oldest_waiting_seconds, state.is_neo4j_up) == (3, 1.5, True)
    assert state.lag == Latency("", 4, 1.0, pytest.approx(1.9))  # type: ignore[arg-type]
    assert (state.open_findings, state.findings_lag_seconds) == (4, 2.5)
    assert platform_state([]).findings_lag_seconds is None
    assert state.queries == []
    # The statuses of a route are one; three requests to /b took longer than the last bound.
    assert [(one.name, one.count, one.median) for one in state.requests] == [
        ("/b", 3, 1.0),
        ("/a", 2, 0.5),
    ]


def test_a_spool_without_neo4j(tmp_path: Path) -> None:
    with (
        closing(Spool(tmp_path / "spool.db")) as spool,
        closing(Database("bolt://127.0.0.1:1", "neo4j", "none")) as database,
    ):
        spool.append([b"1", b"2"], received=1)
        state = PlatformReader(GraphView(database), spool).read()
    assert (state.received, state.waiting, state.is_neo4j_up) == (2, 2, False)
    assert state.oldest_waiting_seconds > 0
