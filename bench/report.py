"""The common part of every measurement: machine, repeats and spread, as JSON on stdout.

A measurement is one `Report`. It is created at the beginning, because it records the load before,
and printed at the end. Progress goes to stderr.
"""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headwater import __version__
from headwater.local.jars import read_lock

_ROOT = Path(__file__).parent.parent


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that at least so many percent do not exceed. Raise ValueError if
    empty.
    """
    if not values:
        raise ValueError("there is no percentile of nothing")
    return sorted(values)[max(math.ceil(len(values) * percent / 100) - 1, 0)]


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return the number of repeats and their spread; {"repeats": 0} without any."""
    if not values:
        return {"repeats": 0}
    shown = {"min": 0.0, "median": 50.0, "p95": 95.0, "p99": 99.0, "max": 100.0}
    return {
        "repeats": len(values),
        **{name: _round(percentile(values, rank)) for name, rank in shown.items()},
    }


def repeat(call: Callable[[], object], times: int, *, warm: int = 1) -> list[float]:
    """Return the milliseconds of each of so many calls, after some that are not counted."""
    for _ in range(warm):
        call()
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1_000)
    return taken


def print_progress(text: str) -> None:
    """Print progress to stderr."""
    print(f"{datetime.now():%H:%M:%S} {text}", file=sys.stderr, flush=True)


class Report:
    """The machine at the beginning of a measurement, and the results at its end."""

    def __init__(self, bench: str) -> None:
        self._bench = bench
        self._began = time.monotonic()
        self._machine = machine()

    def text(self, **found: Any) -> str:
        """Return one JSON object: the bench, the machine and the results."""
        ended = {
            "loadAfter": list(os.getloadavg()),
            "seconds": _round(time.monotonic() - self._began),
        }
        content = {"bench": self._bench, "machine": {**self._machine, **ended}, **found}
        return json.dumps(content, indent=2, ensure_ascii=False)

    def show(self, **found: Any) -> None:
        print(self.text(**found), flush=True)


def machine() -> dict[str, Any]:
    """Return the facts that figures depend on: processor, memory, versions and load."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memoryGB": _round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "neo4j": read_lock().version,
        "headwater": __version__,
        "commit": _commit(),
        "loadBefore": list(os.getloadavg()),
    }


def _cpu() -> str:
    facts = Path("/proc/cpuinfo")
    for line in facts.read_text().splitlines() if facts.exists() else []:
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.processor() or platform.machine()


def _commit() -> str:
    """Return the measured commit, with a + if files were changed; empty outside a repository."""
    git = ["git", "-C", str(_ROOT)]
    try:
        head = subprocess.run(
            [*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True
        )
        changed = subprocess.run(
            [*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "")


def _round(value: float) -> float:
    """Round to four significant digits."""
    return float(f"{value:.4g}") if abs(value) < 1_000 else float(round(value))
