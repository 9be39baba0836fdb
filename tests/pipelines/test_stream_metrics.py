"""The metrics of a stream: the lag, sums that always agree, and a port that is taken."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.errors import SettingsError
from headwater.ingest.worker import CommitReport
from headwater.ingest.write.transaction import Checkpoint
from headwater.pipelines.stream_metrics import StreamCounts, offset_lag, serve_metrics


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


def test_the_lag_is_that_of_all_partitions() -> None:
    assert offset_lag(progress(0, latest=20, end=12)) == 8
    assert offset_lag({"sources": [{"latestOffset": None, "endOffset": {"logOffset": 3}}]}) == 0
    progress_as_text = {
        "sources": [{"latestOffset": '{"t": {"0": 5}}', "endOffset": '{"t": {"0": 1}}'}]
    }
    assert offset_lag(progress_as_text) == 4


def test_the_counts_add_up_at_every_moment() -> None:
    counts = StreamCounts()
    assert sums(counts) == {"received": 0, "folded": 0, "dead": 0, "lag": 0}
    counts.on_checkpoint(Checkpoint(3, 30, 1))
    counts.on_progress(progress(2, latest=20, end=0))
    assert sums(counts) == {"received": 51, "folded": 30, "dead": 1, "lag": 20}
    counts.on_commit(Checkpoint(4, 41, 2), CommitReport((1,) * 12, 1, 0.5, 2.0))
    assert sums(counts) == {"received": 51, "folded": 41, "dead": 2, "lag": 8}
    # A report about a batch before the last commit is old.
    counts.on_progress(progress(2, latest=20, end=0))
    assert sums(counts)["lag"] == 8
    counts.on_progress(progress(3, latest=23, end=12))
    assert sums(counts) == {"received": 54, "folded": 41, "dead": 2, "lag": 11}


def test_a_taken_port_is_named() -> None:
    with serve_metrics(StreamCounts(), 0) as address:
        port = int(address.split(":")[2].split("/")[0])
        with (
            pytest.raises(SettingsError, match=f"--metrics-port {port}"),
            serve_metrics(StreamCounts(), port),
        ):
            pass
    with serve_metrics(StreamCounts(), None) as address:
        assert address == ""
