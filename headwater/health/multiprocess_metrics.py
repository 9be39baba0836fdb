"""The folder in which the API and the worker share their histograms.

prometheus-client maps the files of that folder into memory. Filling a hole of such a file on a full
disk ends the process with SIGBUS, although the API should then answer 503. So the disk space of
each file is reserved before its use.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
# By kind of prometheus-client: more than all queries, routes and statuses need.
ROOM_BYTES = {"counter": 1 << 16, "histogram": 1 << 19}

log = logging.getLogger("headwater.health")


def share(folder: Path) -> None:
    """Share the histograms of this process in a folder, before prometheus-client is imported.

    Without disk space for its files, the process keeps its histograms to itself.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for kind, size in ROOM_BYTES.items():
            _reserve(folder / f"{kind}_{os.getpid()}.db", size)
    except OSError as error:
        log.warning("histograms_not_shared error=%s", error)
        os.environ.pop(VARIABLE, None)
        return
    os.environ[VARIABLE] = str(folder)


def _reserve(file: Path, size: int) -> None:
    """Create a file without holes, atomically: an empty file, left by a kill -9, is unreadable."""
    fresh = file if file.exists() else file.with_suffix(".new")
    with fresh.open("ab") as room:
        os.posix_fallocate(room.fileno(), 0, size)
    fresh.replace(file)
