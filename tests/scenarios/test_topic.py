"""A topic: what a consumer gets, and the offsets that its events report."""

from __future__ import annotations

from pathlib import Path

import msgspec

from headwater.scenarios.topic import Topic, stream_facet
from headwater.scenarios.workshop import Rows
from headwater.schema.stream_offsets import partitions_in, total_lag


def numbers(rows: Rows) -> list[int]:
    return [row["n"] for row in rows]


def test_a_poll_continues_where_the_last_one_ended(tmp_path: Path) -> None:
    topic = Topic(tmp_path / "log", partitions=2)
    topic.publish([{"n": number} for number in range(5)])
    rows, offsets = topic.poll(2)
    assert numbers(rows) == [0, 2, 1, 3]
    assert offsets == [
        {"partition": 0, "startOffset": 0, "endOffset": 2, "latestOffset": 3},
        {"partition": 1, "startOffset": 0, "endOffset": 2, "latestOffset": 2},
    ]
    topic.publish([{"n": 5}])
    # Another process opens the same folder.
    again = Topic(tmp_path / "log", partitions=2)
    rows, offsets = again.poll(9)
    assert numbers(rows) == [4, 5]
    assert [one["startOffset"] for one in offsets] == [2, 2]
    again.rewind()
    assert numbers(again.poll(9)[0]) == [4, 5]
    assert again.poll(9)[0] == []


def test_the_facet_has_the_lag_of_the_files(tmp_path: Path) -> None:
    topic = Topic(tmp_path / "log")
    topic.publish([{"n": number} for number in range(30)])
    facets = stream_facet(topic.poll(4)[1])
    raw = {name: msgspec.Raw(msgspec.json.encode(facet)) for name, facet in facets.items()}
    assert total_lag(partitions_in(raw, "any").values()) == 18
