"""A process ends at SIGTERM whatever it is doing at that moment: thousands of real signals."""

from __future__ import annotations

import subprocess
import sys

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
