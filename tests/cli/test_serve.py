"""The processes of Headwater: they end at SIGTERM at any moment, and their files are private."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from headwater.cli.serve import protect_files
from headwater.settings import Settings

SIGNALS_AT_EVERY_MOMENT = """
import os, signal, threading
from headwater.cli.serve import set_on_signal

for trial in range(1000):
    event = threading.Event()
    set_on_signal(event)
    later = 0.0003 + 0.000001 * (trial % 700)
    signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGTERM))
    signal.setitimer(signal.ITIMER_REAL, later)
    while not event.is_set():
        event.wait(0.00002)
print("ended", trial + 1)
"""


def test_a_signal_during_a_wait_ends_the_process() -> None:
    command = [sys.executable, "-c", SIGNALS_AT_EVERY_MOMENT]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "ended 1000\n"


def test_files_of_a_process_are_for_its_user_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        protect_files(Settings(home=str(tmp_path)))
        file = tmp_path / "log"
        file.touch()
        assert file.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)
