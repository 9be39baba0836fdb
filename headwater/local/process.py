"""Programs that outlive the process that started them, identified by a mark on their command line.

A started program has no parent here (no zombies) and a session of its own, so a Ctrl-C in the
terminal does not reach it. All its files are private to the user. A pid without the mark on its
command line is never signalled, since the system reuses pids.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

POLL_SECONDS = 0.05

# The shell exits at once and init adopts its child; the umask keeps a database's files private.
_DETACH = 'umask 077; out="$1"; err="$2"; shift 2; "$@" >"$out" 2>"$err" </dev/null & echo $!'
_TIME = re.compile(r"(?:(?:(\d+)-)?(\d+):)?(\d+):([\d.]+)")


def start_detached(command: Sequence[str], environ: Mapping[str, str], out: Path, err: Path) -> int:
    """Start a program that outlives this process.

    Args:
        command: The program and its arguments.
        environ: The whole environment of the program.
        out: The file for its standard output.
        err: The file for its standard error.

    Returns:
        Its pid.
    """
    started = subprocess.run(
        ["/bin/sh", "-c", _DETACH, "sh", str(out), str(err), *command],
        env=dict(environ),
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=True,
    )
    return int(started.stdout)


def command_line(pid: int) -> str:
    """Return the command line of a process; empty if it has ended or is a zombie."""
    proc = Path("/proc") / str(pid) / "cmdline"
    try:
        return proc.read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        if Path("/proc/self").exists():
            return ""
    return _ps(pid, "args=")


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process in seconds; 0 if it has ended."""
    try:
        # The name of the program may contain spaces; fields are counted behind its parenthesis.
        fields = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()
        user, system = int(fields[11]), int(fields[12])
        return (user + system) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        if Path("/proc/self").exists():
            return 0.0
    return parse_time(_ps(pid, "time="))


def parse_time(text: str) -> float:
    """Parse a duration as `ps` prints it, `[[days-]hours:]minutes:seconds`, to seconds."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return 0.0
    days, hours, minutes = (int(part or 0) for part in match.groups()[:3])
    return days * 86_400 + hours * 3_600 + minutes * 60 + float(match[4])


def _ps(pid: int, column: str) -> str:
    shown = subprocess.run(
        ["ps", "-ww", "-o", column, "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return shown.stdout


def is_running(pid: int, mark: str) -> bool:
    """Return True if a process with this pid has the mark on its command line."""
    return mark in command_line(pid)


def wait_until_ended(pid: int, mark: str, timeout_seconds: float) -> bool:
    """Wait until a process has ended.

    Args:
        pid: The process.
        mark: A part of its command line.
        timeout_seconds: The longest wait, in seconds.

    Returns:
        False if it still runs after the wait.
    """
    deadline = time.monotonic() + timeout_seconds
    while is_running(pid, mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def terminate(pid: int, mark: str, timeout_seconds: float) -> None:
    """Send SIGTERM to a process, and SIGKILL if it has not ended in time.

    Args:
        pid: The process.
        mark: A part of its command line; a process without it is not signalled.
        timeout_seconds: The wait after each signal, in seconds.
    """
    for number in (signal.SIGTERM, signal.SIGKILL):
        if _signal(pid, mark, number, timeout_seconds):
            return


def kill(pid: int, mark: str, timeout_seconds: float) -> None:
    """Send SIGKILL to a process, which ends a stopped one too.

    Args:
        pid: The process.
        mark: A part of its command line; a process without it is not signalled.
        timeout_seconds: The wait for its end, in seconds.
    """
    _signal(pid, mark, signal.SIGKILL, timeout_seconds)


def _signal(pid: int, mark: str, number: signal.Signals, timeout_seconds: float) -> bool:
    """Send a signal to a process; return True if it has ended."""
    if not is_running(pid, mark):
        return True
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
    return wait_until_ended(pid, mark, timeout_seconds)
