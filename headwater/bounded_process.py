"""Calls whose time and memory a stranger decides, in processes of their own.

To read code or to evaluate a condition may take practically for ever, fill the memory, or hold
Python's lock, so that nothing else of the process goes on. Such a call runs in a child process. The
kernel ends the child beyond its processor time or its memory, and the caller gets the reason
instead of a result. A child serves one caller at a time, and many one after the other.
"""

from __future__ import annotations

import atexit
import math
import os
import pickle
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

from headwater import own_python

# The children of this process. Further callers wait for one of them.
PROCESSES_MAX = 2
# For each item. The wall clock ends a child that waits instead of working.
CPU_SECONDS_MAX = 10
WALL_SECONDS_MAX = 120.0
# The address space of a child. Its modules and libraries take some 300 MiB of it.
MEMORY_MIB_MAX = 1_500
# A child that has grown beyond this, or that nobody called for so long, ends.
KEPT_MIB_MAX = 400
IDLE_SECONDS_MAX = 300.0
# The API goes before its children.
_NICENESS = 5
# What became of an item.
_RESULT, _ERROR, _BEYOND = "result", "error", "beyond"
_PING = b""

Item = TypeVar("Item")
Result = TypeVar("Result")
Shared = TypeVarTuple("Shared")


class OutOfBoundsError(Exception):
    """A call that took too much time or memory; the message says which, as a verb phrase."""


class OutOfTimeError(OutOfBoundsError):
    """A call that had not ended when the time of its caller was over; it may be a quick one."""

    def __init__(self) -> None:
        super().__init__("did not end in the time that was left")


def map_bounded(
    function: Callable[[Item, *Shared], Result],
    items: Sequence[Item],
    *shared: *Shared,
    seconds: float = math.inf,
    cpu_seconds: int | None = None,
) -> Generator[Result | OutOfBoundsError]:
    """Yield the result of a function of a module for each item, or why it has none.

    All arguments and results can be pickled. An item that exceeds a bound stops no other. A closed
    iteration ends the child too. Raises what the function raises.

    seconds: the time for all items and for waiting for a child, from the first item on. The items
    after it have an OutOfTimeError.
    cpu_seconds: the processor time for each item, CPU_SECONDS_MAX by default.
    """
    deadline = time.monotonic() + seconds
    limit = CPU_SECONDS_MAX if cpu_seconds is None else cpu_seconds
    done = 0
    error: Exception | None = None
    while done < len(items) and error is None:
        try:
            with _lent_child(deadline) as child:
                child.send(function, items[done:], shared, limit)
                while done < len(items):
                    kind, value = child.receive(deadline, limit)
                    if kind == _ERROR:
                        error = value
                        break
                    done += 1
                    yield value
                    if kind == _BEYOND:
                        break
        except OutOfTimeError as out_of_time:
            yield from [out_of_time] * (len(items) - done)
            return
    if error is not None:
        raise error


def call_bounded(
    function: Callable[[*Shared], Result],
    *arguments: *Shared,
    seconds: float = math.inf,
    cpu_seconds: int | None = None,
) -> Result:
    """Return the result of a function of a module. Raises OutOfBoundsError, and what it raises."""
    (result,) = map_bounded(_call, [function], *arguments, seconds=seconds, cpu_seconds=cpu_seconds)
    if isinstance(result, OutOfBoundsError):
        raise result
    return result


def _call(function: Callable[[*Shared], Result], *arguments: *Shared) -> Result:
    return function(*arguments)


