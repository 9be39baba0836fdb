"""Streams from the links of a run, worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime

from headwater.lineage.questions.run_streams import RunStream, run_streams
from headwater.schema.stream_offsets import PartitionReport

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STREAM = {
    "offsets": '[{"partition":0,"begin":3,"end":10,"latest":12},'
    '{"partition":1,"begin":null,"end":9,"latest":8},'
    '{"partition":2,"begin":null,"end":null,"latest":null}]',
    "reportedAt": NOW,
    "lag": 2,
}


def test_streams_of_inputs_and_outputs() -> None:
    links = {
        "inputs": [
            {"urn": "source:k:b", "dataset": "dataset:k:b", "stream": STREAM},
            {"urn": "artifact:k:b:r", "dataset": "dataset:k:b", "stream": STREAM},
            {"urn": "source:k:a", "dataset": "dataset:k:a", "stream": None},
        ],
        "outputs": [{"urn": "artifact:k:a:r", "dataset": "dataset:k:a", "stream": STREAM}],
    }
    partitions = (
        PartitionReport(0, 3, 10, 12),
        PartitionReport(1, None, 9, 8),
        PartitionReport(2, None, None, None),
    )
    assert run_streams(links) == [
        RunStream("dataset:k:b", False, NOW, 2, partitions),
        RunStream("dataset:k:a", True, NOW, 2, partitions),
    ]
    assert [one.lag for one in partitions] == [2, 0, None]
    assert run_streams({}) == []
