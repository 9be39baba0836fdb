"""Calls in child processes: results, errors, and each bound that ends a child."""

from __future__ import annotations

import math
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headwater import bounded_process
from headwater.bounded_process import (
    OutOfBoundsError,
    OutOfTimeError,
    call_bounded,
    map_bounded,
)


@pytest.fixture(autouse=True)
def one_second(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The bound is a second of processor time, and no child is kept from test to test."""
    monkeypatch.setattr(bounded_process, "CPU_SECONDS_MAX", 1)
    bounded_process._end_idle()
    yield
    bounded_process._end_idle()


def halved(number: int) -> int:
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number // 2


def act(action: str) -> str:
    """Do what takes a child beyond one of its bounds."""
    if action == "lock":
        # The search holds the lock of Python for hours.
        re.search("(a|aa)+$", "a" * 100 + "b")
    elif action == "memory":
        return str(len("x" * (2 * 2**30)))
    elif action == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "sleep":
        time.sleep(600)
    elif action == "exit":
        os._exit(3)
    return action


def pid_and_setting(_: int) -> tuple[int, str]:
    return os.getpid(), os.environ.get("HEADWATER_NEO4J_PASSWORD", "none")


def only_pid(_: int) -> int:
    return os.getpid()


def test_results_are_in_the_order_of_their_items() -> None:
    assert list(map_bounded(halved, [2, 8, 4])) == [1, 4, 2]
    assert call_bounded(halved, 10) == 5


def test_an_error_is_raised_and_the_child_goes_on() -> None:
    before, _ = call_bounded(pid_and_setting, 0)
    found = map_bounded(halved, [2, 3, 4])
    assert next(found) == 1
    with pytest.raises(ValueError, match="3 is odd"):
        next(found)
    assert call_bounded(pid_and_setting, 0)[0] == before


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("lock", "takes more than 1 s of processor time"),
        ("memory", "takes more than 1500 MiB of memory"),
        ("killed", "takes more than 1500 MiB of memory"),
    ],
)
def test_what_exceeds_a_bound_stops_no_neighbour(action: str, reason: str) -> None:
    first, exceeding, last = map_bounded(act, ["first", action, "last"])
    assert (first, last) == ("first", "last")
    assert isinstance(exceeding, OutOfBoundsError)
    assert str(exceeding) == reason
    with pytest.raises(OutOfBoundsError, match=reason):
        call_bounded(act, action)


def test_the_processor_time_is_that_of_one_item() -> None:
    """The limit of the kernel is for the life of a process, so it moves on with each item."""
    assert list(map_bounded(work, [0.8, 0.8, 0.8])) == [0.8, 0.8, 0.8]


def work(seconds: float) -> float:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return seconds


def test_a_child_that_ended_between_calls_is_replaced() -> None:
    pid, _ = call_bounded(pid_and_setting, 0)
    os.kill(pid, signal.SIGKILL)
    assert call_bounded(halved, 2) == 1


def test_a_child_does_not_see_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_NEO4J_PASSWORD", "secret")
    assert call_bounded(pid_and_setting, 0)[1] == "none"


def test_an_iteration_that_is_given_up_ends_its_child() -> None:
    found = map_bounded(only_pid, list(range(1_000)))
    pid = next(found)
    assert isinstance(pid, int)
    found.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_child_that_waits_without_end_is_ended_and_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounded_process, "WALL_SECONDS_MAX", 0.5)
    (found,) = map_bounded(act, ["sleep"])
    assert str(found) == "takes more than 0 s"
    monkeypatch.undo()
    assert call_bounded(halved, 2) == 1


def test_the_time_of_the_caller_ends_a_call_and_those_after_it() -> None:
    first, slow, last = map_bounded(act, ["first", "sleep", "last"], seconds=5.0)
    assert first == "first"
    assert isinstance(slow, OutOfTimeError)
    assert isinstance(last, OutOfTimeError)
    assert call_bounded(halved, 2) == 1


def test_no_child_starts_without_time() -> None:
    with pytest.raises(OutOfTimeError):
        call_bounded(halved, 2, seconds=0.0)
    assert not bounded_process._idle


def test_waiting_for_a_child_counts_as_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_process, "_turns", threading.BoundedSemaphore(1))
    with bounded_process._lent_child(math.inf):
        assert isinstance(next(map_bounded(halved, [2], seconds=0.1)), OutOfTimeError)
    assert call_bounded(halved, 2) == 1


def test_a_caller_may_give_less_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_process, "CPU_SECONDS_MAX", 10)
    with pytest.raises(OutOfBoundsError, match="takes more than 1 s of processor time"):
        call_bounded(act, "lock", cpu_seconds=1)


def test_nothing_is_imported_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "headwater.py").write_text("raise SystemExit('a file of the folder')")
    monkeypatch.chdir(tmp_path)
    assert call_bounded(halved, 2) == 1


def test_a_large_parent_has_children_that_go_on() -> None:
    """The peak memory of a parent is that of its children too, as the kernel counts."""
    large = bytearray(2 * bounded_process.KEPT_MIB_MAX * 2**20)
    large[::4096] = b"x" * len(large[::4096])
    pids = {call_bounded(pid_and_setting, 0)[0] for _ in range(3)}
    del large
    assert len(pids) == 1


def test_a_child_that_has_grown_is_replaced() -> None:
    first = call_bounded(grow_and_return_pid, bounded_process.KEPT_MIB_MAX + 50)
    assert call_bounded(grow_and_return_pid, 1) != first


_kept: list[bytes] = []


def grow_and_return_pid(mib: int) -> int:
    _kept.append(b"x" * (mib * 2**20))
    return os.getpid()


def test_a_child_that_ends_itself_has_another_reason() -> None:
    with pytest.raises(OutOfBoundsError, match="ended its process with status 3"):
        call_bounded(act, "exit")


def test_callers_share_two_children() -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: call_bounded(pid_and_setting, 0)[0], range(24)))
    assert len(set(found)) <= bounded_process.PROCESSES_MAX
