"""Topics of files and of a real Kafka: a consumer gets the same records and offsets of both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from headwater.scenarios.rows import Rows
from headwater.scenarios.topics import Topics


def numbers(rows: Rows) -> list[int]:
    return [row["n"] for row in rows]


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.slow)])
def topics(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Topics]:
    with ExitStack() as resources:
        yield Topics(tmp_path, resources, uses_kafka=request.param)


def test_a_poll_continues_where_the_last_one_ended(topics: Topics) -> None:
    topic = topics.open("numbers", 2)
    assert topic.latest() == [0, 0]
    topic.publish([{"n": number} for number in range(5)])
    rows, offsets = topic.poll(2)
    assert numbers(rows) == [0, 2, 1, 3]
    assert offsets == [
        {"partition": 0, "startOffset": 0, "endOffset": 2, "latestOffset": 3},
        {"partition": 1, "startOffset": 0, "endOffset": 2, "latestOffset": 2},
    ]
    topic.publish([{"n": 5}])
    assert topic.latest() == [4, 2]
    rows, offsets = topic.poll(9)
    assert numbers(rows) == [4, 5]
    assert [one["startOffset"] for one in offsets] == [2, 2]
    topic.rewind()
    assert numbers(topic.poll(9)[0]) == [4, 5]
    assert topic.poll(9)[0] == []
    assert topics.open("numbers", 2) is topic
