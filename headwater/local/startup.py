"""A watch on a starting server that separates a slow start from a hung one.

A fixed time limit would end a healthy server on a busy machine. So the limit holds for the time
without progress: no new log output, and less than a second of processor time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from headwater.local import process

# A start that makes progress ends after this time nevertheless.
START_SECONDS_MAX = 900.0
_PROCESSOR_SECONDS = 1.0


class StartupWatch:
    """A watch on the progress of one starting process."""

    def __init__(
        self,
        pid: int,
        logs: Sequence[Path],
        stall_seconds: float,
        *,
        seconds_max: float = START_SECONDS_MAX,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start to watch a process.

        Args:
            pid: The process.
            logs: The files that it writes while it starts.
            stall_seconds: The longest time without progress, in seconds.
            seconds_max: The longest time in all, with whatever progress, in seconds.
            clock: A monotonic clock in seconds, for tests.
        """
        self._pid = pid
        self._logs = logs
        self._stall_seconds = stall_seconds
        self._seconds_max = seconds_max
        self._clock = clock
        self._began = self._progress_at = clock()
        self._sizes = self._log_sizes()
        self._processor_seconds = process.processor_seconds(pid)

    def is_overdue(self) -> bool:
        """Return True if the watch has taken longer than `seconds_max`."""
        return self._clock() - self._began > self._seconds_max

    def is_stalled(self) -> bool:
        """Return True after `stall_seconds` without progress, or if the start is overdue."""
        now = self._clock()
        sizes = self._log_sizes()
        processor_seconds = process.processor_seconds(self._pid)
        is_busy = processor_seconds - self._processor_seconds >= _PROCESSOR_SECONDS
        if sizes != self._sizes or is_busy:
            self._sizes, self._processor_seconds = sizes, processor_seconds
            self._progress_at = now
        return now - self._progress_at > self._stall_seconds or self.is_overdue()

    def _log_sizes(self) -> list[int]:
        return [file.stat().st_size if file.exists() else 0 for file in self._logs]
