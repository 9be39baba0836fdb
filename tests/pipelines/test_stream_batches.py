"""Micro-batches: the sync of Spark's plan, and the chunks that fit into one transaction."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwater.ingest.fold import fold
from headwater.ingest.producer_stats import ProducerStats
from headwater.ingest.write.cache import WriteCache
from headwater.pipelines import stream_batches
from headwater.pipelines.stream_batches import TaskChunk, fitting_chunks, sync_plan
from headwater.pipelines.stream_chunks import Chunk
from headwater.schema.events import parse
from tests.run_builders import run


def chunk_of(number: int) -> Chunk:
    fields = {
        name: {"inputFields": [{"namespace": "db", "name": f"a{number}", "field": name}]}
        for name in ("id", "mail")
    }
    facets = {"columnLineage": {"_producer": "x", "_schemaURL": "y", "fields": fields}}
    event = run(f"r{number}", f"j{number}", [f"a{number}"], [f"b{number}"])[-1]
    event["outputs"] = [{"namespace": "db", "name": f"b{number}", "facets": facets}]
    delta = fold([parse(json.dumps(event).encode(), received=0)])
    assert (len(delta.runs), len(delta.columns), len(delta.derivations)) == (1, 2, 1)
    return Chunk(delta, ProducerStats(), [0], [])


def test_a_plan_is_synced_whatever_its_address(tmp_path: Path) -> None:
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "3").write_text("v1")
    (tmp_path / "sources" / "0").mkdir(parents=True)
    (tmp_path / "sources" / "0" / "3").write_text("v1")
    for address in (
        str(tmp_path),
        f"file://{tmp_path}",
        str(tmp_path / "none"),
        "s3a://bucket/checkpoint",
    ):
        sync_plan(address, 3)


def test_a_transaction_takes_only_so_many_new_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of each, four things are new: a run, two column edges, and the one between the datasets.
    parts = [TaskChunk(0, number, chunk_of(number)) for number in range(6)]
    cache = WriteCache()
    monkeypatch.setattr(stream_batches, "NEW_FACTS_MAX", 8)
    assert fitting_chunks(parts, cache, events_max=100) == parts[:2]
    assert fitting_chunks(parts, cache, events_max=1) == parts[:1]
    assert fitting_chunks([], cache, events_max=1) == []
    # When their edges are known, only the runs are new.
    for part in parts:
        cache.put_derivations(part.chunk.delta.columns)
        cache.put_derivations(part.chunk.delta.derivations)
    assert fitting_chunks(parts, cache, events_max=100) == parts
    assert fitting_chunks(parts, cache, events_max=5) == parts[:5]
    # One that is too much for itself goes alone.
    monkeypatch.setattr(stream_batches, "NEW_FACTS_MAX", 0)
    assert fitting_chunks(parts, cache, events_max=100) == parts[:1]
