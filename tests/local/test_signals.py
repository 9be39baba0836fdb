"""A signal that arrives while a process starts is handled after the process is noted."""

from __future__ import annotations

import subprocess
import sys

import pytest

# The child of Popen signals its parent before it executes its program, so the signal arrives inside
# Popen.
STARTS_A_PROCESS = """
import os, signal, subprocess, sys
from headwater.local.signals import delayed_signals, interrupt_on_signals

number = getattr(signal, sys.argv[1])
started = None
interrupt_on_signals()
try:
    with delayed_signals():
        started = subprocess.Popen(
            ["sleep", "60"], preexec_fn=lambda: os.kill(os.getppid(), number)
        )
        print("noted")
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted")
mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
print("blocked" if mask else "nothing blocked")
started.kill()
started.wait()
"""

ENDS_AS_BEFORE = """
import os, signal
from headwater.local.signals import delayed_signals, restore_signals

restore_signals()
with delayed_signals():
    os.kill(os.getpid(), signal.SIGTERM)
    print("noted", flush=True)
print("not reached")
"""

IN_A_THREAD = """
import threading
from headwater.local.signals import delayed_signals

def work():
    with delayed_signals():
        print("noted")

thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_the_process_is_noted_before_the_interrupt(number: str) -> None:
    ended = run(STARTS_A_PROCESS, number)
    assert ended.stdout.splitlines() == ["noted", "interrupted", "nothing blocked"], ended.stderr


def test_a_signal_without_a_handler_ends_the_process_after_the_block() -> None:
    ended = run(ENDS_AS_BEFORE)
    assert (ended.stdout, ended.returncode) == ("noted\n", -15), ended.stderr


def test_in_another_thread_nothing_changes() -> None:
    assert run(IN_A_THREAD).stdout == "noted\n"
