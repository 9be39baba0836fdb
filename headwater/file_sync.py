"""Files and folders that outlast a loss of power."""

from __future__ import annotations

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Write a file, or the names in a folder, to the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_path_to(path: Path) -> None:
    """Write the names of a file or folder and of its parents to the disk. Raises OSError.

    Folders that this user cannot write are left out: it has made nothing in them.
    """
    for folder in path.absolute().parents:
        if os.access(folder, os.W_OK | os.R_OK):
            sync(folder)
