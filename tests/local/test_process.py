"""Detached programs: found by their mark, terminated, and measured."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from headwater.local import process


def start(tmp_path: Path, code: str, mark: str) -> int:
    command = [sys.executable, "-c", code, mark]
    return process.start_detached(command, os.environ, tmp_path / "out", tmp_path / "err")


def test_a_program_is_found_by_its_mark_and_terminated(tmp_path: Path) -> None:
    mark = f"mark={tmp_path}"
    pid = start(tmp_path, "import time; print('up', flush=True); time.sleep(60)", mark)
    assert process.is_running(pid, mark)
    assert not process.is_running(pid, "another mark")
    # A process without the mark is not signalled.
    process.terminate(pid, "another mark", 1.0)
    assert process.is_running(pid, mark)
    process.terminate(pid, mark, 5.0)
    assert not process.is_running(pid, mark)
    assert (tmp_path / "err").stat().st_mode & 0o077 == 0


def test_a_program_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    mark = f"mark={tmp_path}"
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('up', flush=True); time.sleep(60)"
    )
    pid = start(tmp_path, code, mark)
    while not (tmp_path / "out").read_text():
        time.sleep(0.02)
    process.terminate(pid, mark, 0.3)
    assert process.wait_until_ended(pid, mark, 5.0)


def test_processor_time_grows_with_work() -> None:
    before = process.processor_seconds(os.getpid())
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    assert process.processor_seconds(os.getpid()) >= before + 0.05
    assert process.processor_seconds(2**30) == 0.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0:01.50", 1.5),
        (" 02:03 ", 123.0),
        ("01:02:03", 3_723.0),
        ("2-00:00:01", 172_801.0),
        ("", 0.0),
    ],
)
def test_times_of_ps_are_parsed(text: str, seconds: float) -> None:
    assert process.parse_time(text) == seconds
