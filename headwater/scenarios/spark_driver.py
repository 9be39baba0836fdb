"""The process in which the Spark applications of a story run, one after the other.

A driver that fails is gone; the next application starts another one. Its log is `spark.log`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from headwater.errors import ServerError
from headwater.local.java import find_java
from headwater.local.signals import delayed_signals

DONE = "headwater: application done"
_PROGRAM = "headwater.scenarios.spark_program"
_END_SECONDS = 30.0
_KILL_SECONDS = 10.0
_POLL_SECONDS = 0.05


class SparkDriver:
    """A process that takes applications; it starts with the first one."""

    def __init__(self, folder: Path, url: str, namespace: str) -> None:
        """Start nothing yet.

        Args:
            folder: The folder of the log.
            url: Where the listener sends its events.
            namespace: The namespace of the jobs.
        """
        self._folder = folder
        self._log = folder / "spark.log"
        self._arguments = (url, namespace)
        self._process: subprocess.Popen[str] | None = None

    def run(self, application: dict[str, Any]) -> bool:
        """Run an application. Return True if it succeeded."""
        process = self._process or self._start()
        if process.stdin is None or process.stdout is None:
            raise ServerError("the Spark driver has no pipes", hint=f"Read {self._log}.")
        ended = False
        try:
            process.stdin.write(f"{json.dumps(application)}\n")
            process.stdin.flush()
            for line in process.stdout:
                if line.strip() == DONE:
                    ended = True
                    break
            else:
                # The driver has ended by itself.
                process.wait()
        except BrokenPipeError as error:
            raise ServerError("Spark does not start", hint=f"Read {self._log}.") from error
        finally:
            if not ended:
                self._kill()
        return ended

    def close(self) -> None:
        """End the process, if it runs, and its JVM."""
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_SECONDS)
        self._kill()

    def _kill(self) -> None:
        """End the process and its JVM, which are one group."""
        process, self._process = self._process, None
        if process is None:
            return
        give_up_at = time.monotonic() + _KILL_SECONDS
        with suppress(ProcessLookupError):
            while time.monotonic() < give_up_at:
                os.killpg(process.pid, signal.SIGKILL)
                # Without this, the killed process stays in the group.
                process.poll()
                time.sleep(_POLL_SECONDS)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        process.wait()

    def _start(self) -> subprocess.Popen[str]:
        environment = {
            **os.environ,
            "JAVA_HOME": str(find_java().home),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_DIRS": str(self._folder / "spark"),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log, delayed_signals():
            self._process = subprocess.Popen(
                [sys.executable, "-m", _PROGRAM, *self._arguments],
                cwd=self._folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                # A Ctrl-C in the terminal reaches the story only; it ends the driver.
                start_new_session=True,
            )
        return self._process
