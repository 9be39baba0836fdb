"""What needs no Spark: options that hold secrets, the lag that Spark's progress tells, what is synced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import SettingsError
from headwater.ingest.fold import fold
from headwater.ingest.producer_stats import ProducerStats
from headwater.ingest.worker import CommitReport
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.transaction import Checkpoint
from headwater.pipelines import stream_batches
from headwater.pipelines.stream_batches import TaskChunk, fitting_chunks, sync_plan
from headwater.pipelines.stream_chunks import Chunk
from headwater.pipelines.stream_metrics import StreamCounts, offset_lag, serve_metrics
from headwater.pipelines.stream_sources import read_options
from headwater.schema.events import parse
from tests.run_builders import run


def progress(batch: int, latest: int, end: int) -> dict[str, Any]:
    return {
        "batchId": batch,
        "sources": [
            {"latestOffset": {"t": {"0": latest, "1": 7}}, "endOffset": {"t": {"0": end, "1": 7}}}
        ],
    }


def sums(counts: StreamCounts) -> dict[str, float]:
    found = {sample.name: sample.value for metric in counts.collect() for sample in metric.samples}
    names = (
        "events_received_total",
        "events_folded_total",
        "events_dead_total",
        "stream_lag_offsets",
    )
    received, folded, dead, lag = (found[f"headwater_{name}"] for name in names)
    assert received == folded + dead + lag
    return {"received": received, "folded": folded, "dead": dead, "lag": lag}


def test_options_take_secrets_from_the_environment_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hidden\n")
    given = [
        "kafka.security.protocol=SASL_SSL",
        "kafka.sasl.jaas.config=env:JAAS",
        f"kafka.ssl.truststore.password=file:{tmp_path / 'password'}",
        "minPartitions=4",
    ]
    assert read_options(given, {"JAAS": "a=b;"}) == {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.jaas.config": "a=b;",
        "kafka.ssl.truststore.password": "hidden",
        "minPartitions": "4",
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("kafka.sasl.jaas.config=user-and-hidden", "is a secret"),
        ("kafka.ssl.key.password=hidden", "is a secret"),
        ("kafka.ssl.keystore.key=hidden", "is a secret"),
        ("kafka.sasl.jaas.config=env:NONE", "no variable NONE"),
        ("kafka.ssl.key.password=file:/none", "cannot be read"),
        ("minPartitions", "has no value"),
        ("=4", "has no value"),
    ],
)
def test_a_secret_is_no_argument_and_is_told_to_nobody(given: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said) as caught:
        read_options([given], {})
    assert "hidden" not in f"{caught.value.message} {caught.value.hint}"


def test_the_lag_is_that_of_all_partitions() -> None:
    assert offset_lag(progress(0, latest=20, end=12)) == 8
    assert offset_lag({"sources": [{"latestOffset": None, "endOffset": {"logOffset": 3}}]}) == 0
    told_as_text = {
        "sources": [{"latestOffset": '{"t": {"0": 5}}', "endOffset": '{"t": {"0": 1}}'}]
    }
    assert offset_lag(told_as_text) == 4


def test_the_counts_add_up_at_every_moment() -> None:
    counts = StreamCounts()
    assert sums(counts) == {"received": 0, "folded": 0, "dead": 0, "lag": 0}
    counts.on_checkpoint(Checkpoint(3, 30, 1))
    counts.on_progress(progress(2, latest=20, end=0))
    assert sums(counts) == {"received": 51, "folded": 30, "dead": 1, "lag": 20}
    counts.on_commit(Checkpoint(4, 41, 2), CommitReport((1,) * 12, 1, 0.5, 2.0))
    assert sums(counts) == {"received": 51, "folded": 41, "dead": 2, "lag": 8}
    # What is said of a batch before the last commit is old.
    counts.on_progress(progress(2, latest=20, end=0))
    assert sums(counts)["lag"] == 8
    counts.on_progress(progress(3, latest=23, end=12))
    assert sums(counts) == {"received": 54, "folded": 41, "dead": 2, "lag": 11}


def test_a_port_that_is_taken_is_said() -> None:
    with serve_metrics(StreamCounts(), 0) as address:
        port = int(address.split(":")[2].split("/")[0])
        with (
            pytest.raises(SettingsError, match=f"--metrics-port {port}"),
            serve_metrics(StreamCounts(), port),
        ):
            pass
    with serve_metrics(StreamCounts(), None) as address:
        assert address == ""


def test_a_plan_is_synced_wherever_it_lies(tmp_path: Path) -> None:
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "3").write_text("v1")
    (tmp_path / "sources" / "0").mkdir(parents=True)
    (tmp_path / "sources" / "0" / "3").write_text("v1")
    for place in (
        str(tmp_path),
        f"file://{tmp_path}",
        str(tmp_path / "none"),
        "s3a://bucket/checkpoint",
    ):
        sync_plan(place, 3)


def test_of_what_is_new_a_transaction_takes_only_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
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


def chunk_of(number: int) -> Chunk:
    fields = {
        name: {"inputFields": [{"namespace": "db", "name": f"a{number}", "field": name}]}
        for name in ("id", "mail")
    }
    facets = {"columnLineage": {"_producer": "x", "_schemaURL": "y", "fields": fields}}
    told = run(f"r{number}", f"j{number}", [f"a{number}"], [f"b{number}"])[-1]
    told["outputs"] = [{"namespace": "db", "name": f"b{number}", "facets": facets}]
    delta = fold([parse(json.dumps(told).encode(), received=0)])
    assert (len(delta.runs), len(delta.columns), len(delta.derivations)) == (1, 2, 1)
    return Chunk(delta, ProducerStats(), [0], [])
