"""A supervised command ends when its parent is killed, also during its start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", '''
import os, threading, time
from headwater.cli import supervised
threading.Thread(target=supervised._end_after, args=[os.getppid()], daemon=True).start()
print("ready", flush=True)
time.sleep(600)
'''], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(600)
"""


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads process states from /proc")
def test_it_ends_after_its_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert is_running(child)
        parent.send_signal(signal.SIGKILL)
    while is_running(child):
        time.sleep(0.05)


def test_it_ends_at_once_if_its_parent_was_killed_during_its_start(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as killed:
        pass
    arguments = ["serve", str(killed.pid), str(tmp_path / "serve.log")]
    supervised = subprocess.run(
        [sys.executable, "-m", "headwater.cli.supervised", *arguments],
        env={**os.environ, "HEADWATER_HOME": str(tmp_path), "HEADWATER_PORT": "0"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert supervised.returncode == -signal.SIGTERM, supervised.stderr
