"""The lock by which one `headwater up` at a time has a home."""

from __future__ import annotations

import fcntl
from typing import IO

# The argument of `headwater.cli.supervised` that makes a process the guard of Neo4j.
GUARD = "guard"
# The guard writes this into the lock while it ends Neo4j.
ENDING = "ending"


def take_lock(lock_file: IO[str]) -> bool:
    """Take the lock of an open file; return False if another process has it."""
    try:
        fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
