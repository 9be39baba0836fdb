"""Programs that outlive the process that started them, found again by a mark on their command line.

Promises: a started program is nobody's child (no zombies), in a session of its own (a Ctrl-C in the
terminal does not reach it), and all its files are private to the user.
Refuses: to signal a pid whose command line does not carry our mark, since pids are used again.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

poll_seconds = 0.05

# The shell ends at once and leaves its child to init; the umask keeps a database's files to its owner.
_detach = 'umask 077; out="$1"; err="$2"; shift 2; "$@" >"$out" 2>"$err" </dev/null & echo $!'


def start_detached(command: Sequence[str], environ: Mapping[str, str], out: Path, err: Path) -> int:
    said = subprocess.run(
        ["/bin/sh", "-c", _detach, "sh", str(out), str(err), *command],
        env=dict(environ),
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=True,
    )
    return int(said.stdout)


def command_line(pid: int) -> str:
    """Empty for a process that is gone, or that is dead and only not yet collected."""
    proc = Path("/proc") / str(pid) / "cmdline"
    try:
        return proc.read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        if Path("/proc/self").exists():
            return ""
    said = subprocess.run(
        ["ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return said.stdout


def is_running(pid: int, mark: str) -> bool:
    return mark in command_line(pid)


def wait_until_gone(pid: int, mark: str, seconds_max: float) -> bool:
    deadline = time.monotonic() + seconds_max
    while is_running(pid, mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(poll_seconds)
    return True


def end(pid: int, mark: str, seconds_max: float) -> None:
    """SIGTERM, then SIGKILL when that was not heard in time."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not is_running(pid, mark):
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        if wait_until_gone(pid, mark, seconds_max):
            return
