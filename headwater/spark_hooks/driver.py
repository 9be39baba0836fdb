"""Report how this Python program ends to the JVM of its Spark session.

Under spark-submit the JVM is the parent of Python, and sees its exit code. Otherwise Python started
the JVM, which only sees that Python is gone. So this module reports an uncaught exception and the
code of `sys.exit`. The JVM sends the event (`DriverFailure.java`).
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, NoReturn

CALL_SECONDS_MAX = 10.0
MESSAGE_MAX = 2_000

# Reports a state (FAIL or ABORT), a message and a stack trace.
Report = Callable[[str, str, str], object]

_report_to_java: Report | None = None
_pid = 0


def watch_driver(report: Report) -> None:
    """Report a failure of this program to `report`, from now on."""
    global _report_to_java, _pid
    is_first = _report_to_java is None
    _report_to_java, _pid = report, os.getpid()
    if not is_first:
        return
    _watch_exceptions()
    # Spark-submit sets this variable, and sees the exit code.
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        sys.exit = _exit


def _report(state: str, message: str, stack_trace: str) -> None:
    """Report a failure to the JVM, from the process that watches and for seconds at most."""
    report = _report_to_java
    if report is None or os.getpid() != _pid:
        return

    def work() -> None:
        with suppress(Exception):
            report(state, message[:MESSAGE_MAX], stack_trace)

    thread = threading.Thread(target=work, name="headwater-driver", daemon=True)
    with suppress(RuntimeError):
        thread.start()
        thread.join(CALL_SECONDS_MAX)


def _watch_exceptions() -> None:
    present = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, frames: TracebackType | None) -> None:
        present(kind, error, frames)
        # A prompt prints the error and continues.
        if not hasattr(sys, "ps1"):
            state = "ABORT" if issubclass(kind, KeyboardInterrupt) else "FAIL"
            lines = traceback.format_exception_only(kind, error)
            message = "".join(lines).strip()
            trace = "".join(traceback.format_exception(kind, error, frames))
            _report(state, message, trace)

    sys.excepthook = hook


class _ProgramExit(SystemExit):
    """A SystemExit that reports its code when it ends the program.

    The interpreter reads `code` from no frame when nothing caught the exception. A reader inside
    the program has a frame.
    """

    @property
    def code(self) -> Any:  # type: ignore[override]
        code = self.args[0] if self.args else None
        if code not in (None, 0) and not hasattr(sys, "ps1") and _is_read_by_interpreter():
            message = f"The driver ended with exit code {code}"
            if isinstance(code, str):
                message = code
            _report("FAIL", message, "")
        return code


def _is_read_by_interpreter() -> bool:
    try:
        # This function, the property, and its reader.
        sys._getframe(2)
    except ValueError:
        return True
    return False


def _exit(status: Any = None, /) -> NoReturn:
    """Exit the program as `sys.exit` does."""
    raise _ProgramExit(*(() if status is None else (status,)))
