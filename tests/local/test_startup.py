"""The watch on a starting process: slow starts go on, hung ones end."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from headwater.local import process, startup
from headwater.local.startup import START_SECONDS_MAX, StartupWatch


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def idle_pid() -> int:
    """Return a pid without a process: its processor time never grows."""
    return 2**30


def test_a_process_without_progress_stalls(tmp_path: Path) -> None:
    clock = Clock()
    watch = StartupWatch(idle_pid(), [tmp_path / "log"], 60.0, clock=clock)
    clock.now = 60.0
    assert not watch.is_stalled()
    clock.now = 60.1
    assert watch.is_stalled()


def test_log_output_is_progress_up_to_a_limit(tmp_path: Path) -> None:
    clock, log = Clock(), tmp_path / "log"
    watch = StartupWatch(idle_pid(), [log], 60.0, clock=clock)
    for number in range(int(START_SECONDS_MAX // 50)):
        clock.now = 50.0 * (number + 1)
        log.write_text("x" * (number + 1))
        assert not watch.is_stalled()
    clock.now = START_SECONDS_MAX + 1
    log.write_text("")
    assert watch.is_stalled()


def test_processor_time_is_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "_PROCESSOR_SECONDS", 0.05)
    clock = Clock()
    watch = StartupWatch(os.getpid(), [], 60.0, clock=clock)
    clock.now = 59.0
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    assert process.processor_seconds(os.getpid()) > 0
    assert not watch.is_stalled()
    clock.now = 100.0
    assert not watch.is_stalled()
