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