class _Child:
    """A child process, and the connection to it."""

    def __init__(self) -> None:
        self._connection, theirs = Pipe()
        with theirs:
            code = f"from headwater.bounded_process import serve; serve({theirs.fileno()})"
            # It is in a session of its own, so Ctrl-C does not interrupt it: it ends with us.
            self._process = subprocess.Popen(
                own_python.command("-c", code),
                pass_fds=[theirs.fileno()],
                env=_environment(),
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def answers(self) -> bool:
        """Return True if the child waits for a call; it may have ended meanwhile."""
        try:
            self._connection.send_bytes(_PING)
            return self._connection.recv_bytes() == _PING
        except (EOFError, OSError):
            return False

    def send(
        self, function: Any, items: Sequence[Any], shared: tuple[Any, ...], cpu_seconds: int
    ) -> None:
        """Send a call. A child that ends before it has read all is noticed by `receive`."""
        with suppress(ConnectionError):
            self._connection.send_bytes(pickle.dumps((function, items, shared, cpu_seconds)))

    def receive(self, deadline: float, cpu_seconds: int) -> tuple[str, Any]:
        """Return what became of the next item, and its result or error.

        Raises OutOfTimeError at the deadline."""
        seconds_left = _seconds_until(deadline)
        try:
            if not self._connection.poll(min(seconds_left, WALL_SECONDS_MAX)):
                if seconds_left < WALL_SECONDS_MAX:
                    raise OutOfTimeError
                self.kill()
                return _BEYOND, OutOfBoundsError(f"takes more than {WALL_SECONDS_MAX:.0f} s")
            kind, value = pickle.loads(self._connection.recv_bytes())
        except (EOFError, ConnectionError):
            return _BEYOND, self._reason_of_end(cpu_seconds)
        return kind, value

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._connection.close()

    def _reason_of_end(self, cpu_seconds: int) -> OutOfBoundsError:
        status = self._process.wait()
        if status == -signal.SIGXCPU:
            return OutOfBoundsError(f"takes more than {cpu_seconds} s of processor time")
        if status >= 0:
            return OutOfBoundsError(f"ended its process with status {status}")
        # Libraries end the process when they get no memory, or the stack is full.
        return _too_much_memory()


def _seconds_until(deadline: float) -> float:
    """Return the time that is left. Raises OutOfTimeError without any."""
    seconds_left = deadline - time.monotonic()
    if seconds_left <= 0:
        raise OutOfTimeError
    return seconds_left


def _too_much_memory() -> OutOfBoundsError:
    return OutOfBoundsError(f"takes more than {MEMORY_MIB_MAX} MiB of memory")


def _environment() -> dict[str, str]:
    """Return our environment without settings, which may be passwords."""
    ours = own_python.environment()
    return {name: text for name, text in ours.items() if not name.startswith("HEADWATER_")}


def _end_idle() -> None:
    while _idle:
        _idle.pop().kill()


atexit.register(_end_idle)
_turns = threading.BoundedSemaphore(PROCESSES_MAX)
_idle: list[_Child] = []


@contextmanager
def _lent_child(deadline: float) -> Iterator[_Child]:
    """Provide a child, and keep it for the next caller if its call ended well.

    Raises OutOfTimeError if there is none until the deadline."""
    if not _turns.acquire(timeout=min(_seconds_until(deadline), threading.TIMEOUT_MAX)):
        raise OutOfTimeError
    try:
        child = _idle.pop() if _idle else _Child()
        if not child.answers():
            child.kill()
            child = _Child()
        try:
            yield child
        except BaseException:
            child.kill()
            raise
        _idle.append(child)
    finally:
        _turns.release()


def serve(descriptor: int) -> None:
    """Answer the calls of the parent process over a connection, until it ends."""
    os.nice(_NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Not every system has this limit.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MIB_MAX * 2**20,) * 2)
    with suppress(EOFError, ConnectionError), Connection(descriptor) as connection:
        while connection.poll(IDLE_SECONDS_MAX) and _resident_mib() < KEPT_MIB_MAX:
            message = connection.recv_bytes()
            if message == _PING:
                connection.send_bytes(_PING)
                continue
            function, items, shared, seconds = pickle.loads(message)
            for item in items:
                kind = _answer(connection, partial(function, item, *shared), seconds)
                if kind == _BEYOND:
                    return
                if kind == _ERROR:
                    break


def _answer(connection: Connection, call: Callable[[], Any], seconds: int) -> str:
    """Send what became of an item, and return its kind."""
    used = math.ceil(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, resource.RLIM_INFINITY))
    kind = _RESULT
    try:
        answer = pickle.dumps((kind, call()))
    except MemoryError:
        kind = _BEYOND
        answer = pickle.dumps((kind, _too_much_memory()))
    except Exception as error:
        kind = _ERROR
        answer = pickle.dumps((kind, error))
    connection.send_bytes(answer)
    return kind


def _resident_mib() -> float:
    """Return the memory of this process; 0 where the system has no such figure.

    The peak that getrusage returns would be that of the parent: it outlasts fork and exec.
    """
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * resource.getpagesize() / 2**20
