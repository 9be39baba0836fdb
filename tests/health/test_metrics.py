"""Metrics: the event counts add up, also while Neo4j is away."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from headwater.cypher.driver.database import Database
from headwater.health.metrics import (
    EventCounts,
    declare_redactions,
    exposition,
    observe_commit,
    observe_redaction,
    remove_ended_processes,
)
from headwater.ingest.receive.redact import Redactor
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import CommitReport
from headwater.lineage.view import GraphView


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(Spool(tmp_path / "spool.db")) as spool:
        yield spool


def samples(counts: EventCounts) -> dict[str, float]:
    return {sample.name: sample.value for metric in counts.collect() for sample in metric.samples}


def test_without_neo4j_every_received_event_waits(spool: Spool) -> None:
    spool.append([b"1", b"2", b"3"], received=1)
    with closing(Database("bolt://127.0.0.1:1", "neo4j", "none")) as database:
        counts = EventCounts(spool, GraphView(database))
        counts.refresh()
        found = samples(counts)
    assert found["headwater_neo4j_up"] == 0
    assert found["headwater_events_received_total"] == 3
    assert found["headwater_events_folded_total"] == 0
    assert found["headwater_spool_depth"] == 3
    assert found["headwater_spool_oldest_seconds"] > 0
    assert b"headwater_spool_depth 3.0" in exposition(counts)


def test_the_lag_of_each_event_is_observed() -> None:
    name = "headwater_ingest_lag_seconds"
    before = REGISTRY.get_sample_value(f"{name}_sum") or 0.0
    observe_commit(CommitReport((1_000_000, 2_000_000), dead=0, seconds=0.5, committed_at=4.0))
    assert (REGISTRY.get_sample_value(f"{name}_sum") or 0.0) - before == pytest.approx(3.0 + 2.0)


def test_hashed_values_are_counted_by_class() -> None:
    declare_redactions({"card", "phone:DE"})
    name = "headwater_redacted_values_total"
    assert REGISTRY.get_sample_value(name, {"class": "phone"}) == 0
    before = REGISTRY.get_sample_value(name, {"class": "card"}) or 0.0
    redactor = Redactor(b"key", on_value=observe_redaction)
    body = b'{"description": "4111 1111 1111 1111, 4111111111111111 and 4111 1111 1111 1112"}'
    redactor.redact(redactor.redact(body))
    assert REGISTRY.get_sample_value(name, {"class": "card"}) == before + 2


def test_files_of_running_processes_stay(tmp_path: Path) -> None:
    own = tmp_path / f"histogram_{os.getpid()}.db"
    own.touch()
    ended = tmp_path / "gauge_liveall_999999999.db"
    ended.touch()
    remove_ended_processes(tmp_path)
    assert own.exists()
    assert not ended.exists()
