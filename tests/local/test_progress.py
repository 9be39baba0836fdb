"""The progress of jars where stderr is not a terminal."""

from __future__ import annotations

import pytest

from headwater.local.progress import show_jars


def test_every_fiftieth_jar_and_the_last_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with show_jars("Kafka") as progress:
        for done in range(1, 121):
            progress(done, 120)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [
        "Kafka's jars: 50 of 120",
        "Kafka's jars: 100 of 120",
        "Kafka's jars: 120 of 120",
    ]
