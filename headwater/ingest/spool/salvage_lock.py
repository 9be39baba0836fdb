"""The lock of a salvage, by which writers of the spool are refused at once.

SQLite's own lock keeps all writers out of a spool while it is salvaged. But a writer waits for that
lock, and does not learn who holds it. So the new file of a salvage is locked too, while it is
written. Both locks end with their process.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import apsw

from headwater.errors import SpoolFullError

# Older versions refused events by this trigger instead, and a killed salvage left it.
_TRIGGER = "salvaging"


@contextmanager
def lock_for_salvage(path: Path) -> Iterator[Path]:
    """Create the new file of a salvage, and lock it; yield its path, and remove it at the end.

    Raises SpoolFullError if another process salvages the spool, and OSError.
    """
    refuse_salvaged(path)
    new = _new_path(path)
    with _open_locked(new, path.stat()) as file:
        try:
            file.truncate()
            _remove_journals(new)
            yield new
        finally:
            _remove_journals(new)
            new.unlink(missing_ok=True)


def _open_locked(new: Path, spool: os.stat_result) -> BinaryIO:
    """Create the new file with the owner of the spool, and wait for its lock. Raises OSError."""
    while True:
        new.touch(mode=0o600)
        # Other users of the spool test this lock, also if a killed salvage of root has left the
        # file.
        with suppress(PermissionError):
            os.chown(new, spool.st_uid, spool.st_gid)
        file = new.open("r+b")
        # A writer that tests the lock has it for a moment.
        fcntl.flock(file, fcntl.LOCK_EX)
        # A salvage that ended meanwhile has removed the file that it held.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), new.stat()):
                return file
        file.close()


def refuse_salvaged(path: Path) -> None:
    """Raise SpoolFullError if a process salvages this spool, and OSError."""
    new = _new_path(path)
    if not new.exists():
        return
    try:
        with new.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:  # the salvage has just ended
        return
    except PermissionError:  # of another user; SQLite's lock still refuses a write during a salvage
        return
    except BlockingIOError as error:
        raise SpoolFullError(
            f"nothing is written to the spool {path} while it is salvaged",
            hint="Try again when `headwater spool salvage` has ended.",
        ) from error


def has_trigger(connection: apsw.Connection) -> bool:
    """Return True if a killed salvage of an older version still refuses all events."""
    query = "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = ?"
    return connection.execute(query, (_TRIGGER,)).get is not None


def remove_trigger(connection: apsw.Connection) -> None:
    """Remove the trigger of a killed salvage of an older version."""
    connection.execute(f"DROP TRIGGER IF EXISTS {_TRIGGER}")


def _new_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.new")


def _remove_journals(path: Path) -> None:
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
