"""A process's use of the machine, from Linux. Imports little, because measured programs import it
too.
"""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid: int) -> float:
    """Return the processor seconds of a process, its threads included."""
    # The name may contain a bracket; only numbers follow the last one.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def resident_megabytes(pid: int) -> float:
    """Return the memory that a process holds now, in megabytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES / 1e6


def peak_megabytes(pid: int) -> float:
    """Return the most memory that a process has held, in units of 2^20 bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0
