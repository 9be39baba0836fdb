"""The signals that end a program which has started other processes.

Each of them interrupts the program once, so that it ends what it has started. A process that starts
in a block of `delayed_signals` is noted before an interrupt; otherwise it could be left behind.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Ctrl-C, an orchestrator, a closed terminal.
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt_on_signals() -> None:
    """Raise KeyboardInterrupt, once, at each signal that ends a process."""
    # Background jobs of a shell may inherit an ignored SIGINT.
    for number in _ENDINGS:
        signal.signal(number, _interrupt)


def ignore_signals() -> None:
    """Ignore the signals that end a process, while the program ends."""
    # With SIG_IGN, Python would print an error for a signal that has arrived and waits for its
    # handler.
    for number in _ENDINGS:
        signal.signal(number, _ignore)


def restore_signals() -> None:
    """Give the signals that end a process the effect that they have in a new Python."""
    for number in _ENDINGS:
        is_interrupt = number == signal.SIGINT
        signal.signal(number, signal.default_int_handler if is_interrupt else signal.SIG_DFL)


@contextmanager
def delayed_signals() -> Iterator[None]:
    """Delay the signals that end a process until the block has ended.

    In a thread other than the main one it does nothing, because Python handles signals in the main
    thread alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    # A blocked signal would stay blocked in the processes that start, so it is noted instead; the
    # signals are blocked only while their handlers change.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDINGS)
    handlers = {number: signal.getsignal(number) for number in _ENDINGS}
    for number in _ENDINGS:
        signal.signal(number, lambda number, _: arrived.append(number))
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDINGS)
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)
        for late in arrived:
            # It waits until the mask is back.
            signal.raise_signal(late)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ignore(_: int, __: FrameType | None) -> None:
    pass


def _interrupt(_: int, __: FrameType | None) -> None:
    # Only once: a second Ctrl-C during the end must not leave a process behind.
    ignore_signals()
    raise KeyboardInterrupt
