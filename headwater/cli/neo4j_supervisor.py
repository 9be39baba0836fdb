"""The supervisor of the local Neo4j of `up`: it judges the server by a query, not by its process.

- No process: start one. A start that fails is repeated after a growing pause.
- The server answers that it needs a restart, for example after a full disk: restart it when its
  disk has room. A start on a full disk could damage the log of transactions.
- The server neither answers nor works, for example because it was stopped: kill and start it. A
  busy server is left alone, however slow its answers are, but not for more than ten minutes without
  any answer: the planner of Neo4j has no deadline.
- It goes on with a caller's statement for a minute after it ended it, which takes up a processor
  without end: kill and start it.
- Its data cannot be read: report the command that moves the data away. If the caller allows it,
  do that; the worker then builds the graph from the events.

The problem is written to a file, from which `/readyz` takes the reason.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from headwater.cypher.driver.database import Database
from headwater.errors import DamagedDataError, HeadwaterError, TimedOutError
from headwater.local.home import write_private
from headwater.local.neo4j import LocalNeo4j
from headwater.local.startup import StartupWatch

PROBE_SECONDS = 3.0
PROBE_SECONDS_MAX = 5.0
# A server that does not answer is killed after this time without processor time or log output.
SILENT_SECONDS_MAX = 30.0
# A busy server is killed after this time without an answer to any probe.
BUSY_SECONDS_MAX = 600.0
RETRY_SECONDS_MIN = 2.0
RETRY_SECONDS_MAX = 60.0
# A caller's statement may go on for this time after Neo4j has ended it.
OUTLIVED_SECONDS_MAX = 60.0
ROOM_BYTES_MIN = 64 * 2**20
JOIN_SECONDS_MAX = 60.0
# A part of Neo4j's answer while it refuses every query until it is restarted.
_NEEDS_RESTART = "needs to be restarted"
# A part of the driver's error about a connection without an answer.
_IS_SILENT = "does not answer"


class Neo4jSupervisor:
    """The thread that keeps one local Neo4j answering. `problem` is empty while it does."""

    def __init__(
        self,
        neo4j: LocalNeo4j,
        database: Database,
        *,
        problem_file: Path,
        report: Callable[[str], object],
        on_damage: Callable[[], bool] = lambda: False,
        silent_seconds_max: float = SILENT_SECONDS_MAX,
        busy_seconds_max: float = BUSY_SECONDS_MAX,
        outlived_seconds_max: float = OUTLIVED_SECONDS_MAX,
        room_bytes_min: int = ROOM_BYTES_MIN,
    ) -> None:
        """Prepare a supervisor; `start` starts its thread.

        Args:
            neo4j: The server, after `prepare`.
            database: A connection to it.
            problem_file: The file for the problem; it exists only while there is one.
            report: Called with each line for the user.
            on_damage: Called when the data cannot be read; returns True if it moved the data away.
            silent_seconds_max: The time after which a server that does nothing is killed.
            busy_seconds_max: The time without an answer after which a busy server is killed.
            outlived_seconds_max: The time for which a caller's statement may go on after its end.
            room_bytes_min: The free bytes on the disk that a restart needs.
        """
        self._neo4j = neo4j
        self._database = database
        self._problem_file = problem_file
        self._report = report
        self._on_damage = on_damage
        self._silent_seconds_max = silent_seconds_max
        self._busy_seconds_max = busy_seconds_max
        self._outlived_seconds_max = outlived_seconds_max
        self._room_bytes_min = room_bytes_min
        # When each such statement was first seen after its end, by the id of its transaction.
        self._outlived: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="neo4j-supervisor", daemon=True)
        self._silence: StartupWatch | None = None
        self._pause_seconds = RETRY_SECONDS_MIN
        self._was_up = False
        self.problem = self.hint = ""
        self.is_starting = False

    def start(self) -> None:
        """Start to supervise."""
        self._problem_file.unlink(missing_ok=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop to supervise; a start in progress is cancelled. The server is left as it is."""
        self._stop.set()
        self._neo4j.cancel()
        if self._thread.is_alive():
            self._thread.join(JOIN_SECONDS_MAX)
        self._problem_file.unlink(missing_ok=True)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._stop.wait(self._step())
            except (HeadwaterError, OSError) as error:
                self._note(getattr(error, "message", str(error)))
                self._stop.wait(PROBE_SECONDS)

    def _step(self) -> float:
        """Look after the server once; return the seconds until the next look."""
        if not self._neo4j.status().running:
            return self._start_server()
        try:
            self._database.ask("RETURN 1", {}, seconds=PROBE_SECONDS_MAX)
            is_outlived = self._is_outlived()
        except HeadwaterError as error:
            return self._look_after(error)
        self._silence = None
        self._was_up = True
        self._clear()
        if is_outlived:
            return self._kill(
                f"a statement went on {self._outlived_seconds_max:.0f} s after Neo4j had ended it; "
                "restarting Neo4j. The record of access names its caller"
            )
        return PROBE_SECONDS

    def _start_server(self) -> float:
        """Start the server; return the pause before the next look."""
        if self._was_up:
            self._note("Neo4j ended; restarting it")
            self._was_up = False
        if not self._has_room():
            self._note(self._needed_room())
            return PROBE_SECONDS
        self.is_starting = True
        try:
            self._neo4j.start()
        except DamagedDataError as error:
            self._note(error.message, hint=error.hint)
            if self._on_damage():
                return 0.0
            return self._wait_for_data()
        except HeadwaterError as error:
            if not self._stop.is_set():
                self._note(f"Neo4j did not start: {error.message}", hint=error.hint)
            return self._growing_pause()
        finally:
            self.is_starting = False
        self._pause_seconds = RETRY_SECONDS_MIN
        return 0.0

    def _is_outlived(self) -> bool:
        """Return True if a caller's statement has gone on for too long after its end."""
        now = time.monotonic()
        ended = [row["id"] for row in self._database.read("read/state/outlived")]
        self._outlived = {one: self._outlived.get(one, now) for one in ended}
        return any(now - at > self._outlived_seconds_max for at in self._outlived.values())

    def _growing_pause(self) -> float:
        pause = self._pause_seconds
        self._pause_seconds = min(2 * pause, RETRY_SECONDS_MAX)
        return pause

    def _wait_for_data(self) -> float:
        """Wait until the damaged data is moved away, and no longer than the growing pause."""
        left = self._growing_pause()
        while left > 0 and not self._neo4j.home.is_new and not self._stop.wait(RETRY_SECONDS_MIN):
            left -= RETRY_SECONDS_MIN
        return 0.0

    def _look_after(self, error: HeadwaterError) -> float:
        """Restart a server that asks for it, kill a silent one, and give a busy one its time."""
        failure = error.message
        if _NEEDS_RESTART in failure:
            reason = self._neo4j.failure() or failure
            if not self._has_room():
                self._note(f"Neo4j refuses every query. {self._needed_room()}: {reason}")
                return PROBE_SECONDS
            self._note(f"Neo4j refuses every query; restarting it: {reason}")
            self._was_up = False
            self._neo4j.stop()
            return 0.0
        if not (isinstance(error, TimedOutError) or _IS_SILENT in failure):
            self._note(failure, hint=error.hint)
            return PROBE_SECONDS
        if self._silence is None:
            home, pid = self._neo4j.home, self._neo4j.status().pid
            self._silence = StartupWatch(
                pid, home.logs, self._silent_seconds_max, seconds_max=self._busy_seconds_max
            )
        elif self._silence.is_overdue():
            return self._kill(
                f"Neo4j is busy and has not answered for {self._busy_seconds_max:.0f} s; "
                f"restarting it: {failure}"
            )
        elif self._silence.is_stalled():
            return self._kill(f"Neo4j does not answer and does nothing; restarting it: {failure}")
        return PROBE_SECONDS

    def _kill(self, problem: str) -> float:
        self._note(problem)
        self._silence = None
        self._outlived = {}
        self._was_up = False
        self._neo4j.kill()
        return 0.0

    def _has_room(self) -> bool:
        return shutil.disk_usage(self._neo4j.home.folder).free >= self._room_bytes_min

    def _needed_room(self) -> str:
        folder, megabytes = self._neo4j.home.folder, self._room_bytes_min >> 20
        return f"The disk of {folder} is full; Neo4j starts when {megabytes} MB are free"

    def _note(self, problem: str, *, hint: str = "") -> None:
        """Write down a problem, and report it once."""
        first_line = problem.splitlines()[0]
        if first_line == self.problem:
            return
        self.problem, self.hint = first_line, hint
        with suppress(OSError):  # the disk may be full
            write_private(self._problem_file, f"{first_line}. {hint}".removesuffix(". ") + "\n")
        self._report(f"{problem}\n  {hint}".rstrip())

    def _clear(self) -> None:
        if self.problem:
            self.problem = self.hint = ""
            self._report("Neo4j answers again")
            self._problem_file.unlink(missing_ok=True)
