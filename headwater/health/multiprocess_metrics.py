"""The folder in which the API and the worker keep their histograms for each other.

prometheus-client maps files of that folder into memory. Where such a file has holes and the disk is full, filling one
ends the process (SIGBUS), on the very disk whose fullness the API should answer with 503. So the files are given their
room before they are used.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
# By prometheus-client's kinds: more than all queries, routes and statuses take.
ROOM_BYTES = {"counter": 1 << 16, "histogram": 1 << 19}

log = logging.getLogger("headwater.health")


def share(folder: Path) -> None:
    """Keep this process's histograms in that folder. Must come before prometheus-client loads.

    Where there is no room for them this process keeps its own to itself.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kind, size in ROOM_BYTES.items():
            _reserve(folder / f"{kind}_{os.getpid()}.db", size)
    except OSError as error:
        log.warning("histograms are not shared: %s", error)
        os.environ.pop(VARIABLE, None)
        return
    os.environ[VARIABLE] = str(folder)


def _reserve(file: Path, size: int) -> None:
    """A file without holes. It appears whole: an empty one, left by a kill -9, nobody could read."""
    fresh = file if file.exists() else file.with_suffix(".new")
    with fresh.open("ab") as room:
        os.posix_fallocate(room.fileno(), 0, size)
    fresh.replace(file)
