"""Rotation of the log file of a process: a bounded size, and a bounded number of files.

The process itself renames its file and opens a new one in its place. A line that is written
meanwhile goes into the renamed file, so no line is lost or cut.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

POLL_SECONDS = 2.0


def rotate_output(path: Path, *, bytes_max: int, files_max: int) -> None:
    """Rotate the file at `path`, to which this process writes, from now on."""
    threading.Thread(
        target=_watch, args=[path, bytes_max, files_max], name="log-rotation", daemon=True
    ).start()


def rotate(path: Path, files_max: int) -> None:
    """Rename `path` to `path.1`, older files to the next number, and remove the oldest.

    Standard output and standard error then write to a new file. Raises OSError.
    """
    for number in range(files_max - 2, 0, -1):
        with suppress(FileNotFoundError):
            os.replace(_numbered(path, number), _numbered(path, number + 1))
    if files_max > 1:
        os.replace(path, _numbered(path, 1))
    else:
        path.unlink()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for output in (1, 2):
        os.dup2(descriptor, output)
    os.close(descriptor)


def _watch(path: Path, bytes_max: int, files_max: int) -> None:
    pause = threading.Event()
    while not pause.wait(POLL_SECONDS):
        # On a full disk the process writes on to its file.
        with suppress(OSError):
            if os.fstat(1).st_size > bytes_max:
                rotate(path, files_max)


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")
