"""The options of `pipeline stream` that contradict each other, and the sources that they make."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli import app, pipeline_stream
from headwater.pipelines.stream_sources import FileSource, KafkaSource


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--kafka", "127.0.0.1:1"],
        ["--topic", "t"],
        ["--kafka", "127.0.0.1:1", "--topic", "t", "--files", "d"],
    ],
)
def test_either_a_topic_or_files(tmp_path: Path, words: list[str]) -> None:
    command = ["pipeline", "stream", "--checkpoint", str(tmp_path / "c"), "--home", str(tmp_path)]
    result = CliRunner().invoke(app, [*command, *words])
    assert result.exit_code == 2
    assert "either --kafka and --topic, or --files" in result.output


def test_sources_of_the_options() -> None:
    topic = pipeline_stream._topics("b:9092", "one,two", "", "latest", None, [])
    assert isinstance(topic, KafkaSource)
    assert (topic.dead, topic.offsets_max) == ("one-dead", 10_000)
    folder = pipeline_stream._folder("in", "in-dead", 7, [])
    assert isinstance(folder, FileSource)
    assert folder.files_max == 7
