"""A topic of files: the offsets that it keeps, and those that events report."""

from __future__ import annotations

from pathlib import Path

import msgspec

from headwater.scenarios.rows import Rows
from headwater.scenarios.topic import Topic, stream_facet
from headwater.schema.stream_offsets import partitions_in, total_lag


def numbers(rows: Rows) -> list[int]:
    return [row["n"] for row in rows]


def test_files_keep_the_offsets_of_another_process(tmp_path: Path) -> None:
    topic = Topic(tmp_path / "log", partitions=1)
    topic.publish([{"n": number} for number in range(3)])
    topic.poll(2)
    assert numbers(Topic(tmp_path / "log", partitions=1).poll(9)[0]) == [2]


def test_the_facet_has_the_lag_of_the_files(tmp_path: Path) -> None:
    topic = Topic(tmp_path / "log")
    topic.publish([{"n": number} for number in range(30)])
    facets = stream_facet(topic.poll(4)[1])
    raw = {name: msgspec.Raw(msgspec.json.encode(facet)) for name, facet in facets.items()}
    assert total_lag(partitions_in(raw, "any").values()) == 18
