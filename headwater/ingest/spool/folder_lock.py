"""The lock of a spool's folder: who has the spool open shares it, who replaces the spool has it
alone.

It is a lock of the folder itself. So it leaves no file, and ends with its process. On a file system
without such locks nothing is locked.
"""

from __future__ import annotations

import errno
import fcntl
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headwater.errors import HomeInUseError, SpoolFullError

_NO_LOCKS = frozenset(
    {errno.EACCES, errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOTSUP, errno.EROFS}
)


class FolderLock:
    """A lock that is held until `release`, or until nothing refers to this object."""

    def __init__(self, descriptor: int) -> None:
        self._end = weakref.finalize(self, os.close, descriptor)

    def release(self) -> None:
        self._end()


def share_folder(path: Path) -> FolderLock | None:
    """Share the lock of the folder of a spool; None where folders cannot be locked.

    Raises SpoolFullError while another process has it alone.
    """
    try:
        return _lock(path, fcntl.LOCK_SH)
    except BlockingIOError as error:
        raise SpoolFullError(
            f"`headwater restore` or `headwater forget` rewrites the spool {path}",
            hint="Try again when it has ended.",
        ) from error


@contextmanager
def alone_in_folder(path: Path) -> Iterator[None]:
    """Let no other process open the spool. Raises HomeInUseError if one has it open."""
    try:
        lock = _lock(path, fcntl.LOCK_EX)
    except BlockingIOError as error:
        raise in_use(path) from error
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


def in_use(path: Path) -> HomeInUseError:
    """Return the error for a spool that another process has open."""
    return HomeInUseError(
        f"another process uses the spool {path}",
        hint="End `headwater up`, or the API and the worker, and try again.",
    )


def _lock(path: Path, operation: int) -> FolderLock | None:
    """Lock the folder of a file. Raises BlockingIOError if another process has the lock."""
    try:
        lock = FolderLock(descriptor := os.open(path.parent, os.O_RDONLY))
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return None
        raise
    return lock
